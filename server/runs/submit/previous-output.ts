/** Finds the output of an earlier run from which a new run starts. The new run keeps it under an id of its own. */
import { UPLOAD_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { RunCreate } from '@switchyard/contract/runs/run-schemas.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import type { Contents, SharedContent } from '../../platform/blobs/contents.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, type Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { findRun } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';
import { shareInput } from './share-input.ts';

/** The output of an earlier run. */
export interface PreviousOutput {
  runId: RunId;
  format: FormatType;
  content: SharedContent;
}

/**
 * Returns the output that the request names, and null when it names none. A clone of a run with the same previous run gets
 * the output that its original has, even when that previous run was deleted. Throws a 400 for a run without a stored output.
 */
export async function findPreviousOutput(
  { database, contents }: Pick<Context, 'database' | 'contents'>,
  application: ApplicationsTable,
  { previous_run_id: id, tracking }: RunCreate,
): Promise<PreviousOutput | null> {
  if (!id) return null;
  const original = await findOriginal(database.read, application, tracking?.cloned_run_id);
  if (original?.previous_run_id === id) return sharePreviousOutput(contents, original);
  const run = await findRun(database.read, application.uid, id);
  if (!run) throw reportDeleted(id, application);
  if (run.output_content_id === null)
    throw badRequest(
      `previous_run_id is ${quoteValue(id)}; that run ${isTerminal(run.status) ? `has the status ${run.status} and stored no output. Give a run that has one` : `is ${run.status} and has no output yet. Wait until it has ended`}.`,
    );
  if (run.output_bytes > UPLOAD_BYTES_MAX)
    throw badRequest(
      `previous_run_id is ${quoteValue(id)}, whose output has ${run.output_bytes} bytes; as for an input, the maximum is ${UPLOAD_BYTES_MAX}.`,
    );
  const { message } = reportDeleted(id, application);
  const content = await shareInput(contents, run.output_content_id, message);
  return { runId: id, format: run.output_format, content };
}

/** Returns the previous output of a run for another one that repeats or belongs to it; null for a run without one. */
export async function sharePreviousOutput(
  contents: Contents,
  { id, previous_run_id: runId, previous_content_id, previous_format: format }: RunsTable,
): Promise<PreviousOutput | null> {
  if (runId === null || previous_content_id === null || format === null) return null;
  const removed = `The run ${quoteValue(id)} was deleted, and with it the output of its previous run ${quoteValue(runId)}.`;
  return { runId, format, content: await shareInput(contents, previous_content_id, removed) };
}

async function findOriginal(
  db: Reader,
  application: ApplicationsTable,
  id: string | null | undefined,
): Promise<RunsTable | undefined> {
  return id ? findRun(db, application.uid, id as RunId) : undefined;
}

function reportDeleted(id: RunId, application: ApplicationsTable): Problem {
  return badRequest(
    `previous_run_id is ${quoteValue(id)}; the application ${quoteValue(application.id)} has no such run. A retention policy or a caller may have deleted it. Give a run that exists.`,
  );
}
