/**
 * Decides acceptance tests whose batch has ended. The transition writes the decision only for an undecided test, so two
 * processes or a second attempt change nothing. A decision stays when its runs are deleted.
 */
import { ANALYSIS_METHOD } from '@switchyard/contract/experiments/experiment-results.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';
import type { Database } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { listRunFailures } from '../../runs/store/failures.ts';
import type { RememberedQuestion } from '../questions/describe-question.ts';
import type { QuestionMemory } from '../questions/question-memory.ts';
import { describeMetrics } from '../questions/rules.ts';
import { SideCollector } from '../questions/side-collector.ts';
import { readObservations } from '../results/read-observations.ts';
import type { ResultsWorkerPool } from '../results/results-worker-pool.ts';
import { listPlannedInputs } from '../statistics/racing/race-plan.ts';
import { belongsToSide, parseAcceptanceDefinition } from '../store/acceptance-definition.ts';
import {
  listUndecidedAcceptanceTests,
  recordKnownResults,
  type UndecidedAcceptanceTest,
} from '../store/acceptance-tests.ts';
import { parseBatchDefinition } from '../store/batch-definition.ts';
import { transitionAcceptanceTest } from '../store/transitions.ts';

const BATCH_SIZE = 8;
const INTERVAL_MS = 5000;
/** Different errors to read; the reasons of a decision quote the first error of each side. */
const FAILURES_MAX = 1000;

interface Parts extends JobContext {
  database: Database;
  resultsWorkerPool: ResultsWorkerPool;
  questionMemory: QuestionMemory;
}

interface RememberedTest {
  test: UndecidedAcceptanceTest;
  collector: SideCollector;
  /** The option with the seed of the batch; undefined for none. */
  seedOption: string | undefined;
}

/** Stores the look at the question of the test. Returns the question, or undefined without an ended run. */
async function rememberTest(
  parts: Parts,
  { test, collector, seedOption }: RememberedTest,
): Promise<RememberedQuestion | undefined> {
  if (!collector.hasEnded) return undefined;
  const definition = parseAcceptanceDefinition(test);
  const { control, candidate } = definition;
  await parts.questionMemory.remember({
    ...{ experiment_uid: test.uid, runs_uid: test.experiment_uid, experiment_id: test.id },
    ...{ type: 'acceptance', application_uid: test.application_uid, created_at: test.created_at },
    rules: describeMetrics(definition),
    options: { areLive: false, ...(seedOption === undefined ? {} : { except: seedOption }) },
    sides: [
      {
        control: collector.listGroups((group) => belongsToSide(control, group)),
        candidate: collector.listGroups((group) => belongsToSide(candidate, group)),
      },
    ],
  });
  return parts.questionMemory.read(test.uid);
}

interface EvaluatedTest {
  status: 'completed' | 'failed';
  /** `AcceptanceResults` without the method, in JSON. */
  json: string;
  question: RememberedQuestion | undefined;
}

/** The worker thread computes the results; the other fields are stored as it returned them. */
const parseResults = createJsonParser(
  Type.Object({
    passed: Type.Boolean(),
    error: Type.Optional(Type.String()),
    metric_results: Type.Unknown(),
    profiles: Type.Unknown(),
  }),
);

/** Stores the results of the test with its new status. */
async function storeDecision(
  { database, clock }: Parts,
  test: UndecidedAcceptanceTest,
  { status, json, question }: EvaluatedTest,
): Promise<void> {
  const { passed, error = '', metric_results, profiles } = parseResults(json, 'The results of the test');
  await database.transact(async (tx) => {
    if (question?.wereResultsKnown) await recordKnownResults(tx, test);
    await transitionAcceptanceTest(
      tx,
      test.uid,
      { from: 'started', to: status },
      {
        at: clock.now(),
        passed: passed ? 1 : 0,
        error,
        method: ANALYSIS_METHOD,
        metric_results: JSON.stringify(metric_results),
        profiles: JSON.stringify(profiles),
      },
    );
  });
}

/** Defines the job that decides acceptance tests whose batch experiment has ended. */
export function decideAcceptanceTestsJob(parts: Parts): Job {
  const { database, resultsWorkerPool } = parts;
  const decide = async (test: UndecidedAcceptanceTest): Promise<void> => {
    const status = test.batch_status === 'failed' ? 'failed' : 'completed';
    const definition = parseAcceptanceDefinition(test);
    const {
      versions,
      order,
      cluster_by,
      features = [],
      inputs_in_time_order = false,
      racing,
      seed_option,
    } = parseBatchDefinition({ uid: test.experiment_uid, definition: test.batch_definition });
    const versionByInstance = new Map(Object.entries(versions));
    const failures = (await listRunFailures(database.read, test.experiment_uid, FAILURES_MAX)).map(
      // A run whose creation failed counts for the version of its instance.
      (failure) => ({
        ...failure,
        version_id: failure.version_id || (versionByInstance.get(failure.instance_id) ?? ''),
      }),
    );
    const collector = new SideCollector();
    const { json } = await resultsWorkerPool.compute(
      {
        kind: 'acceptance',
        definition,
        inputs: { ...(cluster_by ? { cluster_by } : {}), features },
        status,
        failures,
        planned_inputs: racing ? listPlannedInputs(racing) : order.inputs,
        inputs_in_time_order,
      },
      collector.collect(
        readObservations(database.read, test.experiment_uid, versionByInstance, {
          series: true,
          ensembles: order.ensembles !== undefined,
          deleted: true,
        }),
      ),
    );
    const question = await rememberTest(parts, { test, collector, seedOption: seed_option });
    await storeDecision(parts, test, { status, json, question });
    database.notify('experiments-ended');
  };
  return defineJob<UndecidedAcceptanceTest>(parts, {
    name: 'decide-acceptance-tests',
    intervalMs: INTERVAL_MS,
    wakeOn: ['experiments-ended'],
    batchSize: BATCH_SIZE,
    listRows: (limit, after) => listUndecidedAcceptanceTests(database.read, after?.uid ?? '', limit),
    formatKey: (test) => test.uid,
    handleRow: decide,
    // The computation of one test can take seconds.
    isParallel: true,
  });
}
