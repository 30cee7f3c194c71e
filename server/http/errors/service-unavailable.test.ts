/** Which errors are answered as trouble of the machine, to be tried again, and which stay faults of ours. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { expect, test } from 'vitest';
import { StoreUnavailableError } from '../../blobs/blob-store.ts';
import { S3Error } from '../../blobs/s3-requests.ts';
import { classifyUnavailable } from './service-unavailable.ts';

const withCode = (code: string, message = 'no') => Object.assign(new Error(message), { code });

async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test('a database that may grow no more is a full disk, as SQLite says it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-full-'));
  try {
    const database = new DatabaseSync(join(folder, 'full.db'));
    database.exec('create table filled (content blob); pragma max_page_count = 3');
    const error = await thrownBy(() => database.exec('insert into filled values (zeroblob(100000))'));
    database.close();
    expect(classifyUnavailable(error)?.message).toContain('The disk of the server is full');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a PostgreSQL that is not there, and one that hangs up, are away', async () => {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const connect = () =>
    new pg.Client({ connectionString: `postgres://somebody@127.0.0.1:${port}/none` }).connect();
  expect(classifyUnavailable(await thrownBy(connect))?.message).toContain('temporarily unavailable');
  await new Promise((resolve) => server.close(resolve));
  expect(classifyUnavailable(await thrownBy(connect))?.message).toContain('temporarily unavailable');
});

test.each([
  ['no room for a file', withCode('ENOSPC'), 'is full'],
  ['no quota for a file', withCode('EDQUOT'), 'is full'],
  ['no room in PostgreSQL', withCode('53100'), 'is full'],
  ['R2: no descriptor for a file', withCode('EMFILE'), 'out of descriptors'],
  ['a PostgreSQL that shuts down', withCode('57P01'), 'temporarily unavailable'],
  ['a PostgreSQL that starts', withCode('57P03'), 'temporarily unavailable'],
  // SQLITE_IOERR_WRITE, which a full disk gives as well.
  [
    'a disk that SQLite cannot write to',
    Object.assign(new Error('disk I/O error'), { errcode: 778 }),
    'temporarily unavailable',
  ],
  ['R5: a file system that became read-only', withCode('EROFS'), 'is read-only'],
  [
    'R5: a database on it',
    Object.assign(new Error('attempt to write a readonly database'), { errcode: 1032 }),
    'is read-only',
  ],
  ['R5: a PostgreSQL that takes no writes', withCode('25006'), 'is read-only'],
  [
    'R4: a malformed database',
    Object.assign(new Error('database disk image is malformed'), { errcode: 11 }),
    'is damaged',
  ],
  ['R5: a disk that fails', withCode('EIO'), 'temporarily unavailable'],
  [
    'B20: a shared folder that was unmounted',
    new StoreUnavailableError('/mnt/blobs', null),
    'temporarily unavailable',
  ],
  ['a store that is away', new S3Error('no answer', null, true), 'temporarily unavailable'],
  ['what was caused by no room', new Error('not written', { cause: withCode('ENOSPC') }), 'is full'],
])('%s is trouble of the machine', (_, error, words) => {
  expect(classifyUnavailable(error)?.message).toContain(words);
});

test.each([
  ['a column that is not there', withCode('42703')],
  ['a row that is there already', withCode('23505')],
  ['a store that refuses the credentials', new S3Error('refused', 403, false)],
  ['a fault of ours', new TypeError('undefined is not a function')],
  ['what is no error', 'ENOSPC'],
])('%s is none', (_, error) => {
  expect(classifyUnavailable(error)).toBeNull();
});
