/**
 * R1: a start never deletes or overwrites data because its database is missing, empty, older or of another installation.
 * Each refusal compares the folder with its state before: names, bytes and times.
 */
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type S3Server, startS3Server } from '../../platform/blobs/testing/s3-server.ts';
import { systemClock } from '../../platform/clock.ts';
import { ConfigError, readConfig } from '../../platform/config.ts';
import { createDatabase, dropDatabase } from '../../testing/database/postgres-server.ts';
import { createApplication, expectStatus } from '../../testing/fixtures/resources.ts';
import { buildDiskFaults, openDiskFaults } from '../../testing/host/disk-faults.ts';
import { startServerProcess } from '../../testing/servers/server-process.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { runInstallationCommand } from './installation-command.ts';
import { findPenultimateCommit, hashFolderTree, listBlobKeys } from './testing/data-folders.ts';

const postgres = inject('postgres');
const HOUR_MS = 3_600_000;
const KEY = randomBytes(32).toString('base64');
const CONTENT = randomBytes(100_000);

let s3: S3Server;
const folders: string[] = [];
const databases: string[] = [];
beforeAll(async () => {
  s3 = await startS3Server();
});
afterAll(async () => {
  await s3.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  for (const name of databases) await dropDatabase(postgres, name);
});

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-start-'));
  folders.push(folder);
  return folder;
}

async function createEmptyDatabase(): Promise<string> {
  const name = `start_${process.pid}_${databases.push('')}`;
  databases[databases.length - 1] = name;
  return createDatabase(postgres, name);
}

const bucket = (prefix: string): Record<string, string> => ({
  ...s3.env,
  SWITCHYARD_BLOBS: `${s3.env.SWITCHYARD_BLOBS}&prefix=${prefix}/`,
});

/** Uploads content that is large enough for a blob. */
async function upload(server: TestServer, application: string): Promise<Upload> {
  const response = await server.request('POST', `/v1/applications/${application}/runs/uploadurl`);
  expectStatus(response, 200);
  const created = response.body as Upload;
  const put = await server.request('PUT', created.upload_url, { token: null, body: CONTENT });
  expectStatus(put, 200);
  return created;
}

/** Starts and stops a server with two blobs that are old enough for the clean-up. */
async function startAndStop(env: Record<string, string> = {}): Promise<TestServer> {
  const server = await startTestServer({ env });
  const application = await createApplication(server);
  for (let count = 0; count < 2; count += 1) await upload(server, application);
  await server.runningServer.close();
  const blobs = join(server.dataFolder, 'blobs');
  const old = (Date.now() - 2 * HOUR_MS) / 1000;
  if (!env.SWITCHYARD_BLOBS)
    for (const key of listBlobKeys(blobs)) utimesSync(join(blobs, key.slice(-2), key), old, old);
  return server;
}

function removeDatabase(data: string): void {
  for (const name of readdirSync(data)) if (name.startsWith('switchyard.db')) rmSync(join(data, name));
}

async function runQuery(server: TestServer, ...statements: string[]): Promise<Record<string, unknown>[]> {
  if (postgres) {
    const client = new pg.Client({ connectionString: server.databaseUrl });
    await client.connect();
    let rows: Record<string, unknown>[] = [];
    for (const one of statements) ({ rows } = await client.query(one));
    await client.end();
    return rows;
  }
  const database = new DatabaseSync(join(server.dataFolder, 'switchyard.db'));
  let rows: Record<string, unknown>[] = [];
  for (const one of statements) rows = database.prepare(one).all();
  database.close();
  return rows;
}

const countTables = async (address: string): Promise<number> => {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query(
    "select count(*)::int as n from information_schema.tables where table_schema = 'public'",
  );
  await client.end();
  return rows[0]?.n;
};

async function expectRefused(
  server: TestServer,
  env: Record<string, string>,
  ...expected: string[]
): Promise<void> {
  const before = hashFolderTree(server.dataFolder);
  const refused = await server.restart(env).then(
    () => 'started',
    (error: unknown) => error as Error,
  );
  expect(refused).toBeInstanceOf(ConfigError);
  const { message } = refused as ConfigError;
  for (const word of [...expected, 'Nothing was changed']) expect(message).toContain(word);
  expect(hashFolderTree(server.dataFolder)).toEqual(before);
}

describe('R1: a start is refused and changes nothing', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startAndStop();
  });
  afterAll(() => server.close());

  test.runIf(!postgres)(
    'a start on a missing database deletes no blob, as a process that exits with 1',
    async () => {
      const saved = createFolder();
      for (const name of readdirSync(server.dataFolder))
        if (name.startsWith('switchyard.db')) renameSync(join(server.dataFolder, name), join(saved, name));
      const before = hashFolderTree(server.dataFolder);
      await expect(startServerProcess({ dataFolder: server.dataFolder })).rejects.toThrow(
        /ended with 1 .*missing or empty[\s\S]*belongs to inst-[\s\S]*npm run restore[\s\S]*npm run installation -- adopt/,
      );
      expect(hashFolderTree(server.dataFolder)).toEqual(before);
      for (const name of readdirSync(saved)) renameSync(join(saved, name), join(server.dataFolder, name));
      await server.restart();
      await server.runningServer.close();
    },
  );

  test.runIf(postgres)(
    'a start on an empty PostgreSQL database deletes no blob and creates no table',
    async () => {
      const address = await createEmptyDatabase();
      await expectRefused(server, { SWITCHYARD_DATABASE: address }, 'missing or empty', 'adopt');
      expect(await countTables(address)).toBe(0);
    },
  );

  test.runIf(postgres)('a start without the variable creates no SQLite database next to the blobs', () =>
    expectRefused(
      server,
      { SWITCHYARD_DATABASE: '' },
      'switchyard.db is missing or empty',
      'SWITCHYARD_DATABASE',
    ),
  );

  test.runIf(postgres)('a start on the database of another program creates no table', async () => {
    const address = await createEmptyDatabase();
    const client = new pg.Client({ connectionString: address });
    await client.connect();
    await client.query('create table invoices (id int)');
    await client.end();
    await expectRefused(
      server,
      { SWITCHYARD_DATABASE: address },
      'tables of another program, such as invoices',
    );
    expect(await countTables(address)).toBe(1);
  });

  test('a start without its blobs', async () => {
    const saved = createFolder();
    renameSync(join(server.dataFolder, 'blobs'), join(saved, 'blobs'));
    await expectRefused(server, {}, 'is empty, but', 'names blobs', 'SWITCHYARD_BLOBS');
    mkdirSync(join(server.dataFolder, 'blobs'));
    cpSync(join(saved, 'blobs', 'installation.json'), join(server.dataFolder, 'blobs', 'installation.json'));
    await expectRefused(server, {}, 'is empty, but', 'names blobs', 'adopt');
    rmSync(join(server.dataFolder, 'blobs'), { recursive: true });
    renameSync(join(saved, 'blobs'), join(server.dataFolder, 'blobs'));
  });

  test('a start on the blobs of another installation', async () => {
    const other = await startAndStop();
    const saved = createFolder();
    renameSync(join(server.dataFolder, 'blobs'), join(saved, 'blobs'));
    cpSync(join(other.dataFolder, 'blobs'), join(server.dataFolder, 'blobs'), {
      recursive: true,
      preserveTimestamps: true,
    });
    await expectRefused(server, {}, 'belongs to inst-', 'two installations need separate ones');
    // Without ids, the blobs that the database names show whose store it is.
    rmSync(join(server.dataFolder, 'blobs', 'installation.json'));
    await expectRefused(server, {}, 'holds blobs of another installation: of 2');
    rmSync(join(server.dataFolder, 'blobs'), { recursive: true });
    renameSync(join(saved, 'blobs'), join(server.dataFolder, 'blobs'));
    await other.close();
  });

  test('a start without the master key creates no new one', async () => {
    const key = readFileSync(join(server.dataFolder, 'master-key'));
    rmSync(join(server.dataFolder, 'master-key'));
    const before = hashFolderTree(server.dataFolder);
    await expect(server.restart()).rejects.toThrow(/master key: set SWITCHYARD_KEY/);
    expect(hashFolderTree(server.dataFolder)).toEqual(before);
    writeFileSync(join(server.dataFolder, 'master-key'), key);
  });

  test('R5: a start on the database of a newer release names it', async () => {
    await runQuery(
      server,
      "insert into migrations (name, timestamp) values ('9999-from-tomorrow', '2030-01-01')",
    );
    await expectRefused(server, {}, 'belongs to a newer Switchyard, which has applied 9999-from-tomorrow');
    await runQuery(server, "delete from migrations where name = '9999-from-tomorrow'");
  });

  test('a start in a folder of another program empties none of its folders', async () => {
    const data = createFolder();
    mkdirSync(join(data, 'runner'));
    writeFileSync(join(data, 'runner', 'thesis.txt'), 'years of work');
    const before = hashFolderTree(data);
    await expect(startTestServer({ env: { SWITCHYARD_DATA: data } })).rejects.toThrow(
      /no server has run, and a start would empty .*runner/,
    );
    expect(hashFolderTree(data)).toEqual(before);
  });

  test('after all refusals the right settings start with all data', async () => {
    await server.restart();
    expect(listBlobKeys(join(server.dataFolder, 'blobs'))).toHaveLength(2);
    expect(readFileSync(join(server.dataFolder, 'root-token'), 'utf8').trim()).toBe(server.token);
    await server.runningServer.close();
  });
});

describe('R1: a killed server', () => {
  test.runIf(!postgres)('without its database keeps its WAL unchanged', async () => {
    const data = createFolder();
    const killed = await startServerProcess({ dataFolder: data });
    await killed.kill();
    rmSync(join(data, 'blobs', 'installation.json'));
    mkdirSync(join(data, 'blobs', 'aa'));
    writeFileSync(join(data, 'blobs', 'aa', 'b-foreignaa'), CONTENT);
    const before = hashFolderTree(data);
    expect(before['switchyard.db-wal']).toBeDefined();
    await expect(startServerProcess({ dataFolder: data })).rejects.toThrow(/holds blobs, and .* names none/);
    expect(hashFolderTree(data)).toEqual(before);
  });

  test.runIf(!postgres)(
    'with a WAL damaged before its first checkpoint keeps its blobs and a copy of the WAL',
    async () => {
      const data = createFolder();
      const killed = await startServerProcess({ dataFolder: data });
      const application = 'damaged';
      await killed.request('POST', '/v1/applications', { body: { id: application, name: 'Damaged' } });
      const wal = join(data, 'switchyard.db-wal');
      const response = await killed.request('POST', `/v1/applications/${application}/runs/uploadurl`);
      const { upload_url } = response.body as Upload;
      const put = await fetch(upload_url, { method: 'PUT', body: CONTENT });
      expect(put.status).toBe(200);
      await killed.kill();
      const [key = ''] = listBlobKeys(join(data, 'blobs'));
      const path = join(data, 'blobs', key.slice(-2), key);
      const old = (Date.now() - 2 * HOUR_MS) / 1000;
      utimesSync(path, old, old);
      const damaged = readFileSync(wal);
      const from = findPenultimateCommit(damaged) + 100;
      for (let at = from; at < from + 20; at += 1) damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      writeFileSync(wal, damaged);

      const lines: string[] = [];
      const again = await startServerProcess({ dataFolder: data, onLog: (line) => lines.push(line) });
      expect(lines.join('\n')).toContain('SQLite WAL damaged');
      expect(lines.join('\n')).toContain('Clean-up of blobs without a row is stopped');
      const [copy] = readdirSync(data).filter((name) => name.includes('-wal.damaged-'));
      expect(readFileSync(join(data, copy ?? '')).equals(damaged)).toBe(true);
      // The next start finds no damage, and the clean-up stays stopped.
      await again.kill('SIGTERM');
      expect(existsSync(path)).toBe(true);
      const config = readConfig({ SWITCHYARD_DATA: data });
      expect((await runInstallationCommand([], config)).output).toContain(
        'the log of the database is damaged',
      );
    },
  );
});

test('W16: a start on a full disk names the disk, not the host', async (context) => {
  const disk = buildDiskFaults(createFolder());
  if ('problem' in disk) return context.skip(`SKIPPING failing disks: ${disk.problem}`);
  const fault = { operation: 'write', file: 'start.sh', error: 'ENOSPC', first: 1, count: 1 } as const;
  openDiskFaults(disk.env)(fault);
  await expect(startServerProcess({ dataFolder: createFolder(), env: disk.env })).rejects.toThrow(
    /ENOSPC.*free space on the disk of SWITCHYARD_DATA/,
  );
});

describe('R1: one bucket', () => {
  test('and prefix serve one installation: the second is refused', async () => {
    const env = bucket('shared');
    await using first = await startTestServer({ env: { ...env, SWITCHYARD_KEY: KEY } });
    const before = readFileSync(join(first.dataFolder, 'root-token'), 'utf8');
    const second = createFolder();
    const other: Record<string, string> = postgres
      ? { SWITCHYARD_DATABASE: await createEmptyDatabase() }
      : {};
    const settings = { ...env, ...other, SWITCHYARD_DATA: second, SWITCHYARD_KEY: KEY };
    await expect(startTestServer({ env: settings })).rejects.toThrow(/the bucket .* belongs to inst-/);
    expect(readdirSync(second)).toEqual([]);
    expect(readFileSync(join(first.dataFolder, 'root-token'), 'utf8')).toBe(before);
  });
});

describe('R1: an older database', () => {
  test.runIf(!postgres)(
    'than the blobs stops the clean-up, with a warning, until an operator adopts',
    async () => {
      let aheadMs = 0;
      const clock = { ...systemClock, now: () => Date.now() + aheadMs };
      await using server = await startTestServer({ clock });
      const application = await createApplication(server);
      await server.runningServer.close();
      const saved = createFolder();
      cpSync(join(server.dataFolder, 'switchyard.db'), join(saved, 'switchyard.db'));
      await server.restart();
      await upload(server, application);
      await server.runningServer.close();
      removeDatabase(server.dataFolder);
      cpSync(join(saved, 'switchyard.db'), join(server.dataFolder, 'switchyard.db'));
      const config = readConfig({ SWITCHYARD_DATA: server.dataFolder });
      // The second start finds equal generations: the reason of the first remains.
      for (let start = 0; start < 2; start += 1) {
        aheadMs += 2 * HOUR_MS;
        await server.restart();
        await server.runningServer.close();
        expect(listBlobKeys(join(server.dataFolder, 'blobs'))).toHaveLength(1);
        const output = (await runInstallationCommand([], config)).output;
        expect(output).toContain('the database is older than the blobs: it has generation');
      }
      await runInstallationCommand(['adopt'], config);
      await server.restart();
      await expect.poll(() => listBlobKeys(join(server.dataFolder, 'blobs'))).toEqual([]);
      expect(readdirSync(join(server.dataFolder, 'blobs', '.trash'))).toHaveLength(1);
    },
  );
});

describe('R1: lost markers', () => {
  test('are written again when the store has blobs that the database names', async () => {
    await using server = await startAndStop();
    for (const path of ['installation.json', 'blobs/installation.json'])
      rmSync(join(server.dataFolder, path));
    await server.restart();
    const [row] = await runQuery(server, 'select id from installation_identity');
    for (const path of ['installation.json', 'blobs/installation.json'])
      expect(JSON.parse(readFileSync(join(server.dataFolder, path), 'utf8')).installation).toBe(row?.id);
    expect(listBlobKeys(join(server.dataFolder, 'blobs'))).toHaveLength(2);
  });
});

describe('R1: adoption by an operator', () => {
  test.runIf(!postgres)('creates a new installation with old blobs, and keeps the old token', async () => {
    await using server = await startAndStop();
    removeDatabase(server.dataFolder);
    const config = readConfig({ SWITCHYARD_DATA: server.dataFolder });
    expect(await runInstallationCommand([], config)).toMatchObject({ code: 1 });
    const { output } = await runInstallationCommand(['adopt'], config);
    expect(output).toMatch(/Renamed file of the earlier installation: root-token\.before-/);
    expect(await runInstallationCommand([], config)).toMatchObject({ code: 0 });
    await server.restart();
    expect(server.runningServer.firstStart?.token).not.toBe(server.token);
    const [saved] = readdirSync(server.dataFolder).filter((name) => name.startsWith('root-token.before-'));
    expect(readFileSync(join(server.dataFolder, saved ?? ''), 'utf8').trim()).toBe(server.token);
  });
});
