import type { Problem } from '../inputs/problems.ts';
import { getNodeLine, type Source } from '../inputs/source.ts';
import { getPlainText } from '../markup/heading.ts';

/** Addresses that are not pages of the site but that the server answers, so that a page may link to them. */
const serverPaths = new Set([
  '/',
  '/docs',
  '/releases.atom',
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi/cloud.json',
  '/openapi/marketplace.json',
]);

/** A link, the route of the page it stands on, and where it was written. */
export type Link = { href: string; from: string; file: string; line: number };

/** Every link of a page with its line. */
export function collectLinks({ ast, file, lines }: Source, from: string): Link[] {
  return [...ast.walk()]
    .filter(({ type }) => type === 'link')
    .map((node) => ({
      href: String(node.attributes.href),
      from,
      file: file.name,
      line: getNodeLine(node, lines),
    }));
}

/** Words that were meant as a link: Markdown takes an address with an odd scheme or with spaces for text. */
export function findMalformedLinks({ ast, file, lines }: Source): Problem[] {
  return [...ast.walk()].flatMap((node) => {
    const [written] = /\]\([^)]*\)?/.exec(node.type === 'inline' ? getPlainText(node, false) : '') ?? [];
    if (written === undefined) return [];
    const start = node.lines[0] ?? 0;
    const within = lines.slice(start, node.lines.at(-1)).findIndex((line) => line.includes(written));
    const message = `The text "[…${written}" is no link: write an address without spaces, from the root of the site, or of the kinds https: and mailto:.`;
    return [{ file: file.name, line: start + Math.max(within, 0) + 1, message }];
  });
}

/** The anchors of a page for a message: those of the fields of an operation, which have a dot, are too many. */
function named(anchors: Set<string>): string {
  return [...anchors].filter((anchor) => !anchor.includes('.')).join(', ') || 'none';
}

/**
 * Checks a link against all pages: `anchors` holds the heading anchors of every route. Links out of the site are taken
 * as they are, because a build must not depend on other machines.
 */
export function checkLink(link: Link, anchors: Map<string, Set<string>>): Problem | undefined {
  const { href, from, file, line } = link;
  const fail = (message: string) => ({ file, line, message });
  if (/^(https?:|mailto:)/.test(href)) return undefined;
  if (!href.startsWith('/') && !href.startsWith('#')) {
    return fail(
      `The link "${href}" is neither an address from the root of the site ("/docs/…") nor an anchor of this page ("#…").`,
    );
  }
  const [path = '', anchor] = href.split('#');
  const route = path === '' ? from : path;
  if (serverPaths.has(route)) return undefined;
  const known = anchors.get(route);
  if (known === undefined) return fail(`The link "${href}" leads to "${route}", and there is no such page.`);
  if (anchor !== undefined && !known.has(anchor)) {
    return fail(
      `The link "${href}" leads to the anchor "${anchor}", and "${route}" has none of that name; it has ${named(known)}.`,
    );
  }
  return undefined;
}
