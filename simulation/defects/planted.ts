/**
 * Defects that are planted into the product to prove that the simulation finds them. Each replaces some text of a source when
 * a process loads it; the product itself has no switch.
 */
import type { SourcePatch } from '../process/messages.ts';

/** A defect. */
export interface PlantedDefect {
  name: string;
  patches: SourcePatch[];
  /** Only a plan with this step finds it; absent: any plan may. */
  step?: string;
}

/** Defines a defect that replaces one text of a file of the server. */
export const definePlanted = (
  name: string,
  file: string,
  old: string,
  replacement: string,
): PlantedDefect => ({
  name,
  patches: [{ file: `server/${file}`, old, new: replacement }],
});

export const PLANTED_DEFECTS: readonly PlantedDefect[] = [
  definePlanted(
    'a response does not wait for the sync',
    'platform/database/sqlite/group-commit.ts',
    'flush.flush().then(',
    'void flush.flush().catch(() => {});\n    Promise.resolve().then(',
  ),
  definePlanted(
    'a sync releases waiters that came after its begin',
    'platform/database/sqlite/group-commit.ts',
    'const finish = (error: unknown): void => {',
    'const finish = (error: unknown): void => {\n      group.push(...this.#waiting);',
  ),
  definePlanted(
    'a failing work of a group is not rolled back',
    'platform/database/sqlite/group-commit.ts',
    "control('rollback to work');",
    '',
  ),
  definePlanted(
    'the acknowledged position is stored before the sync',
    'platform/database/sqlite/group-commit.ts',
    'const recordEnd = prepare();',
    'prepare()();\n      const recordEnd = (): void => {};',
  ),
  definePlanted(
    'a response is stored in a transaction of its own',
    'platform/http/handlers/idempotency.ts',
    'return await handle((tx, response) => this.#insert(tx, request, fingerprint, response));',
    `return await handle(async (_, response) => {
        void this.#parts.database.transact((tx) => this.#insert(tx, request, fingerprint, response)).catch(() => {});
      });`,
  ),
  definePlanted(
    'the lease of an attempt is found without its fence and its worker',
    'runs/remote/attempts.ts',
    ".where('fence', '=', fence)\n    .where('worker_id', '=', workerId)\n",
    '',
  ),
  definePlanted(
    'a cancel changes a run that has ended',
    'runs/store/transitions.ts',
    ".where('status', 'in', RUN_ACTIONS.cancel)\n",
    '',
  ),
  definePlanted(
    'a second attempt needs no licence tokens',
    'runs/queue/claim-runs.ts',
    'return { ...describeDemand(run), licenses: readLicenses(run) };',
    "return { ...describeDemand(run), licenses: 'initiated_at' in run ? {} : readLicenses(run) };",
  ),
  definePlanted(
    'a quota admits one run more',
    'runs/queue/run-quota.ts',
    'Math.max(0, limit - (await countRunningRuns(db, account)))',
    'Math.max(0, limit + 1 - (await countRunningRuns(db, account)))',
  ),
  definePlanted(
    'a run has a sixth attempt',
    'runs/queue/requeue.ts',
    'run.attempt >= ATTEMPTS_MAX',
    'run.attempt > ATTEMPTS_MAX',
  ),
  definePlanted(
    'a deletion has no audit entry',
    'platform/http/handlers/commit.ts',
    'await auditLog.insertEntry(tx, action, { owner: this.#owner, body: selectBody(result) });',
    "if (action.operation.method !== 'DELETE')\n        await auditLog.insertEntry(tx, action, { owner: this.#owner, body: selectBody(result) });",
  ),
  definePlanted(
    'the list of live workers is read as empty',
    'runs/store/leases.ts',
    "eb.selectFrom('workers').select('workers.id').whereRef('workers.id', '=', 'runs.worker_id'),",
    "eb.selectFrom('workers').select('workers.id').whereRef('workers.id', '=', 'runs.id'),",
  ),
  definePlanted(
    'the run of a dead worker is not queued again',
    'runs/queue/orphan-recovery.ts',
    'return listOrphanedRuns(database.read, limit);',
    'return (await listOrphanedRuns(database.read, limit)).slice(1);',
  ),
  definePlanted(
    'a blob is removed before its row',
    'platform/blobs/contents.ts',
    'keys.push(...rows.flatMap((row) => row.blob_key ?? []));',
    'keys.push(...rows.flatMap((row) => row.blob_key ?? []));\n      for (const key of keys) await this.#blobs.remove(key);',
  ),
  definePlanted(
    'a job stops after its first failure',
    'platform/jobs/define-job.ts',
    'this.#running = run.then(end, end);',
    'this.#running = run.then(end, () => new Promise<void>(() => {}));',
  ),
  definePlanted(
    'a failed delivery is not repeated',
    'ops/webhooks/deliveries.ts',
    "const retries = outcome.status !== 'succeeded' &&",
    "const retries = outcome.status === 'timed_out' &&",
  ),
  definePlanted(
    'an event is sent before it is on the disk',
    'ops/webhooks/deliveries.ts',
    'if (claimed.length > 0) await database.whenDurable();',
    '',
  ),
  {
    name: 'an event is marked in a transaction before that of its deliveries',
    patches: [
      {
        file: 'server/ops/webhooks/fan-out.ts',
        old: '      await database.transact(async (tx) => {\n        await fanOutEvents(parts, tx, events);\n      });',
        new: `      const marked = await database.transact((tx) => claimPendingEvents(tx, events));
      await database.transact(async (tx) => {
        await fanOutEvents(parts, tx, events, marked);
      });`,
      },
      {
        file: 'server/ops/webhooks/fan-out.ts',
        old: 'async function fanOutEvents(parts: Parts, tx: Writer, events: readonly Pending[]): Promise<void> {\n  const claimed = await claimPendingEvents(tx, events);',
        new: 'async function fanOutEvents(parts: Parts, tx: Writer, events: readonly Pending[], claimed: Set<number>): Promise<void> {',
      },
    ],
  },
  definePlanted(
    'a key is read from memory after its end',
    'platform/database/sqlite/sqlite.ts',
    'onCommit: () => reused.clear(),',
    'onCommit: () => {},',
  ),
  definePlanted(
    'an attempt whose sync was lost is not sent again',
    'runs/remote/worker-syncs.ts',
    'return sentAt === undefined || this.#parts.clock.elapsed() - sentAt > REDELIVERY_MS;',
    'return sentAt === undefined;',
  ),
  definePlanted(
    'a run is found without its application',
    'runs/store/runs.ts',
    'return run?.application_uid === applicationUid ? run : undefined;',
    'return run;',
  ),
  definePlanted(
    'a worker gets runs for the free slots of an earlier sync',
    'runs/execute/claim-for-worker.ts',
    'known === undefined ? 0 : await countUnknown(tx, request, known)',
    'known === undefined ? 0 : 0 * (await countUnknown(tx, request, known))',
  ),
  definePlanted(
    'a group goes on after a full disk has rolled it back',
    'platform/database/sqlite/group-commit.ts',
    'if (!this.#parts.inTransaction()) throw error;',
    '',
  ),
  definePlanted(
    'the last usage record of a batch is removed and not counted',
    'accounts/usage/count-usage.ts',
    'for (const total of sumUsage(records)) await',
    'for (const total of sumUsage(records.length > 1 ? records.slice(1) : records)) await',
  ),
];
