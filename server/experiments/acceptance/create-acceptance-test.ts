/** Creates acceptance tests: on a batch that is created with the test, or on one that exists. */
import { acceptance } from '@switchyard/contract/experiment-types/acceptance.ts';
import type { AcceptanceTestCreate } from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { lockLiveApplication } from '../../apps/applications/store.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { validateName } from '../../platform/http/requests/resource-names.ts';
import { makeId } from '../../platform/random.ts';
import { hasRunsEndedBy } from '../../runs/store/experiment-runs.ts';
import { applyControlChange, type ControlChange, computeControlChange } from '../batch/batch-control.ts';
import type { BatchResultsContext } from '../batch/batch-results.ts';
import { idInUse } from '../operations/experiment-operations.ts';
import { countRunsByExperiment } from '../operations/format-experiment.ts';
import type { AcceptanceDefinition } from '../store/acceptance-definition.ts';
import type { AcceptanceTestsTable } from '../store/acceptance-schema.ts';
import { countTestOnBatch } from '../store/acceptance-tests.ts';
import { lockExperiment } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { insertAcceptanceTest } from '../store/transitions.ts';
import { parseAcceptanceRequest } from './parse-acceptance-request.ts';

/** A valid request and the row to store. */
interface PreparedTest {
  id: ExperimentId;
  /** The batch experiment whose runs the test compares. */
  experimentId: ExperimentId;
  application: ApplicationsTable;
  definition: AcceptanceDefinition;
  /** The row without the uid of the batch. */
  row: AcceptanceTestsTable;
}

/** A test on a batch that exists, with the change it makes to the control of the batch. */
interface PreparedTestOnBatch {
  test: PreparedTest;
  batch: ExperimentsTable;
  change: ControlChange | null;
}

/** Builds the row of a test that is created with its batch. Throws a 400 for an invalid request. */
export function prepareTest(
  { clock, random }: Pick<Context, 'clock' | 'random'>,
  application: ApplicationsTable,
  body: AcceptanceTestCreate,
): PreparedTest {
  const requested = parseAcceptanceRequest(application, body);
  const definition = { ...requested, rules_before_results: true, created_batch: true };
  const id = body.id || makeId<ExperimentId>(random, 'acceptance');
  const experimentId = body.experiment_id || id;
  validateName(body.name, id);
  const now = clock.now();
  const row: AcceptanceTestsTable = {
    uid: makeId<string>(random, 'acceptance'),
    application_uid: application.uid,
    application_id: application.id,
    id,
    name: body.name,
    description: body.description ?? '',
    experiment_uid: '',
    experiment_id: experimentId,
    definition: JSON.stringify(definition),
    status: 'started',
    passed: null,
    error: '',
    method: null,
    metric_results: null,
    profiles: null,
    verdict: null,
    tests_on_batch: 1,
    created_at: now,
    updated_at: now,
  };
  return { id, experimentId, application, definition, row };
}

/** Inserts the test. Throws a 400 when the application has one of that id. */
export async function insertTest(tx: Writer, test: PreparedTest, batch: ExperimentsTable): Promise<void> {
  await lockLiveApplication(tx, test.application);
  if (!(await insertAcceptanceTest(tx, { ...test.row, experiment_uid: batch.uid }, batch)))
    throw idInUse(acceptance, test.id);
}

/** Computes what the test changes in the batch, and records whether the batch had results when the test was created. */
export async function prepareTestOnBatch(
  context: BatchResultsContext,
  test: PreparedTest,
  batch: ExperimentsTable,
): Promise<PreparedTestOnBatch> {
  const hadResults = await hasResultsBy(context.database.read, batch, test.row.created_at);
  const definition = { ...test.definition, rules_before_results: !hadResults, created_batch: false };
  return {
    test: { ...test, definition, row: { ...test.row, definition: JSON.stringify(definition) } },
    batch,
    change: await computeControlChange(context, batch, test.definition.control),
  };
}

/** Returns true when a run of the batch had an outcome at the given time. A deleted run counts: somebody may have read it. */
async function hasResultsBy(db: Reader, batch: ExperimentsTable, at: number): Promise<boolean> {
  if (batch.status !== 'started') return true;
  const { statuses, planned, refused } = (await countRunsByExperiment(db, [batch]))(batch);
  const existing = Object.values(statuses).reduce((total, count) => total + count, planned);
  return refused > 0 || existing < batch.requested || (await hasRunsEndedBy(db, batch.uid, at));
}

/**
 * Inserts the test, changes the batch, and returns the row of the test. Throws a 400 for a batch that was deleted, and a
 * `BatchChangedError` when the change has to be computed again.
 */
export async function insertTestOnBatch(
  tx: Writer,
  { test, batch, change }: PreparedTestOnBatch,
): Promise<AcceptanceTestsTable> {
  await insertTest(tx, test, batch);
  const locked = await lockExperiment(tx, batch.uid);
  if (!locked)
    throw badRequest(
      `experiment_id is ${quoteValue(test.experimentId)}, which was deleted during the request; name another batch experiment.`,
    );
  if (change) await applyControlChange(tx, batch, locked, change);
  return { ...test.row, tests_on_batch: await countTestOnBatch(tx, batch.uid, test.row.uid) };
}
