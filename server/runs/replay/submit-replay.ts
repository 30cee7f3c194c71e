/**
 * Creates the replay of a run: a copy of its row without its results. Nothing is resolved again, so that later changes to
 * the instance, the version or the defaults of the app do not count.
 */
import type { KeyId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { lockExecutable } from '../../apps/applications/executables-store.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { hasCollection } from '../../apps/secrets/store.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { makeId } from '../../platform/random.ts';
import type { RunsTable } from '../store/schema.ts';
import { NOT_STARTED } from '../submit/not-started.ts';
import { shareInput } from '../submit/share-input.ts';
import { insertInTransaction, type SubmitParts } from '../submit/submit.ts';
import { formatTrace, type TracedRequest } from '../tracing/run-trace.ts';
import { insertReplay } from './replays-store.ts';

const INPUT_REMOVED_MESSAGE = 'The input of the run was deleted before it could be replayed.';

interface ReplayRequest extends TracedRequest {
  application: ApplicationsTable;
  original: RunsTable;
  email: string;
  key: KeyId | null;
  /** Absent or null: that of the original. */
  name?: string | null | undefined;
  description?: string | null | undefined;
}

/** Creates the replay, which is queued. Throws a 400 for a run that cannot be replayed. */
export async function submitReplay<R>(
  parts: SubmitParts<R> & Pick<Context, 'contents'>,
  request: ReplayRequest,
): Promise<R> {
  const { database, contents, clock, random } = parts;
  const { application, original } = request;
  rejectUnrepeatable(original);
  await requireSecrets(database.read, original);
  const input = await shareInput(contents, original.input_content_id, INPUT_REMOVED_MESSAGE);
  const run: RunsTable = {
    ...original,
    ...NOT_STARTED,
    id: makeId<RunsTable['id']>(random, 'run'),
    created_at: clock.now(),
    status: 'queued',
    user_email: request.email,
    created_by_key: request.key,
    name: request.name ?? original.name,
    description: request.description ?? original.description,
    reference_id: null,
    // The caller waits for no slot: a 429 would tell nothing about the original.
    queuing_disabled: 0,
    input_content_id: input.id,
    cloned_run_id: original.id,
    experiment_uid: null,
    experiment_id: null,
    experiment_type: null,
    child_of_experiment: null,
    plan_unit_index: null,
    parent_run_id: null,
    workflow: null,
    workflow_depth: 0,
    labels: null,
    ...formatTrace(request),
  };
  const stored = await insertInTransaction(
    parts,
    { application },
    {
      run,
      input,
      lockExecutable: requireExecutable,
      insertFurther: (tx) =>
        insertReplay(tx, {
          run_id: run.id,
          application_uid: run.application_uid,
          original_run_id: original.id,
          created_at: run.created_at,
        }),
    },
  );
  database.notify('runs-queued');
  return stored;
}

function rejectUnrepeatable({ id, run_type, status }: RunsTable): void {
  if (run_type !== 'standard')
    throw badRequest(
      run_type === 'external'
        ? `The run ${quoteValue(id)} is external: its program was executed elsewhere. Execute it there again.`
        : `The run ${quoteValue(id)} is the run of an ensemble. Replay one of its child runs, or create the run again.`,
    );
  if (!isTerminal(status))
    throw badRequest(`The run ${quoteValue(id)} is ${status}; a replay repeats a run that has ended.`);
}

async function requireSecrets(db: Reader, original: RunsTable): Promise<void> {
  const { secrets_collection_id: id } = original;
  if (id === null || (await hasCollection(db, original.application_uid, id))) return;
  throw badRequest(
    `The secrets collection ${quoteValue(id)} of the run was deleted. Create it again before you replay the run.`,
  );
}

/** Locks the executable by itself, because its version may be deleted while the archive is still there. */
async function requireExecutable(tx: Writer, run: RunsTable): Promise<void> {
  if (await lockExecutable(tx, run.executable_id)) return;
  throw badRequest(
    `The executable ${quoteValue(run.executable_id)} of the run was removed, because no version and no application uses it any more. Push it again and create a run. To replay runs later, make a version of the executable.`,
  );
}
