/**
 * Continues bisect experiments whose runs have all ended: plans the next rounds, or stores the results and ends the
 * experiment. The search is computed from the runs, so nothing is lost when the process is killed in between.
 */
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import { insertPlannedRuns } from '../../runs/store/planned-runs.ts';
import { buildRunPlan } from '../operations/build-run-plan.ts';
import { cancelUnfinishedRuns, hasOpenRuns, removeInputs } from '../operations/experiment-ends.ts';
import type { SearchResult } from '../statistics/bisect/search.ts';
import { formatResults } from '../store/analysis-method.ts';
import { parseBisectDefinition } from '../store/bisect-definition.ts';
import {
  findExperimentByUid,
  listCanceledWithUnfinishedRuns,
  listExperimentInputs,
  listIdleExperiments,
  lockExperiment,
  updateExperiment,
  writeExperimentResults,
} from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { transitionBisect } from '../store/transitions.ts';
import { formatSearch } from './format-bisect.ts';
import { planRounds } from './plan-rounds.ts';
import { readSearch } from './read-search.ts';

const INTERVAL_MS = 5000;
/** When thousands of runs end, the job runs some times a second, not once for each of them. */
const DEBOUNCE_MS = 25;

interface Parts extends JobContext {
  database: Database;
  contents: Contents;
  tracing: Tracing | null;
}

/** Plans the next rounds of searches, ends them, and cancels the runs of stopped ones. */
export function advanceBisectsJob(parts: Parts): Job {
  const { database } = parts;
  return defineJob<{ uid: string; isCanceled: boolean }>(parts, {
    name: 'advance-bisects',
    intervalMs: INTERVAL_MS,
    wakeOn: ['runs-ended', 'runs-canceled'],
    debounceMs: DEBOUNCE_MS,
    listRows: async () => [
      ...(await listIdleExperiments(database.read, 'bisect')).map((uid) => ({ uid, isCanceled: false })),
      ...(await listCanceledWithUnfinishedRuns(database.read, 'bisect')).map((uid) => ({
        uid,
        isCanceled: true,
      })),
    ],
    formatKey: ({ uid }) => uid,
    handleRow: ({ uid, isCanceled }) => (isCanceled ? cancelUnfinishedRuns(parts, uid) : advance(parts, uid)),
  });
}

async function advance(parts: Parts, uid: string): Promise<void> {
  const { database, contents } = parts;
  const experiment = await findExperimentByUid(database.read, uid);
  if (experiment?.status !== 'started') return;
  const state = await readSearch(database.read, experiment);
  const { next = null } = state.search ?? {};
  const blobs = await database.transact(async (tx) => {
    const locked = await lockExperiment(tx, uid);
    // Another process has planned further rounds meanwhile, or a caller has stopped the search.
    if (locked?.status !== 'started' || locked.requested !== experiment.requested) return [];
    if (await hasOpenRuns(tx, uid)) return [];
    if (next) {
      await planNext(parts, tx, locked, next);
      return [];
    }
    const now = parts.clock.now();
    const to = state.error === null ? 'completed' : 'failed';
    await transitionBisect(tx, uid, { from: 'started', to }, { completed_at: now, updated_at: now });
    const result = formatSearch(parseBisectDefinition(locked), state, false);
    await writeExperimentResults(tx, uid, formatResults(result));
    return removeInputs(contents, tx, uid);
  });
  database.notify(next ? 'runs-planned' : 'experiments-ended');
  await contents.removeBlobs(blobs);
}

async function planNext(
  { clock }: Pick<Parts, 'clock'>,
  tx: Writer,
  experiment: ExperimentsTable,
  rounds: NonNullable<SearchResult['next']>,
): Promise<void> {
  const { uid, requested } = experiment;
  const planned = planRounds({
    definition: parseBisectDefinition(experiment),
    inputs: await listExperimentInputs(tx, uid),
    rounds,
    position: requested,
    seed: uid,
  });
  const now = clock.now();
  await insertPlannedRuns(tx, buildRunPlan(experiment, now), planned);
  await updateExperiment(tx, uid, { requested: requested + planned.length, updated_at: now });
}
