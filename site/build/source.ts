import { readFileSync } from 'node:fs';
import type { Node } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import type { ContentFile } from './content-files.ts';

/** A content file, parsed: its front matter as written, and its body. Lines of the body count from the top of the file. */
export type Source = { file: ContentFile; frontMatter: string; ast: Node };

export function readSource(file: ContentFile): Source {
  const ast = Markdoc.parse(readFileSync(file.path, 'utf8'), file.name);
  return { file, frontMatter: String(ast.attributes.frontmatter ?? ''), ast };
}

/** The line of a node in its file, from 1. */
export function lineOf(node: Node): number {
  return (node.lines[0] ?? 0) + 1;
}
