/**
 * The result page as one file that needs neither the server nor a network. The browser serialises the elements of the
 * page, so names from apps stay text. A policy in the file forbids scripts and requests, also for a name that would be
 * read as markup.
 */
import { copyPicture } from '../../../ui/figures/export-figure.ts';

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

/** Controls, which work only on the page. */
const PAGE_ONLY = '[data-page-only], button, select, input, progress, .visually-hidden';

/** Returns the HTML of the report of a result page. `address` is that of the page. */
export function formatReport(page: Element, { title, address }: { title: string; address: string }): string {
  const body = document.createElement('body');
  const copy = document.importNode(page, true);
  // Pictures are copied from the page, where they have their styles.
  const pictures = [...page.querySelectorAll('svg[viewBox]')];
  for (const [index, target] of [...copy.querySelectorAll('svg[viewBox]')].entries()) {
    const picture = pictures[index];
    if (picture instanceof SVGSVGElement) target.replaceWith(copyPicture(picture));
  }
  for (const element of copy.querySelectorAll(PAGE_ONLY)) element.remove();
  // A time from now means nothing in a file.
  for (const time of copy.querySelectorAll('time')) time.textContent = time.dateTime;
  for (const element of [copy, ...copy.querySelectorAll('*')]) cleanElement(element);
  body.append(copy, createFooter(address));
  const heading = document.createElement('title');
  heading.textContent = title;
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    `<meta name="viewport" content="width=device-width">${heading.outerHTML}<style>${STYLE}</style></head>`,
    body.outerHTML,
    '</html>',
    '',
  ].join('\n');
}

const REPORT_ATTRIBUTES = /^(href|aria-label|role|scope|colspan|open|datetime|title|viewBox|lang)$/;

/** Removes what only the page needs. Links lead to the server by their whole address, and to no other protocol. */
function cleanElement(element: Element): void {
  if (element instanceof SVGElement) return;
  for (const name of element.getAttributeNames())
    if (!REPORT_ATTRIBUTES.test(name)) element.removeAttribute(name);
  const href = element.getAttribute('href');
  if (href === null) return;
  const url = URL.parse(href, location.href);
  if (url && /^https?:$/.test(url.protocol)) element.setAttribute('href', url.href);
  else element.removeAttribute('href');
}

function createFooter(address: string): HTMLElement {
  const footer = document.createElement('footer');
  const link = document.createElement('a');
  link.href = address;
  link.textContent = address;
  footer.append('From ', link, ', ', new Date().toISOString().slice(0, 16).replace('T', ' '), ' UTC.');
  return footer;
}
