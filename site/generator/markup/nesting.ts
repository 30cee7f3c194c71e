import type { Node } from '@markdoc/markdoc';
import { getPlainText } from './heading.ts';

/** The tags that each thing may stand in; what is not named may stand anywhere. A page is no tag. */
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

/** Tags that are there for what they hold. */
const holders = new Set(['hint', 'release', 'tab']);

/** Reports what stands in a tag that cannot hold it, and tags that hold nothing. */
export function checkNesting(node: Node, report: (node: Node, message: string) => void): void {
  const walk = (parent: Node, tags: readonly string[]) => {
    for (const child of parent.children) {
      const wrong = fault(child, tags);
      if (wrong !== undefined) report(child, wrong);
      walk(child, child.type === 'tag' ? [...tags, child.tag ?? ''] : tags);
    }
  };
  walk(node, []);
}

function fault(node: Node, tags: readonly string[]): string | undefined {
  const kind = node.type === 'tag' ? (node.tag ?? '') : node.type;
  if (node.type === 'tag' && holders.has(kind) && node.children.length === 0) {
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
