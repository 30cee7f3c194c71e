/** The bounds on what the app of one run can create, at their last row. */
import { CHILD_RUNS_MAX, RUN_UPLOADS_BYTES_MAX, RUN_UPLOADS_MAX } from '@switchyard/contract/limits.ts';
import type { RunId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireUploadCapacity } from '../../apps/uploads/store.ts';
import type { Writer } from '../../platform/database/database.ts';
import { insertQueuedRun } from '../../testing/database/insert-rows.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import { claimChild } from './children.ts';

const BATCH = 1000;

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await openTestDatabase();
});
afterAll(() => testDatabase.close());

async function insertBatches(count: number, insert: (numbers: number[]) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += BATCH)
    await insert(Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => from + index));
}

const insertUploads = (tx: Writer, run_id: RunId, count: number, partial_bytes: number): Promise<void> =>
  insertBatches(count, (numbers) =>
    tx
      .insertInto('uploads')
      .values(
        numbers.map((n) => ({
          ...{
            id: `${run_id}-${n}` as UploadId,
            application_uid: 'application',
            purpose: 'content' as const,
          },
          ...{ content_id: null, created_at: 1, attempt: null, partial_bytes, continued_at: null, run_id },
        })),
      )
      .execute(),
  );

test('A7: one run creates a bounded number of runs', async () => {
  await testDatabase.database.transact(async (tx) => {
    const parent = await insertQueuedRun(tx, { fence: 1 });
    await tx.updateTable('runs').set({ status: 'running' }).where('id', '=', parent).execute();
    await insertBatches(CHILD_RUNS_MAX - 1, (numbers) =>
      tx
        .insertInto('run_children')
        .values(
          numbers.map((n) => ({
            ...{ parent_run_id: parent, fingerprint: `print-${n}`, occurrence: 1, fence: 1 },
            run_id: `child-${n}` as RunId,
          })),
        )
        .execute(),
    );
    const claim = (name: string) =>
      claimChild(tx, { parent: { id: parent, fence: 1 }, fingerprint: name, newId: name as RunId, now: 1 });
    expect(await claim('last')).toBeNull();
    await expect(claim('more')).rejects.toMatchObject({
      status: 400,
      message: `The run ${parent} has created ${CHILD_RUNS_MAX} runs, the most that one run can create. Divide the work among several runs.`,
    });
  });
});

test.each([
  ['uploads', RUN_UPLOADS_MAX - 1, 0],
  ['bytes of uploads', 1, RUN_UPLOADS_BYTES_MAX - 1],
])('A7: one run requests a bounded number of %s', async (name, count, bytes) => {
  await testDatabase.database.transact(async (tx) => {
    const run = `run with ${name}` as RunId;
    await insertUploads(tx, run, count, bytes);
    await requireUploadCapacity(tx, run);
    await insertUploads(
      tx,
      `${run}, full` as RunId,
      count + (bytes === 0 ? 1 : 0),
      bytes === 0 ? 0 : bytes + 1,
    );
    await expect(requireUploadCapacity(tx, `${run}, full` as RunId)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('Divide the work among several runs.'),
    });
    await requireUploadCapacity(tx, 'another run' as RunId);
  });
});
