/** Defects of several servers on one PostgreSQL: of locks, leases, fences, and of what a lost connection leaves. */
import { definePlanted as define, type PlantedDefect } from './planted.ts';

export const POSTGRES_DEFECTS: readonly PlantedDefect[] = [
  {
    name: 'a claim has neither a lock nor a condition',
    patches: [
      {
        file: 'server/runs/queue/claim-runs.ts',
        old: "return locked(db, query, 'update skip locked');",
        new: 'return query;',
      },
      {
        file: 'server/runs/store/transitions.ts',
        old: "const started = await updateStatus(tx, { from: 'queued', to: 'running' }, columns)",
        new: "const started = await tx.updateTable('runs').set({ ...columns, status: 'running' })",
      },
    ],
  },
  define(
    'a lease is checked in a transaction before the write',
    'runs/store/transitions.ts',
    "if (guard.fence !== undefined) query = query.where('fence', '=', guard.fence);",
    '',
  ),
  define(
    'the licences of an account are read without a lock',
    'accounts/usage/licenses-store.ts',
    "return locked(tx, query, 'update').execute();",
    'return query.execute();',
  ),
  define(
    'an event is fanned out by two transactions',
    'runs/store/event-listeners.ts',
    "    .where('pending', '=', 1)\n    .returning('seq')",
    "    .returning('seq')",
  ),
  define(
    'a planned run is started by a leader that leads no more',
    'runs/submit/planned-run-starter.ts',
    'if (!(await claimPlannedRun(tx, row))) throw new AlreadyStartedError();',
    'await claimPlannedRun(tx, row);',
  ),
  define(
    'a transaction whose commit may have succeeded runs again',
    'platform/database/postgres/postgres.ts',
    'if (tries === ATTEMPTS_MAX || !isRetryable(error)) throw error;',
    "if (tries === ATTEMPTS_MAX || !(isRetryable(error) || readErrorCodes(error).code === 'ECONNRESET')) throw error;",
  ),
  define(
    'a leader does not notice that its lease has ended',
    'platform/jobs/leadership.ts',
    'this.#setLeader(this.#state.isHeld);',
    'if (this.#state.isHeld) this.#setLeader(true);',
  ),
  define(
    'a listener that reconnects does not read the tables again',
    'platform/database/postgres/postgres.ts',
    'for (const topic of TOPICS) onNotification(topic);',
    '',
  ),
  define(
    'two servers count the free slots of a worker at the same time',
    'runs/execute/claim-for-worker.ts',
    'await lockTableOrName(tx, { name: `claims of ${workerId}` });',
    '',
  ),
];
