/** `npm run verify` as an operator runs it: on a running server, on a stopped one, and on each kind of damage. */
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type S3Server, startS3Server } from '../../platform/blobs/testing/s3-server.ts';
import { createRunAndWait } from '../../testing/fixtures/apps.ts';
import { createVersion, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { hashFolderTree, listBlobKeys } from '../installation/testing/data-folders.ts';
import { type CommandResult, runBackupCommand } from './testing/commands.ts';

const postgres = inject('postgres');
const CONTENT = Buffer.from(JSON.stringify({ text: 'x'.repeat(200_000) }));

let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3Server();
});
afterAll(() => s3.stop());

async function startFilledServer(
  env: Record<string, string> = {},
): Promise<{ server: TestServer; env: Record<string, string> }> {
  const server = await startTestServer({ env });
  const application = await createVersion(server);
  for (let count = 0; count < 2; count += 1) {
    const response = await server.request('POST', `/v1/applications/${application}/runs/uploadurl`);
    const { upload_id, upload_url } = response.body as Upload;
    expectStatus(await server.request('PUT', upload_url, { token: null, body: CONTENT }), 200);
    await createRunAndWait(server, application, { body: { upload_id } });
  }
  for (const name of ['one', 'two'])
    await createRunAndWait(server, application, { body: { input: { name } } });
  const settings = {
    SWITCHYARD_DATA: server.dataFolder,
    ...(postgres ? { SWITCHYARD_DATABASE: server.databaseUrl } : {}),
    ...env,
  };
  return { server, env: settings };
}

/** Creates an index with the entries of another column. */
function damageIndex(path: string): void {
  const database = new DatabaseSync(path, { defensive: false });
  database.exec('create index spare on accounts (id); pragma writable_schema = on');
  database.exec("update sqlite_schema set sql = replace(sql, '(id)', '(name)') where name = 'spare'");
  database.close();
}

const verify = (env: Record<string, string>): Promise<CommandResult> => runBackupCommand('verify', [], env);

describe('a server without damage', () => {
  test('passes while it runs and after its stop, without a change of its files', async () => {
    const { server, env } = await startFilledServer();
    try {
      const running = await verify(env);
      expect(running).toMatchObject({ code: 0, stderr: '' });
      expect(running.stdout).toMatch(
        /Read \d+ rows of \d+ tables and 5 blobs \(\d+\u00a0kB\).*\nEverything is there/,
      );
      await server.runningServer.close();
      const before = hashFolderTree(server.dataFolder);
      expect(await verify(env)).toMatchObject({ code: 0, stderr: '' });
      expect(hashFolderTree(server.dataFolder)).toEqual(before);
    } finally {
      await server.close();
    }
  });

  test('passes with blobs in a bucket, and a changed object is reported', async () => {
    const { server, env } = await startFilledServer({
      ...s3.env,
    });
    try {
      expect(await verify(env)).toMatchObject({ code: 0, stderr: '' });
      const row = await server.runningServer.database.read
        .selectFrom('contents')
        .select('blob_key')
        .where('blob_key', 'is not', null)
        .executeTakeFirst();
      await s3.writeObject(`switchyard/${row?.blob_key}`, 'other');
      const { code, stdout: output } = await verify(env);
      expect(code).toBe(1);
      expect(output).toContain(`changed  blob ${row?.blob_key}`);
    } finally {
      await server.close();
    }
  });
});

describe('damage', () => {
  let server: TestServer;
  let output: string;
  let keys: string[];
  beforeAll(async () => {
    const filled = await startFilledServer();
    server = filled.server;
    const folder = join(server.dataFolder, 'blobs');
    const findPath = (key = ''): string => join(folder, key.slice(-2), key);
    keys = listBlobKeys(folder).filter((key) => statSync(findPath(key)).size === CONTENT.length);
    const { read } = server.runningServer.database;
    const contents = read.selectFrom('contents').select('id').where('blob_key', 'is', null).orderBy('id');
    const [first, second] = (await contents.execute()).map(({ id }) => id);
    await sql`delete from contents where id = ${first}`.execute(read);
    await sql`update contents set bytes = bytes + 1 where id = ${second}`.execute(read);
    const orphan = Buffer.from('{}');
    await sql`insert into contents (id, bytes, sha256, inline) values ('c-orphan', 2, ${hash('sha256', orphan)}, ${orphan})`.execute(
      read,
    );
    await sql`update installation_identity set clean_up_stopped = 'the database is older'`.execute(read);
    await server.runningServer.close();
    if (!postgres) damageIndex(join(server.dataFolder, 'switchyard.db'));
    rmSync(findPath(keys[0]));
    const changed = readFileSync(findPath(keys[1]));
    changed[5] = (changed[5] ?? 0) ^ 1;
    writeFileSync(findPath(keys[1]), changed);
    writeFileSync(findPath(keys[2]), readFileSync(findPath(keys[2])).subarray(0, 1000));
    mkdirSync(join(folder, 'zz'), { recursive: true });
    writeFileSync(join(folder, 'zz', 'b-lostzz'), 'old');
    utimesSync(join(folder, 'zz', 'b-lostzz'), 1, 1);
    const before = hashFolderTree(server.dataFolder);
    const ended = await verify(filled.env);
    expect(ended).toMatchObject({ code: 1, stderr: '' });
    expect(hashFolderTree(server.dataFolder)).toEqual(before);
    ({ stdout: output } = ended);
  });
  afterAll(() => server.close());

  test.each<[string, () => RegExp]>([
    [
      'a missing blob with the row that used it',
      () => new RegExp(`missing +blob ${keys[0]} +it is not in the blob store; used by \\w+ [\\w-]+`),
    ],
    [
      'a changed blob',
      () => new RegExp(`changed +blob ${keys[1]} +its SHA-256 is \\w{64}; \\w{64} was stored`),
    ],
    ['a truncated blob', () => new RegExp(`changed +blob ${keys[2]} +it has 1000 bytes; \\d+ were stored`)],
    ['a blob that no row names', () => /orphaned +blob b-lostzz +no row names it/],
    [
      'content that a row names and that is gone',
      () => /missing +content c-\w+ +\w+\.\w*content_id names it/,
    ],
    ['content that no row names', () => /orphaned +content c-orphan +no row names it/],
    [
      'content in the database of another length',
      () => /changed +content c-\w+ +it has \d+ bytes in the database/,
    ],
    ['a stopped clean-up', () => /installation +clean-up is stopped +the database is older/],
    [
      'the number of problems',
      () => new RegExp(`\n${postgres ? 8 : 9} problems\\. Restore missing and changed blobs from a backup`),
    ],
  ])('%s is named', (_, pattern) => expect(output).toMatch(pattern()));

  test.runIf(!postgres)('a damaged index is named', () =>
    expect(output).toMatch(/database +integrity_check +row 1 missing from index spare/),
  );
});

test('arguments and folders without a server cause exit code 2', async () => {
  expect(await runBackupCommand('verify', ['now'], {})).toMatchObject({
    code: 2,
    stderr: 'Usage: npm run verify\n',
  });
  const env = { SWITCHYARD_DATA: join(import.meta.dirname, 'nowhere') };
  expect((await verify(env)).stderr).toMatch(/There is no database at .*nowhere/);
});
