/**
 * Replaces code-reference tags by code blocks with lines of a file of the repository, so that pages show the code that
 * runs. It runs before all other steps.
 */
import { readFileSync, statSync } from 'node:fs';
import { extname, relative, resolve } from 'node:path';
import Markdoc, { type Node } from '@markdoc/markdoc';
import { codeReferenceSchema } from '../markup/code-reference.ts';

const LANGUAGES: Record<string, string> = {
  '.css': 'css',
  '.go': 'go',
  '.java': 'java',
  '.js': 'js',
  '.json': 'json',
  '.mjs': 'js',
  '.py': 'python',
  '.sh': 'bash',
  '.sql': 'sql',
  '.ts': 'ts',
  '.yaml': 'yaml',
};

/** Returns the lines from the first with `from` to the next with `to`, both included; without them from or to the end. */
function extractLines(
  text: string,
  from: string | undefined,
  to: string | undefined,
): string | { fault: string } {
  const lines = text.replace(/\n$/, '').split('\n');
  const first = from === undefined ? 0 : lines.findIndex((line) => line.includes(from));
  if (first === -1) return { fault: `no line of it holds "${from}"` };
  const last =
    to === undefined ? lines.length - 1 : lines.findIndex((line, i) => i >= first && line.includes(to));
  if (last === -1) return { fault: `no line of it after the first holds "${to}"` };
  return lines.slice(first, last + 1).join('\n');
}

/** Replaces every code-reference below a node; returns the names of the files that were read. */
export function expandCodeReferences(
  node: Node,
  repository: string,
  report: (node: Node, message: string) => void,
): string[] {
  const files: string[] = [];
  const expandTag = (tag: Node): Node => {
    const { file, from, to } = tag.attributes;
    // The validation of the page reports faults of the tag itself.
    if (Markdoc.validate(tag, { tags: { 'code-reference': codeReferenceSchema } }).length > 0) return tag;
    const path = resolve(repository, file);
    const inside = !relative(repository, path).startsWith('..');
    const language = LANGUAGES[extname(path)];
    if (!inside || !statSync(path, { throwIfNoEntry: false })?.isFile()) {
      report(
        tag,
        `The code "${file}" is not a file of the repository; name it from the root, such as "site/build.ts".`,
      );
    } else if (language === undefined) {
      report(tag, `The code "${file}" ends in none of ${Object.keys(LANGUAGES).join(', ')}.`);
    } else {
      files.push(file);
      const content = extractLines(readFileSync(path, 'utf8'), from, to);
      if (typeof content === 'string')
        return createFence(tag, { content: `${content}\n`, language, title: file });
      report(tag, `The code "${file}" cannot be cut: ${content.fault}.`);
    }
    return tag;
  };
  node.children = node.children.map((child) => {
    if (child.tag === 'code-reference') return expandTag(child);
    files.push(...expandCodeReferences(child, repository, report));
    return child;
  });
  return files;
}

function createFence(tag: Node, attributes: { content: string; language: string; title: string }): Node {
  const { Node: MarkdocNode } = Markdoc.Ast;
  const fence = new MarkdocNode('fence', attributes, [
    new MarkdocNode('text', { content: attributes.content }),
  ]);
  fence.lines = tag.lines;
  if (tag.location) fence.location = tag.location;
  return fence;
}
