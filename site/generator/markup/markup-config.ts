import Markdoc, { type Config, type Node, type RenderableTreeNode, type Schema } from '@markdoc/markdoc';
import { codeReferenceSchema } from './code-reference.ts';
import { createFenceSchema } from './fence.ts';
import { createHeadingSchema } from './heading.ts';
import type { MarkupContext } from './markup-context.ts';
import { createReleaseSchema } from './release.ts';
import { createSwaggerSchema } from './swagger.ts';
import { createTabsSchema, tabSchema } from './tabs.ts';

/** Built-in tags of Markdoc that no page needs. Config has no type for a removed tag, so they are merged in as an object. */
const UNUSED_MARKDOC_TAGS: object = { if: undefined, else: undefined, partial: undefined, slot: undefined };

/** A remark beside the text: a `note` or `tip` helps, a `warning` names a risk. */
const hintSchema: Schema = {
  render: 'Hint',
  attributes: {
    type: { type: String, default: 'note', matches: ['note', 'tip', 'warning'] },
    title: { type: String },
  },
};

function transformHeader(node: Node, config: Config): RenderableTreeNode {
  const children = node.transformChildren(config);
  return new Markdoc.Tag(children.length > 0 ? 'th' : 'td', node.transformAttributes(config), children);
}

/** Returns all markup that a page can use. Each tag is one file beside this one and names the component it renders. */
export function createMarkupConfig(context: MarkupContext): Config {
  return {
    nodes: {
      // The page has its own article element, so the document is only its children.
      document: { ...Markdoc.nodes.document, transform: (node, config) => node.transformChildren(config) },
      fence: createFenceSchema(context),
      heading: createHeadingSchema(context),
      image: createImageSchema(context),
      table: { render: 'Table' },
      // The empty corner of a table is not a header.
      th: { ...Markdoc.nodes.th, transform: transformHeader },
    },
    // Pages have no variables or functions, so each use of one is a mistake.
    variables: {},
    validation: { validateFunctions: true },
    tags: {
      ...UNUSED_MARKDOC_TAGS,
      'code-reference': codeReferenceSchema,
      'error-message': { render: 'ErrorMessage', selfClosing: true },
      hint: hintSchema,
      image: { ...createImageSchema(context), selfClosing: true },
      release: createReleaseSchema(context),
      'search-again': { render: 'SearchAgain', selfClosing: true },
      'service-status': { render: 'ServiceStatus', selfClosing: true },
      'sign-up': { render: 'SignUp', selfClosing: true },
      swagger: createSwaggerSchema(context),
      tab: tabSchema,
      tabs: createTabsSchema(context),
    },
  };
}

/** A picture beside the page's file: a `.png`, or an `.svg` that is inlined so that it takes the colours of the theme. */
function createImageSchema(context: MarkupContext): Schema {
  return {
    attributes: {
      src: { type: String, required: true },
      alt: { type: String, required: true },
      caption: { type: String },
    },
    transform(node) {
      const { src, alt, caption } = node.attributes;
      if (typeof src !== 'string' || typeof alt !== 'string') return null;
      const picture = context.images.read(src);
      if ('fault' in picture) {
        context.report(node, picture.fault);
        return null;
      }
      return new Markdoc.Tag('Picture', { ...picture, alt, caption });
    },
  };
}
