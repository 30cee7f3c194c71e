import type { Node, Schema } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import { CODE_LANGUAGES } from '../inputs/highlight.ts';
import type { MarkupContext } from './markup-context.ts';

/** The text of a fence without the line end before its closing marks. */
export function getFenceCode(node: Node): string {
  return String(node.attributes.content).replace(/\n$/, '');
}

/**
 * A code block. `file` names the file its text is (the reader writes it), `title` any other caption. Shell blocks are
 * run by the tests in the order of the page: `expect` is what their output must show, and `skip` is the reason why one
 * is not run. A text block with `output` shows what the shell block before it prints, which the tests hold it to.
 * `examples.ts` reads these attributes; a page only shows `file`, `title` and that something is output. `folded` is what
 * stands in place of a block that readers know from another page, until they unfold it.
 */
export function createFenceSchema(context: MarkupContext): Schema {
  return {
    attributes: {
      content: { type: String, required: true },
      language: { type: String },
      file: { type: String },
      title: { type: String },
      folded: { type: String },
      expect: { type: String },
      skip: { type: String },
      output: { type: Boolean },
    },
    transform(node) {
      const { language, file, title, folded, expect, skip, output } = node.attributes;
      if (typeof language !== 'string' || !CODE_LANGUAGES.includes(language)) {
        context.report(
          node,
          `The code block names the language ${JSON.stringify(language ?? '')}; use one of ${CODE_LANGUAGES.join(', ')}.`,
        );
        return null;
      }
      if (language !== 'bash' && (expect !== undefined || skip !== undefined)) {
        context.report(node, `Only a bash block can have "expect" or "skip"; this one is ${language}.`);
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
      if (folded !== undefined && (file !== undefined || title !== undefined || output === true)) {
        context.report(node, 'A code block with "folded" has neither "file" nor "title" nor "output".');
      }
      const code = getFenceCode(node);
      return new Markdoc.Tag('CodeBlock', {
        language,
        folded,
        caption: file ?? title ?? (output === true ? 'Output' : undefined),
        lines: context.highlight(code, language),
      });
    },
  };
}
