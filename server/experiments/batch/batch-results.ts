/** Computes the results of a batch experiment from its runs so far. */
import type { Database, Reader } from '../../database/database.ts';
import type { ExperimentCounts } from '../../runs/store/experiment-runs.ts';
import { countRunsByExperiment } from '../operations/format-experiment.ts';
import { readObservations } from '../results/read-observations.ts';
import type { ResultsWorkerPool } from '../results/results-worker-pool.ts';
import type { Progress } from '../statistics/paired/verdict.ts';
import { parseBatchDefinition } from '../store/batch-definition.ts';
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
  resultsWorkerPool: ResultsWorkerPool;
}

/** Computes the results of all runs, and returns them as JSON. `running` withholds verdicts that need the planned end. */
export function computeBatchResults(
  { database, resultsWorkerPool }: BatchResultsContext,
  experiment: ExperimentsTable,
  progress: Progress,
): Promise<string> {
  const definition = parseBatchDefinition(experiment);
  const { order, warnings: planWarnings = [], inputs_in_time_order = false, racing } = definition;
  const versions = new Map(Object.entries(definition.versions));
  return resultsWorkerPool.compute(
    {
      order,
      settings: definition,
      planWarnings,
      inputs_in_time_order,
      progress,
      seed: experiment.id,
      ...(racing ? { race: racing } : {}),
    },
    readObservations(database.read, experiment.uid, versions, {
      series: true,
      ensembles: order.ensembles !== undefined,
      deleted: true,
    }),
  );
}
