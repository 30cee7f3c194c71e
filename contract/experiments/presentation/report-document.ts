/**
 * The report of an experiment as one HTML file that needs neither the server nor a network. A policy in the file forbids
 * scripts and requests, also for a name that would be read as markup.
 */

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE = `
body { max-width: 62rem; margin: 2rem auto; padding: 0 1.25rem; color: #1b1916; background: #fffefc;
  font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; } h3 { margin: 2rem 0 0.5rem; font-size: 1.05rem; }
header p > span > * { margin-right: 1rem; }
svg { max-width: 100%; height: auto; overflow: visible; }
span > svg { display: none; }
section { margin: 0.75rem 0; overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.3rem 0.7rem; border-bottom: 1px solid #e4dfd6; text-align: left; }
th, td { overflow-wrap: normal; }
td { font-variant-numeric: tabular-nums; }
summary { color: #59544b; cursor: pointer; }
section > p:first-child > span { font-weight: 600; }
a { color: inherit; }
footer { margin-top: 3rem; color: #59544b; font-size: 0.9rem; }
@media print { section { overflow: visible; } h3, svg { break-inside: avoid; } }
`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Returns the text for an element or a quoted attribute of HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/** Returns the file. `body` is HTML in which every text is escaped. */
export function formatReportDocument(title: string, body: string): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    `<meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>`,
    `<body>${body}</body>`,
    '</html>',
    '',
  ].join('\n');
}

/** Returns the last lines of the report: the address of the page of the experiment, and the time. */
export function formatReportFooter(address: string, now: Date): string {
  const time = now.toISOString().slice(0, 16).replace('T', ' ');
  const escaped = escapeHtml(address);
  return `<footer>From <a href="${escaped}">${escaped}</a>, ${time} UTC.</footer>`;
}
