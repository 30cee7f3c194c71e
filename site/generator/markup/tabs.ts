import type { Node, Schema } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import type { MarkupContext } from './markup-context.ts';

/** Returns the panels of a `tabs` tag. */
export function getTabNodes(node: Node): Node[] {
  return node.children.filter((child) => child.type === 'tag' && child.tag === 'tab');
}

/**
 * The same content in several forms, one visible at a time. All tabs of one `group` on the site switch together, and the
 * browser stores the choice.
 */
export function createTabsSchema(context: MarkupContext): Schema {
  return {
    attributes: {
      group: { type: String, required: true, matches: /^[a-z][a-z-]*$/ },
      // For the tests of the examples alone: see `examples.ts`.
      shared: { type: Boolean },
      undo: { type: String },
    },
    transform(node, config) {
      const labels = getTabNodes(node).map((tab) => String(tab.attributes.label));
      if (labels.length < 2 || labels.length !== node.children.length) {
        context.report(
          node,
          `A "tabs" tag holds two or more "tab" tags and nothing else; this one holds ${labels.length} of ${node.children.length}.`,
        );
      }
      if (new Set(labels).size !== labels.length) {
        context.report(node, `Two tabs have the same label; the labels are ${labels.join(', ')}.`);
      }
      context.tabGroups += 1;
      const group = String(node.attributes.group);
      return new Markdoc.Tag(
        'Tabs',
        { group, id: `${group}-${context.tabGroups}`, labels },
        node.transformChildren(config),
      );
    },
  };
}

export const tabSchema: Schema = {
  render: 'TabPanel',
  attributes: { label: { type: String, required: true } },
};
