/** Reads the source of a new managed input: an upload, or the input of a run. */
import type { InputCreate } from '@switchyard/contract/applications/inputs.ts';
import type { RunId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import type { SharedContent } from '../../platform/blobs/contents.ts';
import { badRequest, type Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { findRun } from '../store/runs.ts';
import type { InputsTable } from './schema.ts';

type Source = Pick<InputsTable, 'run_id' | 'upload_id' | 'input_format' | 'output_format'>;

/**
 * Returns the columns of the source and its shared content. Throws a 400 when the request names both sources or neither, and
 * when the upload or run does not exist.
 */
export async function readInputSource(
  { database, contents, uploads }: Pick<Context, 'database' | 'contents' | 'uploads'>,
  application: ApplicationsTable,
  { upload_id, run_id, format }: InputCreate,
): Promise<Source & { content: SharedContent }> {
  const uploadId: UploadId | null = upload_id ?? null;
  const runId: RunId | null = run_id ?? null;
  if (uploadId !== null) {
    if (runId !== null)
      throw badRequest(
        `upload_id is ${quoteValue(uploadId)} and run_id is ${quoteValue(runId)}; give one of them.`,
      );
    return {
      run_id: null,
      upload_id: uploadId,
      input_format: format?.input?.type ?? 'json',
      output_format: format?.output?.type ?? null,
      content: await uploads.use(application.uid, uploadId, 'content', 'upload_id'),
    };
  }
  if (runId === null) throw badRequest('upload_id and run_id are both absent; give one of them.');
  const run = await findRun(database.read, application.uid, runId);
  const content = run && (await contents.share(run.input_content_id));
  if (!content) throw badRequest(`run_id is ${quoteValue(runId)}; it must be a run of this application.`);
  return {
    run_id: runId,
    upload_id: null,
    input_format: run.input_format,
    output_format: run.output_format,
    content,
  };
}

/** Returns the 400 for a source that was deleted between the lookup and the commit. */
export function contentRemovedProblem({ run_id, upload_id }: Source): Problem {
  return badRequest(
    run_id === null
      ? `upload_id is ${quoteValue(upload_id)}, which was removed meanwhile; upload the content again.`
      : `run_id is ${quoteValue(run_id)}, which was deleted meanwhile; give another.`,
  );
}
