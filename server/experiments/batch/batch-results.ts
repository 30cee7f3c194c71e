/** What came out of a batch experiment: kept once it is over, worked out from what has ended while it goes on. */
import type { Reader } from '../../database/database.ts';
import type { ExperimentCounts } from '../../runs/store/experiment-runs.ts';
import { countRunsByExperiment } from '../operations/format-experiment.ts';
import type { BatchResultsRequest } from '../results/batch-analysis.ts';
import { readObservations } from '../results/read-observations.ts';
import { computeInWorkerPool } from '../results/results-worker-pool.ts';
import { parseBatchDefinition } from '../store/batch-definition.ts';
import type { ExperimentsTable } from '../store/schema.ts';

/** What the numbers depend on: while this is the same, so are they. */
export async function readBatchState(
  db: Reader,
  experiment: ExperimentsTable,
): Promise<{ key: string; counts: ExperimentCounts }> {
  const counts = (await countRunsByExperiment(db, [experiment]))(experiment);
  return { key: keyOf(experiment, counts), counts };
}

function keyOf(experiment: ExperimentsTable, { statuses, refused }: ExperimentCounts): string {
  const { requested } = experiment;
  const { instances, versions } = parseBatchDefinition(experiment).order;
  // A run that joins is counted in `requested`, so that one that went and one that came do not look like none.
  return JSON.stringify([requested, refused, Object.entries(statuses).sort(), instances[0], versions[0]]);
}

/** Looks at every run of the experiment. */
export function computeBatchResults(db: Reader, experiment: ExperimentsTable): Promise<string> {
  const versions = new Map(Object.entries(parseBatchDefinition(experiment).versions));
  return computeInWorkerPool(
    buildBatchResultsRequest(experiment),
    readObservations(db, experiment.uid, versions),
  );
}

function buildBatchResultsRequest(experiment: ExperimentsTable): BatchResultsRequest {
  const { order, objectives } = parseBatchDefinition(experiment);
  return { order, objectives: objectives ?? {}, seed: experiment.id };
}
