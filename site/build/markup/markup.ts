import type { Config, Node, RenderableTreeNode } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import { codeReference } from './code-reference.ts';
import type { MarkupContext } from './context.ts';
import { fence } from './fence.ts';
import { heading } from './heading.ts';
import { hint } from './hint.ts';
import { image } from './image.ts';
import { release } from './release.ts';
import { swagger } from './swagger.ts';
import { tab, tabs } from './tabs.ts';

function transformHeader(node: Node, config: Config): RenderableTreeNode {
  const children = node.transformChildren(config);
  return new Markdoc.Tag(children.length > 0 ? 'th' : 'td', node.transformAttributes(config), children);
}

/** All markup a page can use. Each tag is one file beside this one; its component has the name it renders. */
export function markup(context: MarkupContext): Config {
  return {
    nodes: {
      // The page has its own article element, so the document is only its children.
      document: { ...Markdoc.nodes.document, transform: (node, config) => node.transformChildren(config) },
      fence: fence(context),
      heading: heading(context),
      image: image(context),
      table: { render: 'Table' },
      // The corner above the names of rows names nothing itself.
      th: { ...Markdoc.nodes.th, transform: transformHeader },
    },
    // Nothing is put into pages from outside, so a variable or a function is a mistake.
    variables: {},
    validation: { validateFunctions: true },
    tags: {
      // Tags that Markdoc brings along, and that no page needs.
      ...(Object.fromEntries(['if', 'else', 'partial', 'slot'].map((name) => [name, undefined])) as object),
      'code-reference': codeReference,
      'error-message': { render: 'ErrorMessage', selfClosing: true },
      hint,
      image: { ...image(context), selfClosing: true },
      release: release(context),
      'search-again': { render: 'SearchAgain', selfClosing: true },
      'service-status': { render: 'ServiceStatus', selfClosing: true },
      'sign-up': { render: 'SignUp', selfClosing: true },
      swagger: swagger(context),
      tab,
      tabs: tabs(context),
    },
  };
}
