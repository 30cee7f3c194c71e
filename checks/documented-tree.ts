/**
 * The paths that ARCHITECTURE.md names. Trees are fenced blocks with a name at the start of each line; in running text,
 * a path is `code` that starts with a folder of the repository.
 */

interface Branch {
  indent: number;
  path: string;
}

/**
 * Returns the names at the start of a tree's line: `runner/`, `README.md  package.json`. A name ends in `/` or has a
 * file extension.
 */
function parseNames(line: string): string[] {
  const parts = line.trim().split(/\s{2,}|\s+[#—–]\s/);
  const isName = (part: string) => /^[\w.@*[\]-]+(\/[\w.@*[\]-]+)*(\/|\.[a-z]+)$/.test(part);
  const [first = ''] = parts;
  if (isName(first)) return [first, ...parts.slice(1).filter(isName)];
  const [word = ''] = first.split(' ');
  return /\/$/.test(word) && isName(word) ? [word] : [];
}

function parseTree(block: string): string[] {
  const open: Branch[] = [];
  return block.split('\n').flatMap((raw) => {
    const line = raw.replace(/[│├└─]/g, ' ');
    const indent = line.length - line.trimStart().length;
    const names = parseNames(line);
    if (names.length === 0) return [];
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const parent = open.at(-1)?.path ?? '';
    const paths = names.map((name) => parent + name);
    const [first = ''] = paths;
    if (first.endsWith('/')) open.push({ indent, path: first });
    return paths;
  });
}

/** Returns the paths in a text, without patterns (`*`). `folders` are those at the root of the repository. */
export function extractDocumentedPaths(markdown: string, folders: readonly string[]): string[] {
  const blocks = [...markdown.matchAll(/^```[^\n]*\n(.*?)^```/gms)].map(([, block = '']) => block);
  const prose = markdown.replace(/^```.*?^```/gms, '');
  const inline = [...prose.matchAll(/`([\w.@-]+\/[\w./@-]*)`/g)].map(([, path = '']) => path);
  const links = [...prose.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, path = '']) =>
    path.replace(/^\.\//, ''),
  );
  const known = inline.filter((path) => folders.includes(path.split('/')[0] ?? ''));
  const all = [...blocks.flatMap(parseTree), ...known, ...links];
  return [...new Set(all)].filter((path) => !path.includes('*'));
}
