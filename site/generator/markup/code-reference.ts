import type { Schema } from '@markdoc/markdoc';

/**
 * Code from a file of the repository: all of it, or from the line that holds `from` to the one that holds `to`. The tag
 * is replaced by a code block before the page is transformed; this says which attributes it has.
 */
export const codeReferenceSchema: Schema = {
  selfClosing: true,
  attributes: {
    file: { type: String, required: true },
    from: { type: String },
    to: { type: String },
  },
  transform: () => null,
};
