import type { Problem } from '../inputs/problems.ts';
import { getNodeLine, type Source } from '../inputs/source.ts';
import { getPlainText } from '../markup/heading.ts';

/** Addresses of the server that are not pages of the site; a page may link to them. */
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

/** A link, the route of its page, and its place in the content. */
export type Link = { href: string; from: string; file: string; line: number };

/** Collects every link of a page with its line. */
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

/** Finds text that was meant as a link: Markdown reads an address with an unknown scheme or with spaces as text. */
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

/** Formats the anchors of a page for a message, without those of the fields of operations, which are too many. */
function formatAnchors(anchors: Set<string>): string {
  return [...anchors].filter((anchor) => !anchor.includes('.')).join(', ') || 'none';
}

/**
 * Checks a link against all pages; `anchors` has the heading anchors of every route. It does not check links out of the
 * site, because a build must not depend on other machines.
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
      `The link "${href}" leads to the anchor "${anchor}", and "${route}" has none of that name; it has ${formatAnchors(known)}.`,
    );
  }
  return undefined;
}
