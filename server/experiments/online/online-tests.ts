/**
 * Moves shadow and switchback tests that have started: plans the copies of what a shadow test has had noted, ends what its
 * limit, its time or its plan ends, cancels the copies of what was canceled, and keeps the results of what is over once all
 * that counts for them has ended. Without state of its own: what is to be done is in the rows, and what is due is asked of
 * the clock, so that no run counts that was made after the end.
 *
 * There are two jobs, because results can take seconds: while one job computes those of a test, the other copies runs and
 * ends tests.
 */
import type { Contents } from '../../blobs/contents.ts';
import type { Database } from '../../database/database.ts';
import { defineJob, type Job, type JobContext } from '../../jobs/define-job.ts';
import { cancelRun } from '../../runs/execute/cancel-and-delete.ts';
import {
  hasUnfinishedOriginalRuns,
  hasUnfinishedRuns,
  listUnfinishedRuns,
} from '../../runs/store/experiment-runs.ts';
import { hasWaitingPlannedRuns } from '../../runs/store/planned-runs.ts';
import { findRoute, hasCaptures } from '../../runs/store/routes.ts';
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
import type { ExperimentsTable } from '../store/schema.ts';
import { transitionOnlineTest } from '../store/transitions.ts';
import { endOnlineTest, releaseBaseline } from './online-test-lifecycle.ts';
import type { OnlineTestResults } from './online-test-results.ts';
import { endCopying, hasReachedRunLimit, planCopies } from './shadow-copies.ts';

interface Parts extends JobContext {
  database: Database;
  contents: Contents;
  findings: OnlineTestResults;
}

/** A second at most from the end of a time to what it ends; who asks for a test ends its time at once. */
const INTERVAL_MS = 1000;
const CANCEL_BATCH_SIZE = 100;

interface TestWork {
  listTests(): Promise<ExperimentsTable[]>;
  handleTest(test: ExperimentsTable): Promise<unknown>;
}

export class OnlineTests {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Plans copies, ends tests that are over, and cancels the copies of canceled tests. */
  advanceOnlineTestsJob(): Job {
    const { database } = this.#parts;
    return this.#defineJob('advance-online-tests', {
      async listTests() {
        const started = await listStartedExperiments(database.read, ['shadow', 'switchback']);
        const pending = await listTestsWithPendingResults(database.read);
        return [
          ...started,
          ...pending.filter((test) => test.kind === 'shadow' && test.status === 'canceled'),
        ];
      },
      handleTest: (test) => (test.status === 'started' ? this.#advance(test) : this.#cancelCopies(test)),
    });
  }

  /** Computes and stores the results of tests that are over. */
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
      wakeOn: ['runs-captured', 'runs-ended', 'runs-canceled'],
      listRows: listTests,
      formatKey: (test) => test.uid,
      handleRow: handleTest,
    });
  }

  /** Whether the time of the test is over and its row does not say so yet. */
  isOverdue(test: ExperimentsTable): boolean {
    if (test.status !== 'started') return false;
    const end =
      test.kind === 'shadow'
        ? parseShadowDefinition(test).until
        : computePlanEnd(parseSwitchbackDefinition(test));
    return end !== null && end <= this.#parts.clock.now();
  }

  /**
   * Ends the tests of an application whose time is over, before somebody is told of them. A shadow test with copies is
   * completed when its numbers are known, which nobody waits for here.
   */
  async endOverdueTests(applicationUid: string): Promise<void> {
    const { database } = this.#parts;
    for (const test of await listStartedExperiments(
      database.read,
      ['shadow', 'switchback'],
      applicationUid,
    )) {
      if (!this.isOverdue(test)) continue;
      const moved = await this.#advance(test);
      if (moved.kind === 'shadow' && moved.requested === 0) await this.#completeWhenOver(moved);
    }
  }

  /** Answers the test as it is then. */
  async #advance(test: ExperimentsTable): Promise<ExperimentsTable> {
    if (test.kind === 'shadow') return this.#advanceShadow(test);
    await this.#advanceSwitchback(test);
    return test;
  }

  async #advanceShadow(test: ExperimentsTable): Promise<ExperimentsTable> {
    const { database, clock } = this.#parts;
    const isOver = hasReachedRunLimit(test) || this.isOverdue(test);
    // While its last copies end it is looked at again and again: it costs no transaction then.
    if (isOver ? await this.#isReleased(test) : !(await hasCaptures(database.read, test.uid))) return test;
    const now = clock.now();
    const moved = await database.transact(async (tx) => {
      const held = await lockExperiment(tx, test.uid);
      if (held?.status !== 'started') return undefined;
      if (isOver) return endCopying(tx, held, now);
      const planned = await planCopies(tx, held, now);
      // Nothing is left to plan then: it lets go of the rest.
      if (hasReachedRunLimit(planned)) await releaseBaseline(tx, planned);
      return planned;
    });
    if (!moved) return test;
    if (moved.requested !== test.requested) database.notify('runs-planned');
    // The original of its last copy may have gone, and the copy with it: then no run will end.
    if (isOver || hasReachedRunLimit(moved)) database.notify('runs-ended');
    return moved;
  }

  /** Whether nothing is noted for it, and nothing will be. */
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

  /** A shadow test that takes no more is over when its last copy and its last original are. */
  async #completeWhenOver(test: ExperimentsTable): Promise<void> {
    const { database, clock } = this.#parts;
    if (!(hasReachedRunLimit(test) || this.isOverdue(test)) || !(await this.#isReleased(test))) return;
    if (await this.#isPending(test)) return;
    const results = await this.#parts.findings.compute(test);
    await database.transact(async (tx) => {
      const held = await lockExperiment(tx, test.uid);
      if (held?.status !== 'started') return;
      const now = clock.now();
      const ending = { completed_at: now, updated_at: now };
      await transitionOnlineTest(tx, held.uid, { from: 'started', to: 'completed' }, ending);
      await writeExperimentResults(tx, held.uid, results);
    });
    database.notify('runs-ended');
  }

  async #advanceSwitchback(test: ExperimentsTable): Promise<void> {
    if (!this.isOverdue(test)) return;
    const { database, clock } = this.#parts;
    await database.transact(async (tx) => {
      const held = await lockExperiment(tx, test.uid);
      if (held?.status !== 'started') return;
      await releaseBaseline(tx, held);
      const now = clock.now();
      await endOnlineTest(tx, held, {
        status: 'completed',
        at: computePlanEnd(parseSwitchbackDefinition(held)) ?? now,
        now,
      });
    });
    database.notify('runs-ended');
  }

  /** Keeps the results of a test that is over. */
  async #storePendingResults(test: ExperimentsTable): Promise<void> {
    const { database } = this.#parts;
    if (await this.#isPending(test)) return;
    const results = await this.#parts.findings.compute(test);
    await database.transact(async (tx) => {
      if (!(await lockExperiment(tx, test.uid))) return;
      await writeExperimentResults(tx, test.uid, results);
      await clearResultsPending(tx, test.uid);
    });
  }

  /** A copy that has ended says nothing while its original has not. */
  async #isPending({ uid, kind }: ExperimentsTable): Promise<boolean> {
    const { read } = this.#parts.database;
    if ((await hasWaitingPlannedRuns(read, uid)) || (await hasUnfinishedRuns(read, uid))) return true;
    return kind === 'shadow' && hasUnfinishedOriginalRuns(read, uid);
  }

  async #cancelCopies({ uid }: ExperimentsTable): Promise<void> {
    const copies = await listUnfinishedRuns(this.#parts.database.read, uid, CANCEL_BATCH_SIZE);
    for (const copy of copies) if (copy.cancel_requested_at === null) await cancelRun(this.#parts, copy);
  }
}
