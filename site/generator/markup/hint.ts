import type { Schema } from '@markdoc/markdoc';

/** A remark beside the text: a `note` or `tip` helps, a `warning` names a risk. */
export const hintSchema: Schema = {
  render: 'Hint',
  attributes: {
    type: { type: String, default: 'note', matches: ['note', 'tip', 'warning'] },
    title: { type: String },
  },
};
