/**
 * Decides acceptance tests whose batch is over, each once: what came out is written only where nothing was before, so that
 * two processes or a second attempt change nothing, and it stays whatever becomes of the runs.
 */
import type { AcceptanceResults } from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { Reconciler } from '../../jobs/reconciler.ts';
import { errorMessage, type Log } from '../../log.ts';
import { listRunFailures } from '../../runs/store/failures.ts';
import { readObservations } from '../results/read-observations.ts';
import { computeInWorkerPool } from '../results/results-worker-pool.ts';
import type { AcceptanceDefinition } from '../store/acceptance-definition.ts';
import {
  listUndecidedAcceptanceTests,
  type UndecidedAcceptanceTest,
  writeAcceptanceDecision,
} from '../store/acceptance-tests.ts';
import { parseBatchDefinition } from '../store/batch-definition.ts';

const AT_ONCE = 8;
const EVERY_MS = 5000;
/** Different errors that are looked at; the first of each side is told. */
const FAILURES_MAX = 1000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
}

export function decideAcceptanceTestsJob({ database, clock, log }: Parts): Reconciler {
  const decide = async (test: UndecidedAcceptanceTest): Promise<void> => {
    const status = test.batch_status === 'failed' ? 'failed' : 'completed';
    const definition = JSON.parse(test.definition) as AcceptanceDefinition;
    const { versions } = parseBatchDefinition({ definition: test.batch_definition });
    const versionOf = new Map(Object.entries(versions));
    const failures = (await listRunFailures(database.read, test.experiment_uid, FAILURES_MAX)).map(
      // A run that could not be submitted would have had the version of its instance.
      (failure) => ({
        ...failure,
        version_id: failure.version_id || (versionOf.get(failure.instance_id) ?? ''),
      }),
    );
    const answer = await computeInWorkerPool(
      { kind: 'acceptance', definition, status, failures },
      readObservations(database.read, test.experiment_uid, versionOf),
    );
    const { passed, error = '', metric_results } = JSON.parse(answer) as AcceptanceResults;
    await database.transact((tx) =>
      writeAcceptanceDecision(tx, test.uid, {
        status,
        passed: passed ? 1 : 0,
        error,
        metric_results: JSON.stringify(metric_results),
      }),
    );
    database.notify('experiments-ended');
  };
  const reconciler = new Reconciler({
    name: 'decide acceptance tests',
    intervalMs: EVERY_MS,
    clock,
    log,
    run: async () => {
      for (let after = ''; ; ) {
        const tests = await listUndecidedAcceptanceTests(database.read, after, AT_ONCE);
        // One that cannot be decided, or takes long, must not keep others waiting.
        await Promise.all(
          tests.map((test) =>
            decide(test).catch((error: unknown) =>
              log.error(
                { test: test.uid, error: errorMessage(error) },
                'An acceptance test could not be decided; it will be tried again.',
              ),
            ),
          ),
        );
        if (tests.length < AT_ONCE) return;
        after = tests.at(-1)?.uid ?? after;
      }
    },
  });
  database.listen('experiments-ended', () => reconciler.wake());
  return reconciler;
}
