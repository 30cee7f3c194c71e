import type { Node } from '@markdoc/markdoc';
import type { Problem } from './problems.ts';

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
export function linksOf(ast: Node, from: string, file: string): Link[] {
  const links: Link[] = [];
  for (const node of ast.walk()) {
    if (node.type !== 'link') continue;
    links.push({ href: String(node.attributes.href), from, file, line: (node.lines[0] ?? 0) + 1 });
  }
  return links;
}

/** The anchors of a page for a message: those of the fields of an operation, which have a dot, are too many. */
function named(anchors: Set<string>): string {
  return [...anchors].filter((anchor) => !anchor.includes('.')).join(', ') || 'none';
}

/**
 * Checks a link against all pages: `anchors` holds the heading anchors of every route. Links out of the site are taken
 * as they are, because a build must not depend on other machines.
 */
export function linkFault(link: Link, anchors: Map<string, Set<string>>): Problem | undefined {
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
