import type { Node, Schema } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import { CODE_LANGUAGES } from '../inputs/highlight.ts';
import type { MarkupContext } from './markup-context.ts';

/** Returns the text of a fence without the line end before its closing marks. */
export function getFenceCode(node: Node): string {
  return String(node.attributes.content).replace(/\n$/, '');
}

/** The installation of the clients. A reader who arrives from a search on any page may have none. */
const CLIENT_INSTALLATION = {
  text: 'Install the command line or the Python client',
  href: '/docs/get-started/quickstarts/overview#call-the-api',
} as const;

/** Returns the link before a block that connects the terminal to a server; undefined for other blocks. */
export function getInstallationLink(node: Node): typeof CLIENT_INSTALLATION | undefined {
  const connects =
    node.attributes.language === 'bash' && getFenceCode(node).includes('export SWITCHYARD_URL=');
  return connects ? CLIENT_INSTALLATION : undefined;
}

/**
 * A code block. `file` names the file that the reader saves, `title` is any other caption. Tests run the shell blocks in
 * the order of the page. Their output must contain the text `expect`, and `skip` is the reason not to run one. The tests run a
 * block with `needs` where the host has what its words name: commands, or `packages` for an access to package indexes. A text block
 * with `output` is the output of the shell block before it, which the tests compare. The module `examples.ts` reads these attributes.
 */
export function createFenceSchema(context: MarkupContext): Schema {
  return {
    attributes: {
      content: { type: String, required: true },
      language: { type: String },
      file: { type: String },
      title: { type: String },
      expect: { type: String },
      skip: { type: String },
      needs: { type: String },
      output: { type: Boolean },
    },
    transform(node) {
      const { language, file, title, expect, skip, needs, output } = node.attributes;
      if (typeof language !== 'string' || !CODE_LANGUAGES.includes(language)) {
        context.report(
          node,
          `The code block names the language ${JSON.stringify(language ?? '')}; use one of ${CODE_LANGUAGES.join(', ')}.`,
        );
        return null;
      }
      if (language !== 'bash' && (expect ?? skip ?? needs) !== undefined) {
        context.report(
          node,
          `Only a bash block can have "expect", "skip" or "needs"; this one is ${language}.`,
        );
      }
      if (output === true && (language !== 'text' || file !== undefined || title !== undefined)) {
        context.report(node, 'A code block with "output" is text, with neither "file" nor "title".');
      }
      if (file !== undefined && (language === 'bash' || title !== undefined)) {
        context.report(
          node,
          'A code block with "file" is text the reader saves, so it has no "title" and is not bash.',
        );
      }
      const code = getFenceCode(node);
      return new Markdoc.Tag('CodeBlock', {
        language,
        installation: getInstallationLink(node),
        caption: file ?? title ?? (output === true ? 'Output' : undefined),
        lines: context.highlight(code, language),
      });
    },
  };
}
