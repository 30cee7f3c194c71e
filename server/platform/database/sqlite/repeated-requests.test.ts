/** A repeated request reads what the first one has committed, perhaps before its sync. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { expect, test } from 'vitest';
import { copySqliteTemplate } from '../../../testing/database/test-database.ts';
import { systemClock } from '../../clock.ts';
import { Idempotency } from '../../http/handlers/idempotency.ts';
import { systemRandom } from '../../random.ts';
import { openSqlite, openSqliteConnection } from './sqlite.ts';

test('a repeated request is answered after the sync of the first, and not when that sync fails', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-repeated-'));
  const path = join(folder, 'test.db');
  copySqliteTemplate(path);
  const syncs: ((error: Error | null) => void)[] = [];
  let onSync = (): void => {};
  const database = openSqlite(path, {
    clock: systemClock,
    connect: openSqliteConnection,
    startCheckpointer: () => ({ checkpoint: async () => {}, stop: async () => {} }),
    sync: (_, done) => {
      syncs.push(done);
      onSync();
    },
  });
  const nextSync = async (): Promise<(error: Error | null) => void> => {
    if (syncs.length === 0)
      await new Promise<void>((resolve) => {
        onSync = resolve;
      });
    return syncs.shift() ?? (() => {});
  };
  const idempotency = new Idempotency({
    ...{ database, clock: systemClock, random: systemRandom, key: Buffer.alloc(32, 1) },
  });
  const send = () =>
    idempotency.runOnce(
      {
        ...{ account: 'account-1' as AccountId, caller: null, key: 'order-1', run: null },
        ...{ operation: 'createRun', path: '/runs', body: Buffer.from('{}') },
      },
      (storeResponse) =>
        database.transact(async (tx) => {
          await storeResponse(tx, { status: 202 });
          return { status: 202 };
        }),
    );
  try {
    const first = send();
    const endFirst = await nextSync();
    let isAnswered = false;
    const repeated = send().then(
      () => {
        isAnswered = true;
      },
      (error: Error) => error.message,
    );
    endFirst(new Error('the disk failed'));
    await expect(first).rejects.toThrow('the disk failed');
    const endSecond = await nextSync();
    expect(isAnswered).toBe(false);
    endSecond(new Error('it failed again'));
    expect(await repeated).toBe('it failed again');
    const third = send();
    (await nextSync())(null);
    expect(await third).toEqual({ status: 202 });
  } finally {
    const closed = database.close();
    (await nextSync())(null);
    await closed;
    rmSync(folder, { recursive: true });
  }
});
