/**
 * Backups of a busy server by the commands, with runs, short-lived inputs and a batch experiment. Each is restored twice: into
 * SQLite with a bucket, and from a backup of that into the database of the tests.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type S3Server, startS3Server } from '../../platform/blobs/testing/s3-server.ts';
import { createDatabase, dropDatabase } from '../../testing/database/postgres-server.ts';
import { pushApp } from '../../testing/fixtures/apps.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../testing/http/webhook-receiver.ts';
import {
  checkAssets,
  checkContents,
  checkRunEvents,
  checkRunOutcomes,
  listBlobsOnDisk,
  type ObservedRun,
  openQuery,
} from '../../testing/load/invariants.ts';
import {
  type AcknowledgedRun,
  LOAD_APP,
  LOAD_APPLICATION,
  LOAD_ENSEMBLE,
  RunLoad,
} from '../../testing/load/run-load.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { runBackupCommand, startCommand } from './testing/commands.ts';

const CLIENTS = 6;
const RUNS_BEFORE = 40;
const SECRET = 'tea at five';
/** JavaScript treats some of these characters as line ends. */
const DESCRIPTION = 'one\u2028two\u2029three\nfour "five" ✓';
/** Integers that a double does not hold. */
const EXACT_INTEGERS = ['9007199254740993', '9223372036854775807'];
const base = `/v1/applications/${LOAD_APPLICATION}`;
const postgres = inject('postgres');

let server: TestServer;
let s3: S3Server;
let receiver: WebhookReceiver;
let folder: string;
let ownKey: { id: string; token: string };
/** The runs that were accepted before the backup began. */
let before: AcknowledgedRun[];
let backedUp: { code: number | string; stdout: string; stderr: string };

const settings = (data: string, database: string): Record<string, string> => ({
  SWITCHYARD_DATA: data,
  ...(database ? { SWITCHYARD_DATABASE: database } : {}),
});
async function upload(text: string): Promise<string> {
  const { body } = await server.request('POST', `${base}/runs/uploadurl`);
  const { upload_id, upload_url } = body as { upload_id: string; upload_url: string };
  expectStatus(await server.request('PUT', upload_url, { token: null, body: text }), 200);
  return upload_id;
}

const PADDED = JSON.stringify({ n: 1, ms: 0, exit: 0, pad: 10, more: 'x'.repeat(100_000) });

/** Creates and deletes inputs with blobs until the returned function is called. */
function createAndDeleteInputs(): () => Promise<void> {
  let stopped = false;
  const unfinished = (async () => {
    for (let at = 0; !stopped; at += 1) {
      const body = { id: `passing-${at}`, name: 'Passing', upload_id: await upload(PADDED) };
      expectStatus(await server.request('POST', `${base}/inputs`, { body }), 201);
      expectStatus(await server.request('DELETE', `${base}/inputs/passing-${at}`), 204);
    }
  })();
  return async () => {
    stopped = true;
    await unfinished;
  };
}

beforeAll(async () => {
  [server, s3, receiver] = await Promise.all([
    startTestServer({ env: { SWITCHYARD_CAPACITY: '3' } }),
    startS3Server(),
    startWebhookReceiver(),
  ]);
  folder = mkdtempSync(join(tmpdir(), 'switchyard-backups-'));
  await pushApp(server, LOAD_APPLICATION, LOAD_APP, { executable_type: 'binary', runtime: 'shell' });
  expectStatus(await server.request('PUT', base, { body: { description: DESCRIPTION } }), 200);
  expectStatus(await server.request('POST', `${base}/ensembles`, { body: LOAD_ENSEMBLE }), 201);
  const secrets = [{ type: 'env', location: 'TEA', value: SECRET }];
  expectStatus(await server.request('POST', `${base}/secrets`, { body: { id: 'tea', secrets } }), 201);
  const hook = { id: 'hook', event_types: ['run.status'], endpoint_url: receiver.url, description: '' };
  expectStatus(await server.request('POST', '/v1/webhooks', { body: hook }), 201);
  ownKey = await server.createKey('operator');
  expectStatus(await server.request('POST', `${base}/versions`, { body: { id: 'v1', name: 'One' } }), 201);
  const instance = { id: 'one', name: 'One', version_id: 'v1' };
  expectStatus(await server.request('POST', `${base}/instances`, { body: instance }), 201);

  const load = new RunLoad(server, ['latest']);
  const clients = Array.from({ length: CLIENTS }, () => load.createRuns());
  const stop = createAndDeleteInputs();
  await server.waitUntil('runs-ended', async () => load.acknowledgedRuns.length >= RUNS_BEFORE);
  const slow = await upload(JSON.stringify({ n: 7, ms: 600, exit: 0, pad: 10 }));
  const input = { id: 'slow', name: 'Slow', upload_id: slow };
  expectStatus(await server.request('POST', `${base}/inputs`, { body: input }), 201);
  const set = { id: 'set', name: 'Set', inputs: [{ id: 'slow' }] };
  expectStatus(await server.request('POST', `${base}/experiments/inputsets`, { body: set }), 201);
  const batch = { id: 'batch', name: 'Batch', input_set_id: 'set', instance_ids: ['one'], repetitions: 6 };
  expectStatus(await server.request('POST', `${base}/experiments/batch`, { body: batch }), 201);
  const rows = EXACT_INTEGERS.map((minute) => sql`(${sql.raw(minute)}, 'any', 'any', 0)`);
  await server.runningServer.database.transact((tx) =>
    sql`insert into slot_minutes (minute, account_id, application_uid, slot_ms) values ${sql.join(rows)}`.execute(
      tx,
    ),
  );
  before = load.acknowledgedRuns.map((run) => ({ ...run, isCancelRequested: true }));
  backedUp = await runBackupCommand('backup', [folder], settings(server.dataFolder, server.databaseUrl));
  await stop();
  load.stop();
  await Promise.all(clients);
  expect(load.rejections).toEqual([]);
});
afterAll(async () => {
  await Promise.all([server.close(), s3.stop(), receiver.close()]);
  rmSync(folder, { recursive: true, force: true });
});

interface Target {
  data: string;
  env: Record<string, string>;
  query: Awaited<ReturnType<typeof openQuery>>['query'];
}

/** Restores into a new data folder, and removes it after `look`. */
async function withRestored(
  from: string,
  where: { postgres: boolean; s3: boolean },
  look: (target: Target) => Promise<void>,
): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'switchyard-restored-'));
  const name = `restored_${process.pid}`;
  const address = where.postgres ? await createDatabase(postgres, name) : '';
  const env = { ...settings(data, address), ...(where.s3 ? s3.env : {}) };
  try {
    const done = await runBackupCommand('restore', [from], env);
    expect(done).toMatchObject({ code: 0, stderr: '' });
    const { query, close } = await openQuery(data, address);
    try {
      await look({ data, env, query });
    } finally {
      await close();
    }
  } finally {
    rmSync(data, { recursive: true, force: true });
    if (address) await dropDatabase(postgres, name);
  }
}

/** Checks all acknowledged runs, events, contents and secrets on a restored server. */
async function checkServer(restart: ServerProcess, { data, env, query }: Target): Promise<void> {
  const seen = new Map<string, ObservedRun>();
  const unfinished = "select id from runs where status in ('queued', 'running')";
  const isOver = async (): Promise<boolean> => {
    const { body } = await restart.request('GET', `${base}/experiments/batch/batch/metadata`);
    return (body as { status: string }).status === 'completed' && (await query(unfinished)).length === 0;
  };
  await expect.poll(isOver).toBe(true);
  for (const { id } of before) {
    const { body } = await restart.request('GET', `${base}/runs/${id}`);
    seen.set(id, body as ObservedRun);
  }
  const { violations, lost } = checkRunOutcomes(before, seen, {
    killedRuns: new Set(),
    overlapsFullDisk: () => false,
  });
  expect({ violations, lost }).toEqual({ violations: [], lost: 0 });
  expect(await checkRunEvents(query)).toEqual([]);
  expect(await checkAssets(query)).toEqual([]);
  if (!('SWITCHYARD_BLOBS' in env))
    expect((await checkContents(query, listBlobsOnDisk(data))).violations).toEqual([]);

  const read = async (path: string, token = restart.token) => {
    const response = await restart.request('GET', path, { token });
    expectStatus(response, 200);
    return response.body as Record<string, unknown>;
  };
  expect(await read(`${base}/secrets/tea`)).toMatchObject({ secrets: [{ value: SECRET }] });
  expect(await read(base, ownKey.token)).toMatchObject({ description: DESCRIPTION });
  const [ended] = before.filter(
    ({ id, input }) => input.exit === 0 && seen.get(id)?.status_v2 === 'succeeded',
  );
  const logs = await read(`${base}/runs/${ended?.id}/logs`);
  expect(JSON.stringify(logs)).toContain(`run ${ended?.input.n}`);
}

const findBackupPath = (): string => join(folder, readdirSync(folder).find((name) => /^\d/.test(name)) ?? '');

describe('a backup under load', () => {
  test('succeeds, mentions the key, and is readable by its owner alone', () => {
    expect(backedUp).toMatchObject({ code: 0, stderr: '' });
    expect(backedUp.stdout).toContain('It holds the master key');
    const files = readdirSync(folder, { recursive: true, withFileTypes: true });
    const modes = files
      .filter((one) => one.isFile() && one.name !== 'lock')
      .map((one) => statSync(join(one.parentPath, one.name)).mode & 0o777);
    expect(new Set(modes)).toEqual(new Set([0o600]));
    expect(existsSync(join(folder, 'incoming'))).toBe(false);
  });

  test('A9: has integers beyond 2^53 as they are, and restores them so into either database', async () => {
    const list = `select cast(minute as text) as minute from slot_minutes where account_id = 'any' order by slot_minutes.minute`;
    for (const isPostgres of postgres === '' ? [false] : [false, true])
      await withRestored(folder, { postgres: isPostgres, s3: false }, async ({ query }) =>
        expect(await query(list)).toEqual(EXACT_INTEGERS.map((minute) => ({ minute }))),
      );
  });

  test('restores into SQLite and a bucket, and from there into the database of the tests', async () => {
    await withRestored(folder, { postgres: false, s3: true }, async (first) => {
      const ids = new Set((await first.query('select id from runs')).map((row) => row.id));
      expect(before.filter(({ id }) => !ids.has(id))).toEqual([]);
      expect(await first.query("select id from runs where status = 'running'")).not.toEqual([]);
      const restart = await startServerProcess({ dataFolder: first.data, env: first.env });
      const hop = mkdtempSync(join(tmpdir(), 'switchyard-hop-'));
      try {
        await checkServer(restart, first);
        const created = await restart.request('POST', `${base}/runs`, {
          body: { input: { n: 5, ms: 0, exit: 0, pad: 10 } },
        });
        const { run_id } = created.body as { run_id: string };
        await receiver.until((all) =>
          all.some((one) => one.text.includes(run_id) && one.text.includes('succeeded')),
        );
        expect(await runBackupCommand('backup', [hop], first.env)).toMatchObject({ code: 0, stderr: '' });
        await restart.kill('SIGTERM');
        await withRestored(hop, { postgres: postgres !== '', s3: false }, async (second) => {
          const number = 'select cast(max(seq) as integer) as last from run_events';
          expect(await second.query(number)).toEqual(await first.query(number));
          const last = await startServerProcess({ dataFolder: second.data, env: second.env });
          try {
            expect(last.token).toBe(server.token);
            const created = await last.request('POST', `${base}/runs`, {
              body: { input: { n: 6, ms: 0, exit: 0, pad: 10 } },
            });
            expectStatus(created, 202);
            await checkServer(last, second);
          } finally {
            await last.kill('SIGTERM');
          }
        });
      } finally {
        await restart.kill('SIGTERM');
        rmSync(hop, { recursive: true, force: true });
      }
    });
  });

  test('the next one copies only new blobs, and replaces the first with --keep 1', async () => {
    const first = findBackupPath();
    const done = await runBackupCommand(
      'backup',
      [folder, '--keep', '1'],
      settings(server.dataFolder, server.databaseUrl),
    );
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(Number(/, (\d+) were there/.exec(done.stdout)?.[1])).toBeGreaterThan(0);
    expect(existsSync(first)).toBe(false);
    const checked = await runBackupCommand('restore', [folder, '--check'], {});
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    expect(checked.stdout).toContain(findBackupPath());
    const listBackups = async () => (await server.client.call('getBackups')).body.items;
    const [made, ...older] = await listBackups();
    expect(older).toEqual([]);
    expect(made).toMatchObject({ folder: findBackupPath(), has_key: true, verified_at: null, problem: '' });
    expect([made?.rows, made?.blobs]).toEqual([expect.any(Number), expect.any(Number)]);
    expect(Number(made?.bytes)).toBeGreaterThan(Number(made?.copied_bytes));
    // With the settings of a running server, the check is recorded there.
    const own = settings(server.dataFolder, server.databaseUrl);
    const recorded = await runBackupCommand('restore', [folder, '--check'], own);
    expect(recorded).toMatchObject({ code: 0, stderr: '' });
    expect(await listBackups()).toMatchObject([{ verified_at: expect.any(String), problem: '' }]);
    const tables = join(findBackupPath(), 'tables');
    const damaged = join(tables, readdirSync(tables)[0] ?? '');
    const content = readFileSync(damaged);
    writeFileSync(damaged, 'damaged');
    expect((await runBackupCommand('restore', [folder, '--check'], own)).code).toBe(1);
    expect(await listBackups()).toMatchObject([{ problem: expect.stringContaining(damaged) }]);
    writeFileSync(damaged, content);
    const metrics = await server.request('GET', '/metrics');
    expect(metrics.text).toMatch(/^switchyard_backup_age_seconds \d/m);
  });

  test('a killed one is not a backup, and disturbs neither the next nor the server', async () => {
    const target = mkdtempSync(join(tmpdir(), 'switchyard-killed-'));
    const env = settings(server.dataFolder, server.databaseUrl);
    try {
      const { child, ended } = startCommand('backup', [target], env);
      await expect.poll(() => existsSync(join(target, 'incoming', 'tables'))).toBe(true);
      child.kill('SIGKILL');
      expect((await ended).code).toBe('SIGKILL');
      const refused = await runBackupCommand('restore', [target], { SWITCHYARD_DATA: join(target, 'none') });
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain('holds no whole backup, only an unfinished one');
      expect(await runBackupCommand('backup', [target], env)).toMatchObject({ code: 0 });
      expect(existsSync(join(target, 'incoming'))).toBe(false);
    } finally {
      rmSync(target, { recursive: true, force: true });
    }
  });
});
