/**
 * Reads the syntax tree of a source: its imports, and the line of each node.
 *
 * The parser is the one of Vite and Vitest. It parses TypeScript with types, and JSX, and so finds type-only imports. A
 * scanner of stripped code would miss them, and text patterns would find imports in strings and comments. TypeScript 7
 * itself is not available as a library.
 */
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';
import type { Source } from './source-files.ts';

/** One import of a source. */
export interface Import {
  specifier: string;
  /**
   * A `type` import has no effect at run time. A `runtime` import loads the file, also for braces with types only, as
   * Node keeps it. A `url` import names a file by `new URL(…, import.meta.url)`, such as the code of a worker thread.
   */
  kind: 'runtime' | 'type' | 'url';
  names: string[];
  line: number;
}

export type Syntax = ReturnType<typeof parseSync>;

const parsed = new WeakMap<Source, Syntax>();

/** Returns the syntax tree. Throws an error with the path of the source when parsing fails. */
export function parseSource(source: Source): Syntax {
  const known = parsed.get(source);
  if (known) return known;
  const syntax = parseSync(source.path, source.text);
  const [error] = syntax.errors;
  if (error) throw new Error(`${source.path} cannot be parsed: ${error.message}`);
  parsed.set(source, syntax);
  return syntax;
}

const lineEnds = new WeakMap<Source, readonly number[]>();

function findLineEnds(source: Source): readonly number[] {
  const known = lineEnds.get(source);
  if (known) return known;
  const ends = [...source.text.matchAll(/\n/g)].map(({ index }) => index);
  lineEnds.set(source, ends);
  return ends;
}

/** Returns the line of an offset, from 1. The laws need the line of every name, so the line ends are cached. */
export function lineNumberAt(source: Source, offset: number): number {
  const ends = findLineEnds(source);
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ends[middle] ?? Infinity) < offset) low = middle + 1;
    else high = middle;
  }
  return low + 1;
}

/** Returns `path:line` of a node. */
export function formatLocation(source: Source, node: { start: number }): string {
  return `${source.path}:${lineNumberAt(source, node.start)}`;
}

/** Returns the text of a string literal, and undefined for other expressions. */
export function literalText(node: ESTree.Node | null | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral') return node.quasis.map((quasi) => quasi.value.raw).join('…');
  return undefined;
}

const imports = new WeakMap<Source, readonly Import[]>();

/** Returns every import in source order: declarations, re-exports, calls, types and worker files. */
export function listImports(source: Source): readonly Import[] {
  const known = imports.get(source);
  if (known) return known;
  const found: Import[] = [];
  const add = (kind: Import['kind'], from: ESTree.Node, names: string[] = []) => {
    const specifier = literalText(from);
    if (specifier !== undefined)
      found.push({ specifier, kind, names, line: lineNumberAt(source, from.start) });
  };
  new Visitor({
    ImportDeclaration(node) {
      const names = node.specifiers.map((one) =>
        one.type === 'ImportSpecifier' && one.imported.type === 'Identifier' ? one.imported.name : '*',
      );
      add(node.importKind === 'type' ? 'type' : 'runtime', node.source, names);
    },
    ExportNamedDeclaration(node) {
      if (node.source) add(node.exportKind === 'type' ? 'type' : 'runtime', node.source);
    },
    ExportAllDeclaration(node) {
      add(node.exportKind === 'type' ? 'type' : 'runtime', node.source);
    },
    ImportExpression(node) {
      add('runtime', node.source);
    },
    TSImportType(node) {
      add('type', node.source);
    },
    CallExpression(node) {
      const [first] = node.arguments;
      if (node.callee.type === 'Identifier' && node.callee.name === 'require' && first) add('runtime', first);
    },
    NewExpression(node) {
      const [first, second] = node.arguments;
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'URL') return;
      if (second?.type !== 'MemberExpression' || second.object.type !== 'MetaProperty') return;
      if (first && /^\.{1,2}\/.*\.tsx?$/.test(literalText(first) ?? '')) add('url', first);
    },
  }).visit(parseSource(source).program);
  found.sort((a, b) => a.line - b.line);
  imports.set(source, found);
  return found;
}
