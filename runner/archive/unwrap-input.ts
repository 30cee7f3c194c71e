/** Removes the wrapping folder of an input archive, so that apps find their files at one path. */
import { readdir, rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunFolder } from '../filesystem/run-folder.ts';

const WRAPPING_FOLDERS = ['inputs', 'input'];

/** Replaces the input by the content of its `input/` or `inputs/` folder when it contains nothing else. */
export async function unwrapInput(folder: RunFolder): Promise<void> {
  const [only, ...others] = await readdir(folder.input, { withFileTypes: true });
  if (only === undefined || others.length > 0 || !only.isDirectory()) return;
  if (!WRAPPING_FOLDERS.includes(only.name)) return;
  const aside = `${folder.input}-wrapped`;
  await rename(folder.input, aside);
  await rename(join(aside, only.name), folder.input);
  await rmdir(aside);
}
