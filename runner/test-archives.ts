/** Archives in and out, for tests. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { unpackArchive } from './archive.ts';
import type { Job } from './types.ts';

export function archiveInput(format: Job['input']['format'], bytes: Buffer): Job['input'] {
  return { format, open: async () => Readable.from([bytes]) };
}

/** The files of a result archive, by name. */
export async function contentsOf(path: string | undefined): Promise<Record<string, string>> {
  if (path === undefined) return {};
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-result-'));
  try {
    const { entries } = await unpackArchive(Readable.from([readFileSync(path)]), folder);
    return Object.fromEntries(
      entries
        .filter((entry) => entry.kind === 'file')
        .map((entry) => [entry.path, readFileSync(join(folder, entry.path), 'utf8')]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
