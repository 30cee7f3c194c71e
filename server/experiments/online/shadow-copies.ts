/**
 * Copies the runs that a shadow test has captured: plans a run on each candidate for each of them, up to the limit of the
 * test. Invariant: the caller has locked the row of the test, and one transaction plans the copies and removes the captures.
 * So each original is copied once, and the limit holds.
 *
 * The deletion of an original deletes its capture: it is not copied and does not count. An original that is deleted after
 * the planning of its copies counts, and its planned runs are deleted with it.
 */
import { computeDurationLimit } from '@switchyard/contract/execution-classes.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../../platform/database/database.ts';
import { parseRequestOptions } from '../../runs/run-columns.ts';
import { insertPlannedRuns, type PlannedRun } from '../../runs/store/planned-runs.ts';
import {
  claimCaptures,
  listCaptures,
  removeCapturesOfExperiment,
  removeRoutesOfExperiment,
} from '../../runs/store/routes.ts';
import type { RunsTable } from '../../runs/store/schema.ts';
import { buildRunPlan } from '../operations/build-run-plan.ts';
import { updateExperiment } from '../store/experiments.ts';
import { parseShadowDefinition, type ShadowDefinition } from '../store/online-test-definitions.ts';
import type { ExperimentsTable } from '../store/schema.ts';

const BATCH_SIZE = 100;

/** Counts the copied runs of the baseline. */
function countCopiedRuns(
  { requested }: Pick<ExperimentsTable, 'requested'>,
  { candidates }: ShadowDefinition,
): number {
  return requested / candidates.length;
}

/** Returns true when the number of copied runs has reached the limit of the test. */
export function hasReachedRunLimit(
  test: Pick<ExperimentsTable, 'uid' | 'requested' | 'definition'>,
): boolean {
  const definition = parseShadowDefinition(test);
  return countCopiedRuns(test, definition) >= definition.maximumRuns;
}

/**
 * Plans the copies of the captured runs. `locked` is the test, locked in this transaction. Returns its row with the changes.
 * Call `database.notify('runs-planned')` after the commit when `requested` has grown.
 */
export async function planCopies(
  tx: Writer,
  locked: ExperimentsTable,
  now: number,
): Promise<ExperimentsTable> {
  const definition = parseShadowDefinition(locked);
  let { requested } = locked;
  for (;;) {
    const remaining = definition.maximumRuns - countCopiedRuns({ requested }, definition);
    const captures =
      remaining <= 0 ? [] : await listCaptures(tx, locked.uid, Math.min(remaining, BATCH_SIZE));
    if (captures.length === 0) break;
    const claimed = await claimCaptures(
      tx,
      locked.uid,
      captures.map((one) => one.run_id),
    );
    // Another transaction deletes these runs at this moment.
    if (claimed.length === 0) continue;
    const originals = await findOriginals(tx, claimed);
    const copies = originals.flatMap((run) => definition.candidates.map((id) => buildCopy(run, id)));
    await insertPlannedRuns(
      tx,
      buildRunPlan(locked, now),
      copies.map((copy, index) => ({ ...copy, position: requested + index })),
    );
    requested += copies.length;
  }
  if (requested !== locked.requested) await updateExperiment(tx, locked.uid, { requested });
  return { ...locked, requested };
}

/** Plans the copies of the runs captured so far, up to the limit, and captures no more. Returns the row with the changes. */
export async function endCopying(
  tx: Writer,
  locked: ExperimentsTable,
  now: number,
): Promise<ExperimentsTable> {
  // Waits for runs that are captured at this moment; without the route no other run is.
  await removeRoutesOfExperiment(tx, locked.uid, locked.application_uid);
  const planned = await planCopies(tx, locked, now);
  await removeCapturesOfExperiment(tx, locked.uid);
  return planned;
}

const COPIED = [
  ...(['id', 'name', 'request_options', 'input_content_id', 'input_format', 'input_id'] as const),
  ...(['execution_class', 'max_duration'] as const),
] as const;

type Original = Pick<RunsTable, (typeof COPIED)[number]>;

/** Returns the runs to copy, oldest first. */
function findOriginals(tx: Writer, ids: readonly RunId[]): Promise<Original[]> {
  return tx
    .selectFrom('runs')
    .select(COPIED)
    .where('id', 'in', ids)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

function buildCopy(run: Original, candidate: string): Omit<PlannedRun, 'position'> {
  return {
    name: run.name,
    instanceId: candidate,
    versionId: '',
    options: parseRequestOptions(run),
    contentId: run.input_content_id,
    inputFormat: run.input_format,
    inputId: run.input_id,
    parentRunId: run.id,
    // The comparison is fair only if both stop at the same time; a shorter execution class still ends the copy.
    maxDuration: computeDurationLimit(run) / 1000,
  };
}
