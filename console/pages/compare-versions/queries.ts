import type { FileChange } from '@switchyard/contract/applications/list-file-changes.ts';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../client/client.ts';
import { operationQuery } from '../../client/queries.ts';
import { diffLines } from '../../ui/diff/diff-lines.ts';

/** The files of an executable, which never change. */
export const filesQuery = (application: string, executable: string) =>
  queryOptions({
    ...operationQuery('listExecutableFiles', {
      params: { application_id: application, executable_id: executable },
    }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Two executables of an application. */
export interface ExecutablePair {
  application: string;
  before: string;
  after: string;
}

/** The lines of a changed file, or the reason why there are none. */
export const fileDiffQuery = ({ application, before, after }: ExecutablePair, change: FileChange) =>
  queryOptions({
    queryKey: ['file-diff', application, before, after, change.path],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const [old, current] = await Promise.all([
        readText(application, before, change.before?.sha256),
        readText(application, after, change.after?.sha256),
      ]);
      const omitted = old.omitted ?? current.omitted;
      return omitted ? { omitted } : { lines: await diffLines(old.text ?? '', current.text ?? '') };
    },
  });

/** Reads the text of a file; a file that does not exist is empty. */
async function readText(application: string, executable: string, sha256: string | null | undefined) {
  if (!sha256) return { text: '', omitted: undefined };
  const params = { application_id: application, executable_id: executable, sha256 };
  return (await client.call('getExecutableFile', { params })).body;
}
