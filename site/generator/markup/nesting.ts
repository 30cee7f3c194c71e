import type { Node } from '@markdoc/markdoc';
import { getPlainText } from './heading.ts';

/** The tags that each tag or node may be in. One that is not listed may be anywhere; a page is not a tag. */
const around: Record<string, readonly string[]> = {
  heading: ['release'],
  hint: ['release', 'tabs', 'tab'],
  release: [],
  'search-again': [],
  'service-status': [],
  'sign-up': [],
  swagger: [],
  tabs: ['release', 'hint'],
};

const known = new Set([...Object.keys(around), 'tab']);

/** Tags that need content. */
const containers = new Set(['hint', 'release', 'tab']);

/** Reports tags and headings inside a tag that may not contain them, and empty tags. */
export function checkNesting(node: Node, report: (node: Node, message: string) => void): void {
  const walk = (parent: Node, tags: readonly string[]) => {
    for (const child of parent.children) {
      const wrong = findFault(child, tags);
      if (wrong !== undefined) report(child, wrong);
      walk(child, child.type === 'tag' ? [...tags, child.tag ?? ''] : tags);
    }
  };
  walk(node, []);
}

function findFault(node: Node, tags: readonly string[]): string | undefined {
  const kind = node.type === 'tag' ? (node.tag ?? '') : node.type;
  if (node.type === 'tag' && containers.has(kind) && node.children.length === 0) {
    return `The tag "${kind}" holds nothing; close it behind the text it is for: {% ${kind} %} … {% /${kind} %}.`;
  }
  if (kind === 'tab') {
    return tags.at(-1) === 'tabs'
      ? undefined
      : 'A "tab" stands in "tabs" only: put {% tabs group="…" %} around it.';
  }
  const allowed = around[kind];
  const wrong = tags.findLast((tag) => known.has(tag) && !allowed?.includes(tag));
  if (allowed === undefined || wrong === undefined) return undefined;
  const name = kind === 'heading' ? `heading "${getPlainText(node).trim()}"` : `tag "${kind}"`;
  const others = allowed.map((tag) => ` or in "${tag}"`).join('');
  return `The ${name} cannot stand in "${wrong}"; put it into the page itself${others}.`;
}
