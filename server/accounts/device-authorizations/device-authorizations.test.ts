/** Sign-in from another device: start, decision, redemption, and what ends it. */
import { DEVICE_CODE_HEADER } from '@switchyard/contract/account/sign-in/device-authorizations.ts';
import {
  DEVICE_AUTHORIZATION_SECONDS,
  DEVICE_AUTHORIZATIONS_MAX,
  NETWORK_DEVICE_AUTHORIZATIONS_MAX,
  USER_CODE_ALPHABET,
} from '@switchyard/contract/limits.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemRandom } from '../../platform/random.ts';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { DeviceCodes } from './device-codes.ts';

const PATH = '/v1/account/device-authorizations';
const clock = createManualClock(Date.parse('2026-11-23T08:00:00Z'));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.close());

const start = async (client_name = 'switchyard on build-7') =>
  (await server.client.call('startDeviceAuthorization', { body: { client_name } })).body;
const readStatus = (code: string) =>
  server.request('GET', `${PATH}/status`, { token: null, headers: { [DEVICE_CODE_HEADER]: code } });
const redeem = (device_code: string) =>
  server.request('POST', `${PATH}/token`, { token: null, body: { device_code } });
const approve = (user_code: string, { token = server.token, role }: { token?: string; role?: string } = {}) =>
  server.request('POST', `${PATH}/approve`, { token, body: { user_code, ...(role ? { role } : {}) } });
const deny = (user_code: string) => server.request('POST', `${PATH}/deny`, { body: { user_code } });

test('a user code has eight letters without vowels, each of which is as likely as any other', () => {
  const codes = new DeviceCodes(Buffer.alloc(32), systemRandom);
  const counts = new Map<string, number>();
  for (let count = 0; count < 5000; count += 1) {
    const code = codes.createUserCode();
    expect(code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
    for (const letter of code.replace('-', '')) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  // 40,000 letters: 2,000 of each are expected, with a standard deviation of 44.
  expect(counts.size).toBe(USER_CODE_ALPHABET.length);
  for (const count of counts.values()) expect(Math.abs(count - 2000)).toBeLessThan(6 * 44);
});

describe('an approved program', () => {
  test('gets one key of the person who approved, named after itself, with the chosen role', async () => {
    const person = await server.createKey('developer');
    const codes = await start();
    expect(codes.verification_uri_complete).toBe(`${server.url}/console/device?user_code=${codes.user_code}`);
    expect((await readStatus(codes.device_code)).body).toEqual({ status: 'pending' });
    expectError(await redeem(codes.device_code), 400, 'Nobody has approved');
    const found = await server.client.call('getDeviceAuthorization', {
      query: { user_code: codes.user_code.toLowerCase().replace('-', ' ') },
    });
    expect(found.body).toMatchObject({
      client_name: 'switchyard on build-7',
      address: '127.0.0.1',
      role: null,
    });

    expectError(await approve(codes.user_code, { token: person.token, role: 'admin' }), 403, 'admin');
    expectStatus(await approve(codes.user_code, { token: person.token, role: 'operator' }), 200);
    expect((await readStatus(codes.device_code)).body).toEqual({ status: 'approved' });
    expectError(await approve(codes.user_code), 404, 'already decided');

    const redeemed = await redeem(codes.device_code);
    expectStatus(redeemed, 201);
    const key = redeemed.body as { id: string; token: string };
    expect(key).toMatchObject({
      ...{ name: 'switchyard on build-7', role: 'operator' },
      created_by: { key_id: person.id },
    });
    const account = await server.request('GET', '/v1/account', { token: key.token });
    expect(account.body).toMatchObject({ key: { id: key.id } });
    for (const response of [await redeem(codes.device_code), await readStatus(codes.device_code)])
      expectError(response, 404, 'already redeemed');
    const { body } = await server.client.call('listAuditEntries', { query: { limit: 50 } });
    const entries = body.items.filter(({ resource }) => resource.device_authorization_id === found.body.id);
    expect(entries.map(({ operation, key_id, resource }) => [operation, key_id, resource.key_id])).toEqual([
      ['redeemDeviceAuthorization', null, key.id],
      ['approveDeviceAuthorization', person.id, undefined],
    ]);
  });

  test('has the role of the person without another choice', async () => {
    const { token } = await server.createKey('viewer');
    const { device_code, user_code } = await start();
    expect((await approve(user_code, { token })).body).toMatchObject({ role: 'viewer' });
    expect((await redeem(device_code)).body).toMatchObject({ role: 'viewer' });
  });

  test('gets nothing after the key of the person was revoked; its key ends with that of the person', async () => {
    const person = await server.createKey('operator');
    const [early, late] = [await start(), await start()];
    for (const { user_code } of [early, late]) await approve(user_code, { token: person.token });
    const { token } = (await redeem(early.device_code)).body as { token: string };
    await server.client.call('revokeKey', { params: { key_id: person.id } });
    expectError(await redeem(late.device_code), 403, 'revoked');
    expectError(await server.request('GET', '/v1/account', { token }), 401);
  });

  test('collects one key and has one decision, also from requests at the same moment', async () => {
    const { device_code, user_code } = await start();
    const decisions = await Promise.all([approve(user_code), approve(user_code)]);
    expect(decisions.map(({ status }) => status).sort()).toEqual([200, 404]);
    const redemptions = await Promise.all([redeem(device_code), redeem(device_code), redeem(device_code)]);
    expect(redemptions.map(({ status }) => status).sort()).toEqual([201, 404, 404]);
  });

  test('is invisible to other accounts', async () => {
    const { token } = await createOtherAccount(server, 'admin');
    const { user_code } = await start();
    await approve(user_code);
    expectError(await server.request('GET', `${PATH}?user_code=${user_code}`, { token }), 404);
  });
});

test('a denied program gets nothing', async () => {
  const { device_code, user_code } = await start();
  expectStatus(await deny(user_code), 200);
  expect((await readStatus(device_code)).body).toEqual({ status: 'denied' });
  expectError(await redeem(device_code), 403, 'denied');
  expectError(await approve(user_code), 404);
});

test('codes expire', async () => {
  const { device_code, user_code } = await start();
  await approve(user_code);
  clock.advance(DEVICE_AUTHORIZATION_SECONDS * 1000);
  expectError(await redeem(device_code), 404, 'expired');
  expectError(await deny((await start()).user_code.replace(/^./, 'A')), 404);
});

test('a status without a code says which header it needs', async () => {
  expectError(await server.request('GET', `${PATH}/status`, { token: null }), 400, DEVICE_CODE_HEADER);
});

test('neither code is in the database', async () => {
  const { device_code, user_code } = await start();
  const rows = await server.runningServer.database.read
    .selectFrom('device_authorizations')
    .selectAll()
    .execute();
  const text = JSON.stringify(rows);
  for (const secret of [device_code, user_code, user_code.replace('-', '')])
    expect(text).not.toContain(secret);
});

test('A3: the open requests of one network are bounded: another one replaces the oldest undecided one', async () => {
  clock.advance(DEVICE_AUTHORIZATION_SECONDS * 1000);
  const [approved, oldest] = [await start(), await start()];
  await approve(approved.user_code);
  for (let count = 2; count < NETWORK_DEVICE_AUTHORIZATIONS_MAX; count += 1) {
    clock.advance(1);
    await start();
  }
  expect((await readStatus(oldest.device_code)).body).toEqual({ status: 'pending' });
  const newest = await start();
  expectError(await readStatus(oldest.device_code), 404);
  expect((await readStatus(approved.device_code)).body).toEqual({ status: 'approved' });
  expect((await readStatus(newest.device_code)).body).toEqual({ status: 'pending' });
});

test('A3: on a full server another network replaces a request of the network with most', async () => {
  clock.advance(DEVICE_AUTHORIZATION_SECONDS * 1000);
  const { database } = server.runningServer;
  const { user_code } = await start();
  const found = await server.client.call('getDeviceAuthorization', { query: { user_code } });
  const row = await database.read
    .selectFrom('device_authorizations')
    .selectAll()
    .where('id', '=', found.body.id)
    .executeTakeFirstOrThrow();
  const rows = Array.from({ length: DEVICE_AUTHORIZATIONS_MAX - 1 }, (_, index) => ({
    ...row,
    ...{ id: `device-${index}` as typeof row.id, network: `10.0.0.${index % 90}` },
    ...{ device_code_hash: `device ${index}`, user_code_hash: `user ${index}` },
  }));
  await database.transact(async (tx) => {
    for (let at = 0; at < rows.length; at += 500)
      await tx
        .insertInto('device_authorizations')
        .values(rows.slice(at, at + 500))
        .execute();
  });
  const countRows = async (network: string): Promise<number> =>
    (
      await database.read
        .selectFrom('device_authorizations')
        .select('id')
        .where('network', '=', network)
        .where('expires_at', '>', clock.now())
        .execute()
    ).length;
  expect(await countRows('10.0.0.0')).toBe(23);
  await start();
  expect(await countRows('10.0.0.0')).toBe(22);
  expect(await countRows('127.0.0.1')).toBe(2);
});
