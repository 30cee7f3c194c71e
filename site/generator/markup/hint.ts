import type { Schema } from '@markdoc/markdoc';

/** A remark beside the text: `note` for what helps, `warning` for what can go wrong. */
export const hintSchema: Schema = {
  render: 'Hint',
  attributes: {
    type: { type: String, default: 'note', matches: ['note', 'tip', 'warning'] },
    title: { type: String },
  },
};
