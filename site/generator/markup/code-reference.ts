import type { Schema } from '@markdoc/markdoc';

/**
 * Code from a file of the repository: all of it, or from the line with `from` to the line with `to`. A code block replaces
 * the tag before the page is transformed, so the schema only checks its attributes.
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
