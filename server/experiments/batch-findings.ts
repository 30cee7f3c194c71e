/** What came out of a batch experiment: kept once it is over, worked out from what has ended while it goes on. */
import type { Reader } from '../database/database.ts';
import type { ExperimentCounts } from '../runs/experiment-runs.ts';
import { definitionOf, questionOf } from './batch-definition.ts';
import { countsOf } from './bodies.ts';
import { findingsOf } from './findings.ts';
import { observe } from './observe.ts';
import type { ExperimentsTable } from './schema.ts';

/** What the numbers depend on: while this is the same, so are they. */
export async function stateOf(
  db: Reader,
  experiment: ExperimentsTable,
): Promise<{ key: string; counts: ExperimentCounts }> {
  const counts = (await countsOf(db, [experiment]))(experiment);
  return { key: keyOf(experiment, counts), counts };
}

function keyOf(experiment: ExperimentsTable, { statuses, refused }: ExperimentCounts): string {
  const { requested } = experiment;
  const { instances, versions } = definitionOf(experiment).order;
  // A run that joins is counted in `requested`, so that one that went and one that came do not look like none.
  return JSON.stringify([requested, refused, Object.entries(statuses).sort(), instances[0], versions[0]]);
}

/** Looks at every run of the experiment. */
export function findBatch(db: Reader, experiment: ExperimentsTable): Promise<string> {
  const versions = new Map(Object.entries(definitionOf(experiment).versions));
  return findingsOf(questionOf(experiment), observe(db, experiment.uid, versions));
}
