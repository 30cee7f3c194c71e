/**
 * Advances shadow and switchback tests that have started. Plans the copies of captured runs, and ends tests at their limit,
 * their time or the end of their plan. Cancels the copies of canceled tests. Stores the results of ended tests once all runs
 * that count have ended. The work is in the rows and the due times come from the clock, so the class keeps no state.
 *
 * There are two jobs, because results can take seconds: while one job computes those of a test, the other copies runs and
 * ends tests.
 */
import { listTypesWith } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Database } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import { hasUnfinishedOriginalRuns } from '../../runs/store/experiment-runs.ts';
import { findRoute, hasCaptures } from '../../runs/store/routes.ts';
import { cancelUnfinishedRuns, hasOpenRuns } from '../operations/experiment-ends.ts';
import {
  clearResultsPending,
  listStartedExperiments,
  listTestsWithPendingResults,
  lockExperiment,
  writeExperimentResults,
} from '../store/experiments.ts';
import {
  computePlanEnd,
  parseShadowDefinition,
  parseSwitchbackDefinition,
} from '../store/online-test-definitions.ts';
import { resetPlanDraws } from '../store/plan-draws.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { transitionOnlineTest } from '../store/transitions.ts';
import { endOnlineTest, releaseBaseline } from './online-test-lifecycle.ts';
import type { OnlineTestResults } from './online-test-results.ts';
import { listUnreadOriginals } from './read-original-fields.ts';
import { endCopying, hasReachedRunLimit, planCopies } from './shadow-copies.ts';

interface Parts extends JobContext {
  database: Database;
  contents: Contents;
  tracing: Tracing | null;
  results: OnlineTestResults;
}

/** The longest delay from the due time to the end of a test. A request for the test ends it without a delay. */
const INTERVAL_MS = 1000;

interface TestWork {
  listTests(): Promise<ExperimentsTable[]>;
  handleTest(test: ExperimentsTable): Promise<unknown>;
}

/** The jobs that advance and finalise online tests, and the end of overdue tests on request. */
export class OnlineTests {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Defines the job that plans copies, ends tests, and cancels the copies of canceled tests. */
  advanceOnlineTestsJob(): Job {
    const { database } = this.#parts;
    return this.#defineJob('advance-online-tests', {
      async listTests() {
        const started = await listStartedExperiments(database.read, listTypesWith('isLive'));
        const pending = await listTestsWithPendingResults(database.read);
        return [
          ...started,
          ...pending.filter((test) => test.kind === 'shadow' && test.status === 'canceled'),
        ];
      },
      handleTest: (test) =>
        test.status === 'started' ? this.#advance(test) : cancelUnfinishedRuns(this.#parts, test.uid),
    });
  }

  /** Defines the job that computes and stores the results of ended tests. */
  finalizeOnlineTestsJob(): Job {
    const { database } = this.#parts;
    return this.#defineJob('finalize-online-tests', {
      listTests: async () => [
        ...(await listStartedExperiments(database.read, ['shadow'])),
        ...(await listTestsWithPendingResults(database.read)),
      ],
      handleTest: (test) =>
        test.status === 'started' ? this.#completeWhenOver(test) : this.#storePendingResults(test),
    });
  }

  #defineJob(name: string, { listTests, handleTest }: TestWork): Job {
    return defineJob<ExperimentsTable>(this.#parts, {
      name,
      intervalMs: INTERVAL_MS,
      wakeOn: ['online-tests-changed', 'runs-captured', 'runs-ended', 'runs-canceled'],
      listRows: listTests,
      formatKey: (test) => test.uid,
      handleRow: handleTest,
    });
  }

  /** Returns true when the time of the test has ended and its row is still started. */
  isOverdue(test: ExperimentsTable): boolean {
    if (test.status !== 'started') return false;
    const end =
      test.kind === 'shadow'
        ? parseShadowDefinition(test).until
        : computePlanEnd(parseSwitchbackDefinition(test));
    return end !== null && end <= this.#parts.clock.now();
  }

  /**
   * Ends the tests of an application whose time has ended, before a request reads them. A shadow test with copies stays
   * started until a job has computed its results.
   */
  async endOverdueTests(applicationUid: string): Promise<void> {
    const { database } = this.#parts;
    for (const test of await listStartedExperiments(database.read, listTypesWith('isLive'), applicationUid)) {
      if (!this.isOverdue(test)) continue;
      const advanced = await this.#advance(test);
      if (advanced.kind === 'shadow' && advanced.requested === 0) await this.#completeWhenOver(advanced);
    }
  }

  /** Advances the test and returns its row with the changes. */
  async #advance(test: ExperimentsTable): Promise<ExperimentsTable> {
    if (test.kind === 'shadow') return this.#advanceShadow(test);
    await this.#advanceSwitchback(test);
    return test;
  }

  async #advanceShadow(test: ExperimentsTable): Promise<ExperimentsTable> {
    const { database, clock } = this.#parts;
    const isOver = hasReachedRunLimit(test) || this.isOverdue(test);
    // The job handles the test at every pass until its last copies end: those passes need no transaction.
    if (isOver ? await this.#isReleased(test) : !(await hasCaptures(database.read, test.uid))) return test;
    const now = clock.now();
    const advanced = await database.transact(async (tx) => {
      const locked = await lockExperiment(tx, test.uid);
      if (locked?.status !== 'started') return undefined;
      if (isOver) return endCopying(tx, locked, now);
      const planned = await planCopies(tx, locked, now);
      // At the limit the test needs no further runs of the baseline.
      if (hasReachedRunLimit(planned)) await releaseBaseline(tx, planned);
      return planned;
    });
    if (!advanced) return test;
    if (advanced.requested !== test.requested) database.notify('runs-planned');
    // The deletion of an original can delete the last copy, so that no end of a run wakes the job that stores the results.
    if (isOver || hasReachedRunLimit(advanced)) database.notify('runs-ended');
    return advanced;
  }

  /** Returns true when the test has no captured runs left, and no route that could capture more. */
  async #isReleased(test: ExperimentsTable): Promise<boolean> {
    return !(await hasCaptures(this.#parts.database.read, test.uid)) && !(await this.#hasRoute(test));
  }

  async #hasRoute(test: ExperimentsTable): Promise<boolean> {
    const route = await findRoute(
      this.#parts.database.read,
      test.application_uid,
      parseShadowDefinition(test).baseline,
    );
    return route?.experimentUid === test.uid;
  }

  /** Completes a shadow test that captures no more runs, once its copies and their originals have ended. */
  async #completeWhenOver(test: ExperimentsTable): Promise<void> {
    const { database, clock } = this.#parts;
    if (!(hasReachedRunLimit(test) || this.isOverdue(test)) || !(await this.#isReleased(test))) return;
    if (await this.#isPending(test)) return;
    const now = clock.now();
    // These are the results of the planned end, which the row does not have yet.
    const results = await this.#parts.results.compute({ ...test, completed_at: now });
    await database.transact(async (tx) => {
      const locked = await lockExperiment(tx, test.uid);
      if (locked?.status !== 'started') return;
      const ending = { completed_at: now, updated_at: now };
      await transitionOnlineTest(tx, locked.uid, { from: 'started', to: 'completed' }, ending);
      await writeExperimentResults(tx, locked.uid, results);
    });
    database.notify('runs-ended');
  }

  async #advanceSwitchback(test: ExperimentsTable): Promise<void> {
    if (!this.isOverdue(test)) return;
    const { database, clock } = this.#parts;
    await database.transact(async (tx) => {
      const locked = await lockExperiment(tx, test.uid);
      if (locked?.status !== 'started') return;
      await releaseBaseline(tx, locked);
      await resetPlanDraws(tx, locked);
      const now = clock.now();
      await endOnlineTest(tx, locked, {
        status: 'completed',
        at: computePlanEnd(parseSwitchbackDefinition(locked)) ?? now,
        now,
      });
    });
    database.notify('runs-ended');
  }

  /** Stores the results of an ended test, once all runs that count have ended. */
  async #storePendingResults(test: ExperimentsTable): Promise<void> {
    const { database } = this.#parts;
    if (await this.#isPending(test)) return;
    const results = await this.#parts.results.compute(test);
    await database.transact(async (tx) => {
      if (!(await lockExperiment(tx, test.uid))) return;
      await writeExperimentResults(tx, test.uid, results);
      await clearResultsPending(tx, test.uid);
    });
  }

  /** Returns true while runs that count have not ended. The originals of a shadow test count too, with their fields. */
  async #isPending(test: ExperimentsTable): Promise<boolean> {
    const { uid, kind } = test;
    const { read } = this.#parts.database;
    if (await hasOpenRuns(read, uid)) return true;
    if (kind !== 'shadow') return false;
    return (await hasUnfinishedOriginalRuns(read, uid)) || (await listUnreadOriginals(read, test)).length > 0;
  }
}
