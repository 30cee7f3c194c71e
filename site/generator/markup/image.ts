import type { Schema } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import type { MarkupContext } from './markup-context.ts';

/** A picture beside the page's file: a `.png`, or an `.svg` that is inlined so that it takes the colours of the theme. */
export function createImageSchema(context: MarkupContext): Schema {
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
