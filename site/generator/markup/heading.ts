import type { Node, Schema } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import type { MarkupContext } from './markup-context.ts';

/** Returns the text of a node without its markup. */
export function getPlainText(node: Node, includesCode = true): string {
  if (node.type === 'text' || (includesCode && node.type === 'code')) return String(node.attributes.content);
  if (node.type === 'softbreak' || node.type === 'hardbreak') return ' ';
  return node.children.map((child) => getPlainText(child, includesCode)).join('');
}

/** Returns the anchor of a heading: the one written with `{% #name %}`, otherwise its words with hyphens. */
export function getHeadingAnchor(node: Node): string {
  if (typeof node.attributes.id === 'string') return node.attributes.id;
  return getPlainText(node)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

/** A heading with a permanent link to itself. Level 1 is the title of the page, which comes from the front matter. */
export function createHeadingSchema(context: MarkupContext): Schema {
  return {
    attributes: { level: { type: Number, required: true }, id: { type: String } },
    transform(node, config) {
      const level = Number(node.attributes.level);
      const id = getHeadingAnchor(node);
      const text = getPlainText(node).trim();
      const previous = context.contents.at(-1)?.level ?? 1;
      if (level === 1) {
        context.report(
          node,
          `The heading "${text}" is of level 1, which only the title has; write "## ${text}".`,
        );
      } else if (level > 3) {
        context.report(node, `The heading "${text}" is of level ${level}; a page has levels 2 and 3 only.`);
      } else if (level > previous + 1) {
        context.report(
          node,
          `The heading "${text}" is of level ${level} but follows no heading of level 2; write "## ${text}".`,
        );
      }
      if (id === '') {
        context.report(
          node,
          `The heading "${text}" has no letter that an anchor could be made of; give it one: "## ${text} {% #name %}".`,
        );
      }
      if (context.contents.some((entry) => entry.id === id)) {
        context.report(
          node,
          `The anchor "${id}" of the heading "${text}" is on this page already; give it its own: "## ${text} {% #another-name %}".`,
        );
      }
      if (level === 2 || level === 3) context.contents.push({ id, text, level });
      return new Markdoc.Tag('Heading', { level, id, text }, node.transformChildren(config));
    },
  };
}
