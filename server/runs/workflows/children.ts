/**
 * Child runs of workflows. An app that creates a run with its run token is the parent of that run.
 *
 * A parent whose worker dies is requeued and starts again from the beginning, so it repeats its requests. The nth request
 * with the same content gets the run that the nth such request of an earlier attempt created. So each child run exists
 * once, however often the parent starts. The published client sends no Idempotency-Key; the content of a request stands
 * for one. It includes the name of the run, to which `nextpipe` gives the step and the number of the node.
 */
import { CHILD_RUNS_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { locked } from '../../platform/database/row-locks.ts';
import { badRequest, unauthorized } from '../../platform/http/errors/problem.ts';
import type { CallingRun } from '../../platform/http/handlers/handler.ts';
import { RUNNING, type RunsTable } from '../store/schema.ts';

/** A request of a parent for a child run. */
interface ChildRequest {
  parent: Pick<CallingRun, 'id' | 'fence'>;
  /** SHA-256 of the content of the request, in hex. */
  fingerprint: string;
  /** The id of the child run, unless an earlier attempt has created one; null to create none. */
  newId: RunId | null;
  /** In milliseconds. */
  now: number;
}

/**
 * Returns the child run that an earlier attempt of the parent created by the same request. Returns null when there is none,
 * and the caller then creates it in this transaction under `newId`. The parent releases its slot, because it waits from now
 * on. Throws a 401 when the attempt of the parent has ended, and a 400 beyond CHILD_RUNS_MAX.
 */
export async function claimChild(
  tx: Writer,
  { parent, fingerprint, newId, now }: ChildRequest,
): Promise<RunId | null> {
  await lockParent(tx, parent);
  await tx
    .updateTable('runs')
    .set({ slot_released_at: now })
    .where('id', '=', parent.id)
    .where('slot_released_at', 'is', null)
    .execute();
  const equal = await tx
    .selectFrom('run_children')
    .select(['occurrence', 'run_id', 'fence'])
    .where('parent_run_id', '=', parent.id)
    .where('fingerprint', '=', fingerprint)
    .orderBy('occurrence')
    .execute();
  const repeated = equal.find(({ fence }) => fence < parent.fence);
  if (repeated) {
    await tx
      .updateTable('run_children')
      .set({ fence: parent.fence })
      .where('parent_run_id', '=', parent.id)
      .where('fingerprint', '=', fingerprint)
      .where('occurrence', '=', repeated.occurrence)
      .execute();
    return repeated.run_id;
  }
  if (newId === null) return null;
  await requireChildCapacity(tx, parent.id);
  await tx
    .insertInto('run_children')
    .values({
      parent_run_id: parent.id,
      fingerprint,
      occurrence: (equal.at(-1)?.occurrence ?? 0) + 1,
      run_id: newId,
      fence: parent.fence,
    })
    .execute();
  return null;
}

/** Two requests of a parent, or a request and a cancel, thus come one after the other. */
async function lockParent(tx: Writer, { id, fence }: ChildRequest['parent']): Promise<void> {
  const query = tx
    .selectFrom('runs')
    .select('id')
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('status', '=', RUNNING)
    .where('cancel_requested_at', 'is', null);
  if ((await locked(tx, query, 'update').executeTakeFirst()) === undefined)
    throw unauthorized(
      `The run token of the run ${id} ended with its attempt; it can create no further run.`,
    );
}

async function requireChildCapacity(tx: Writer, parent: RunId): Promise<void> {
  const { count } = await tx
    .selectFrom('run_children')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('parent_run_id', '=', parent)
    .executeTakeFirstOrThrow();
  if (Number(count) >= CHILD_RUNS_MAX)
    throw badRequest(
      `The run ${parent} has created ${CHILD_RUNS_MAX} runs, the most that one run can create. Divide the work among several runs.`,
    );
}

/** A run below a workflow. */
type Child = Pick<RunsTable, 'id' | 'application_uid' | 'status' | 'api_access'>;

/**
 * Lists the runs that the apps of these workflows created and that have not ended, with all workflows among them: the runs
 * below one that has ended may go on. The run of an ensemble stands for its child runs.
 */
export function listActiveChildren(db: Reader, parents: readonly RunId[]): Promise<Child[]> {
  return db
    .selectFrom('run_children')
    .innerJoin('runs', 'runs.id', 'run_children.run_id')
    .select(['runs.id', 'runs.application_uid', 'runs.status', 'runs.api_access'])
    .where('run_children.parent_run_id', 'in', parents)
    .where((eb) => eb.or([eb('runs.finished_at', 'is', null), eb('runs.api_access', 'is not', null)]))
    .execute();
}
