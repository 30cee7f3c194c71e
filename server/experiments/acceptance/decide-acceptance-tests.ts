/**
 * Decides acceptance tests whose batch has ended. The transition writes the decision only for an undecided test, so two
 * processes or a second attempt change nothing. A decision stays when its runs are deleted.
 */
import type { AcceptanceResults } from '@switchyard/contract/experiments/acceptance-results.ts';
import type { Database } from '../../database/database.ts';
import { defineJob, type Job, type JobContext } from '../../jobs/define-job.ts';
import { listRunFailures } from '../../runs/store/failures.ts';
import { readObservations } from '../results/read-observations.ts';
import type { ResultsWorkerPool } from '../results/results-worker-pool.ts';
import { listPlannedInputs } from '../statistics/racing/race-plan.ts';
import { parseAcceptanceDefinition } from '../store/acceptance-definition.ts';
import { listUndecidedAcceptanceTests, type UndecidedAcceptanceTest } from '../store/acceptance-tests.ts';
import { parseBatchDefinition } from '../store/batch-definition.ts';
import { transitionAcceptanceTest } from '../store/transitions.ts';

const BATCH_SIZE = 8;
const INTERVAL_MS = 5000;
/** Different errors to read; the reasons of a decision quote the first error of each side. */
const FAILURES_MAX = 1000;

interface Parts extends JobContext {
  database: Database;
  resultsWorkerPool: ResultsWorkerPool;
}

/** Defines the job that decides acceptance tests whose batch experiment has ended. */
export function decideAcceptanceTestsJob(parts: Parts): Job {
  const { database, clock, resultsWorkerPool } = parts;
  const decide = async (test: UndecidedAcceptanceTest): Promise<void> => {
    const status = test.batch_status === 'failed' ? 'failed' : 'completed';
    const definition = parseAcceptanceDefinition(test);
    const {
      versions,
      order,
      cluster_by = [],
      features = [],
      inputs_in_time_order = false,
      racing,
    } = parseBatchDefinition({
      definition: test.batch_definition,
    });
    const versionByInstance = new Map(Object.entries(versions));
    const failures = (await listRunFailures(database.read, test.experiment_uid, FAILURES_MAX)).map(
      // A run whose creation failed counts for the version of its instance.
      (failure) => ({
        ...failure,
        version_id: failure.version_id || (versionByInstance.get(failure.instance_id) ?? ''),
      }),
    );
    const results = await resultsWorkerPool.compute(
      {
        kind: 'acceptance',
        definition,
        inputs: { cluster_by, features },
        status,
        failures,
        planned_inputs: racing ? listPlannedInputs(racing) : order.inputs,
        inputs_in_time_order,
      },
      readObservations(database.read, test.experiment_uid, versionByInstance, {
        series: true,
        ensembles: order.ensembles !== undefined,
        deleted: true,
      }),
    );
    const { passed, error = '', method, metric_results, profiles } = JSON.parse(results) as AcceptanceResults;
    await database.transact((tx) =>
      transitionAcceptanceTest(
        tx,
        test.uid,
        { from: 'started', to: status },
        {
          at: clock.now(),
          passed: passed ? 1 : 0,
          error,
          method,
          metric_results: JSON.stringify(metric_results),
          profiles: JSON.stringify(profiles),
        },
      ),
    );
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
