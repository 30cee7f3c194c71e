/** Input archives come bare or wrapped in one folder; apps find their files in the same place either way. */
import { readdir, rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunFolder } from '../filesystem/run-folder.ts';

const WRAPPERS = ['inputs', 'input'];

/** When `input/` or `inputs/` is all the archive holds, what is in it takes its place. */
export async function unwrapInput(folder: RunFolder): Promise<void> {
  const [only, ...others] = await readdir(folder.input, { withFileTypes: true });
  if (only === undefined || others.length > 0 || !only.isDirectory() || !WRAPPERS.includes(only.name)) return;
  const aside = `${folder.input}-wrapped`;
  await rename(folder.input, aside);
  await rename(join(aside, only.name), folder.input);
  await rmdir(aside);
}
