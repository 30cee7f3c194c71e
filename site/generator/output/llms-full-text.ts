import type { Site } from '../pages/read-site.ts';

/** Formats the Markdown of all pages of the documentation as one text, in their order, for language models. */
export function formatFullText({ docs, markdown }: Site): string {
  return docs.map(({ route }) => `<!-- ${route} -->\n\n${markdown.get(route) ?? ''}`).join('\n');
}
