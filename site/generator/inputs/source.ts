import { readFileSync } from 'node:fs';
import type { Node } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import type { ContentFile } from './content-files.ts';

/** A content file, parsed: its front matter as written, and its body. Lines of the body count from the top of the file. */
export type Source = { file: ContentFile; frontMatter: string; ast: Node; lines: readonly string[] };

/** Reads and parses a content file. */
export function readSource(file: ContentFile): Source {
  const text = readFileSync(file.path, 'utf8');
  const ast = Markdoc.parse(text, file.name);
  return { file, frontMatter: String(ast.attributes.frontmatter ?? ''), ast, lines: text.split('\n') };
}

/**
 * Returns the line number of a node in its file; the first is `1`. Markdoc gives the parts of a paragraph the line where it
 * starts, so links and pictures are found by their address.
 */
export function getNodeLine(node: Node, lines: readonly string[] = []): number {
  const start = node.lines[0] ?? 0;
  const address = node.type === 'link' ? node.attributes.href : node.attributes.src;
  if (typeof address !== 'string') return start + 1;
  const end = Math.max(node.lines.at(-1) ?? start, start + 1);
  const within = lines.slice(start, end).findIndex((line) => line.includes(address));
  return start + Math.max(within, 0) + 1;
}
