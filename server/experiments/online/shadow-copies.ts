/**
 * Copies the runs that a shadow test has had noted: plans a run on each candidate for every one of them, until there are as
 * many as the test wants. Whoever calls holds the test's row, so that they are counted by one at a time, and the notes go in
 * the transaction that plans the copies: each original is copied once, and never one too many.
 *
 * An original that is deleted takes its note with it: it is not copied and does not count. One that is deleted after its
 * copy was planned counts, and takes the plan with it while the copy is not born.
 */

import { PRIORITY_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../../database/database.ts';
import { insertPlannedRuns, type PlannedRun } from '../../runs/store/planned-runs.ts';
import {
  claimCaptures,
  listCaptures,
  removeCapturesOfExperiment,
  removeRoutesOfExperiment,
} from '../../runs/store/routes.ts';
import type { RunsTable } from '../../runs/store/schema.ts';
import { updateExperiment } from '../store/experiments.ts';
import { parseShadowDefinition, type ShadowDefinition } from '../store/online-test-definitions.ts';
import type { ExperimentsTable } from '../store/schema.ts';

const AT_ONCE = 100;

/** How many runs of the baseline have been copied. */
function countCopiedRuns(
  { requested }: Pick<ExperimentsTable, 'requested'>,
  { candidates }: ShadowDefinition,
) {
  return requested / candidates.length;
}

/** Whether there are as many copies as the test wants. */
export function hasReachedRunLimit(held: Pick<ExperimentsTable, 'requested' | 'definition'>): boolean {
  const definition = parseShadowDefinition(held);
  return countCopiedRuns(held, definition) >= definition.maximumRuns;
}

/**
 * Plans the copies of what is noted; `held` is the test as it is in this transaction, which holds it. Answers the test as
 * it is then. Call `database.notify('runs-planned')` after the commit when it wants more than before.
 */
export async function planCopies(tx: Writer, held: ExperimentsTable, now: number): Promise<ExperimentsTable> {
  const definition = parseShadowDefinition(held);
  let { requested } = held;
  for (;;) {
    const left = definition.maximumRuns - countCopiedRuns({ requested }, definition);
    const noted = left <= 0 ? [] : await listCaptures(tx, held.uid, Math.min(left, AT_ONCE));
    if (noted.length === 0) break;
    const taken = await claimCaptures(
      tx,
      held.uid,
      noted.map((one) => one.run_id),
    );
    // Somebody deletes them right now.
    if (taken.length === 0) continue;
    const originals = await findOriginals(tx, taken);
    const copies = originals.flatMap((run) => definition.candidates.map((id) => copyOf(run, id)));
    const plan = {
      ownerUid: held.uid,
      applicationUid: held.application_uid,
      plannedAt: now,
      userEmail: held.user_email,
      experiment: { uid: held.uid, id: held.id, type: held.type },
    };
    await insertPlannedRuns(
      tx,
      plan,
      copies.map((copy, index) => ({ ...copy, position: requested + index })),
    );
    requested += copies.length;
  }
  if (requested !== held.requested) await updateExperiment(tx, held.uid, { requested });
  return { ...held, requested };
}

/** Copies what was noted until now, as far as the test wants it, and nothing from now on. */
export async function endCopying(tx: Writer, held: ExperimentsTable, now: number): Promise<ExperimentsTable> {
  // Waits for runs that are noted right now; once it is gone no more are.
  await removeRoutesOfExperiment(tx, held.uid, held.application_uid);
  const planned = await planCopies(tx, held, now);
  await removeCapturesOfExperiment(tx, held.uid);
  return planned;
}

type Original = Pick<
  RunsTable,
  'id' | 'name' | 'request_options' | 'input_content_id' | 'input_format' | 'input_id'
>;

/** In the order in which they were made. */
function findOriginals(tx: Writer, ids: readonly RunId[]): Promise<Original[]> {
  return tx
    .selectFrom('runs')
    .select(['id', 'name', 'request_options', 'input_content_id', 'input_format', 'input_id'])
    .where('id', 'in', ids)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

function copyOf(run: Original, candidate: string): Omit<PlannedRun, 'position'> {
  return {
    name: run.name,
    instanceId: candidate,
    versionId: '',
    options: JSON.parse(run.request_options) as Record<string, string>,
    priority: PRIORITY_MAX,
    contentId: run.input_content_id,
    inputFormat: run.input_format,
    inputId: run.input_id,
    parentRunId: run.id,
  };
}
