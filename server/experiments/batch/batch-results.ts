/** Computes the results of a batch experiment from its runs so far. */
import type { Database, Reader } from '../../platform/database/database.ts';
import type { ExperimentCounts } from '../../runs/store/experiment-runs.ts';
import { countRunsByExperiment } from '../operations/format-experiment.ts';
import type { QuestionMemory } from '../questions/question-memory.ts';
import { describeSettings } from '../questions/rules.ts';
import { SideCollector } from '../questions/side-collector.ts';
import { readObservations } from '../results/read-observations.ts';
import type { ResultsCache } from '../results/results-cache.ts';
import type { ResultsWorkerPool } from '../results/results-worker-pool.ts';
import type { Progress } from '../statistics/comparison/verdict.ts';
import { parseBatchDefinition } from '../store/batch-definition.ts';
import { findExperimentResults } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';

/** Returns the counts of runs, and a cache key: results with equal keys are equal. */
export async function readBatchState(
  db: Reader,
  experiment: ExperimentsTable,
): Promise<{ key: string; counts: ExperimentCounts }> {
  const counts = (await countRunsByExperiment(db, [experiment]))(experiment);
  return { key: formatStateKey(experiment, counts), counts };
}

function formatStateKey(experiment: ExperimentsTable, { statuses, refused }: ExperimentCounts): string {
  const { requested } = experiment;
  const { order, racing } = parseBatchDefinition(experiment);
  const { instances, ensembles = [], versions } = order;
  const control = [instances[0], ensembles[0], versions[0]];
  // A run that joins increases `requested`, so the key changes when one run is deleted and another joins.
  return JSON.stringify([
    requested,
    refused,
    Object.entries(statuses).sort(),
    ...control,
    racing?.decided_inputs,
  ]);
}

/** The objects that the computation of results needs. */
export interface BatchResultsContext {
  database: Pick<Database, 'read'>;
  questionMemory: QuestionMemory;
  resultsWorkerPool: ResultsWorkerPool;
}

/**
 * Computes the results of all runs, and returns them as JSON. `running` withholds verdicts that need the planned end. It also
 * stores the look at the question of the batch.
 */
export async function computeBatchResults(
  { database, questionMemory, resultsWorkerPool }: BatchResultsContext,
  experiment: ExperimentsTable,
  progress: Progress,
): Promise<string> {
  const definition = parseBatchDefinition(experiment);
  const { order, warnings: planWarnings = [], inputs_in_time_order = false, racing } = definition;
  const versions = new Map(Object.entries(definition.versions));
  const collector = new SideCollector();
  const results = await resultsWorkerPool.compute(
    {
      order,
      settings: definition,
      planWarnings,
      inputs_in_time_order,
      progress,
      seed: experiment.id,
      ...(racing ? { race: racing } : {}),
    },
    collector.collect(
      readObservations(database.read, experiment.uid, versions, {
        series: true,
        ensembles: order.ensembles !== undefined,
        deleted: true,
      }),
    ),
  );
  const { seed_option } = definition;
  return questionMemory.apply({
    ...{ experiment, results, collector, rules: describeSettings(definition) },
    options: { areLive: false, ...(seed_option === undefined ? {} : { except: seed_option }) },
  });
}

/** The objects that the results of a batch need that may not have ended. */
export type CachedResultsContext = BatchResultsContext & { batchResultsCache: ResultsCache };

/** Stores the look at the question of a running batch before it is deleted: somebody may have read the runs that ended. */
export async function rememberBatch(
  context: CachedResultsContext,
  experiment: ExperimentsTable,
): Promise<void> {
  if (experiment.status !== 'started') return;
  const { key } = await readBatchState(context.database.read, experiment);
  await readBatchResults(context, experiment, key);
}

/** Returns the results as JSON: the stored ones of a batch that has ended, otherwise those of the runs so far. */
export async function readBatchResults(
  context: CachedResultsContext,
  experiment: ExperimentsTable,
  key: string,
): Promise<string> {
  const { database, batchResultsCache } = context;
  const { uid } = experiment;
  const stored = await findExperimentResults(database.read, uid);
  if (stored === undefined)
    return batchResultsCache.getOrCompute(uid, key, () =>
      computeBatchResults(context, experiment, 'running'),
    );
  batchResultsCache.evict(uid);
  return stored;
}
