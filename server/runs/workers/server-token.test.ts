/** The worker token of the server itself, which its provisioner gives to workers. */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { systemRandom } from '../../platform/random.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import {
  createWorkerAuthenticator,
  deleteWorkerToken,
  ensureServerToken,
  listWorkerTokens,
} from './worker-tokens.ts';

const REQUEST = { account: 'account-a' as AccountId, name: 'Provisioner' };
const KEY = Buffer.alloc(32, 1);
let opened: TestDatabase;
beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(() => opened.close());

/** Returns the token as a server with the key gets it. */
const ensure = (key = KEY): Promise<string> =>
  opened.database.transact((tx) =>
    ensureServerToken(tx, { clock: systemClock, random: systemRandom, key }, REQUEST),
  );
const authenticate = (token: string) =>
  createWorkerAuthenticator({ ...opened, clock: systemClock, log: createLog('silent') })(token);

test('is the same one after a restart, until it is revoked', async () => {
  const token = await ensure();
  expect(await ensure()).toBe(token);
  expect(await authenticate(token)).toMatchObject({ worker: { servesAllAccounts: true, labels: null } });
  const [row] = await listWorkerTokens(opened.database.read, REQUEST.account);
  expect(JSON.stringify(row)).not.toContain(token);
  if (!row) throw new Error('There is no token.');
  await opened.database.transact((tx) => deleteWorkerToken(tx, REQUEST.account, row.id));
  const next = await ensure();
  expect(next).not.toBe(token);
  expect(await authenticate(token)).toBeNull();
  expect(await authenticate(next)).not.toBeNull();
});

test('is another one for another key', async () => {
  const token = await ensure();
  const other = await ensure(Buffer.alloc(32, 2));
  expect(other).not.toBe(token);
  expect(await authenticate(other)).not.toBeNull();
});
