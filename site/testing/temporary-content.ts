/** Reads a few files as a site, for tests of the markup. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ContentError } from '../generator/inputs/problems.ts';
import { readSite, type Site } from '../generator/pages/read-site.ts';

/** Formats the front matter of a page, with more fields after its own. */
export const buildFrontMatter = (fields = '') =>
  `---\ntitle: A page\nintro: A description of this page, in one line.\nnavOrder: 10\n${fields}---\n\n`;

/** The line on which the body of a page with that front matter begins. */
export const BODY_START_LINE = 7;

/** Reads files from a temporary folder. */
export async function readContent(files: Record<string, string | Buffer>): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-content-'));
  try {
    mkdirSync(join(folder, 'pages'), { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      const target = join(folder, 'content', path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
    return await readSite({
      content: { folder: join(folder, 'content'), name: 'content' },
      pages: { folder: join(folder, 'pages'), name: 'pages' },
      repository: folder,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the mistakes of such files, as `file:line: sentence`. */
export async function listProblems(files: Record<string, string | Buffer>): Promise<string[]> {
  try {
    await readContent(files);
    return [];
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    return error.problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
  }
}
