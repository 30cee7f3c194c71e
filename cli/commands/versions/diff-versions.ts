/** The difference between the files of two versions, as `git diff` prints it. */
import type { ExecutableFile } from '@switchyard/contract/applications/executables.ts';
import { type FileChange, listFileChanges } from '@switchyard/contract/applications/list-file-changes.ts';
import type { Client } from '@switchyard/contract/client.ts';
import { createTwoFilesPatch } from 'diff';

/** A changed file with its unified diff; null for content that is no text, or too large. */
export interface FileDifference extends FileChange {
  patch: string | null;
}

/** Two texts without a common line take quadratic time. */
const TIMEOUT_MS = 2000;

/** Returns the files that differ. Throws the refusal of the server for an unknown version. */
export async function diffVersions(
  client: Client,
  application_id: string,
  { from, to, names }: { from: string; to: string; names: boolean },
): Promise<FileDifference[]> {
  const [before, after] = await Promise.all(
    [from, to].map(async (version_id) => {
      const { body } = await client.call('getVersion', { params: { application_id, version_id } });
      const { id: executable_id } = body.executable;
      const files = await client.call('listExecutableFiles', { params: { application_id, executable_id } });
      return { executable_id, files: files.body.files };
    }),
  );
  if (!before || !after) return [];
  const readText = async (
    executable_id: string,
    file: ExecutableFile | undefined,
  ): Promise<string | null> => {
    if (!file) return '';
    if (file.target !== null) return file.target;
    if (file.sha256 === null) return null;
    const params = { application_id, executable_id, sha256: file.sha256 };
    return (await client.call('getExecutableFile', { params })).body.text;
  };
  const differences: FileDifference[] = [];
  for (const change of listFileChanges(before.files, after.files)) {
    const texts = names
      ? [null, null]
      : await Promise.all([
          readText(before.executable_id, change.before),
          readText(after.executable_id, change.after),
        ]);
    differences.push({ ...change, patch: formatPatch(change, texts[0] ?? null, texts[1] ?? null) });
  }
  return differences;
}

function formatPatch(
  { path, before, after }: FileChange,
  from: string | null,
  to: string | null,
): string | null {
  if (from === null || to === null) return null;
  const names = [before ? `a/${path}` : '/dev/null', after ? `b/${path}` : '/dev/null'] as const;
  const patch = createTwoFilesPatch(names[0], names[1], from, to, undefined, undefined, {
    timeout: TIMEOUT_MS,
  });
  // The first line of the library only separates files.
  return patch?.replace(/^=+\n/, '') ?? null;
}
