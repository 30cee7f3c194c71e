import type { Site } from '../pages/read-site.ts';

/** The Markdown of all pages of the documentation in their order, for programs that take everything at once. */
export function formatFullText({ docs, markdown }: Site): string {
  return docs.map(({ route }) => `<!-- ${route} -->\n\n${markdown.get(route) ?? ''}`).join('\n');
}
