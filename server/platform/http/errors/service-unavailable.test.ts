/** Errors of the machine are 503 and retryable; other errors are internal. */
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

const errorWithCode = (code: string, message = 'no') => Object.assign(new Error(message), { code });

async function catchError(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('the call threw no error');
}

test('a SQLite database at its maximum size is a full disk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-full-'));
  try {
    const database = new DatabaseSync(join(folder, 'full.db'));
    database.exec('create table filled (content blob); pragma max_page_count = 3');
    const error = await catchError(() => database.exec('insert into filled values (zeroblob(100000))'));
    database.close();
    expect(classifyUnavailable(error)?.message).toContain('The disk of the server is full');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a PostgreSQL that does not exist or closes connections is temporarily unavailable', async () => {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const connect = () =>
    new pg.Client({ connectionString: `postgres://somebody@127.0.0.1:${port}/none` }).connect();
  expect(classifyUnavailable(await catchError(connect))?.message).toContain('temporarily unavailable');
  await new Promise((resolve) => server.close(resolve));
  expect(classifyUnavailable(await catchError(connect))?.message).toContain('temporarily unavailable');
});

test.each([
  ['no disk space for a file', errorWithCode('ENOSPC'), 'is full'],
  ['no quota for a file', errorWithCode('EDQUOT'), 'is full'],
  ['no disk space in PostgreSQL', errorWithCode('53100'), 'is full'],
  ['R2: no descriptor for a file', errorWithCode('EMFILE'), 'out of descriptors'],
  [
    'no descriptor for the package of a module that is imported late',
    new Error(
      'Cannot read package config /opt/switchyard/node_modules/yaml/package.json: too many open files.',
    ),
    'out of descriptors',
  ],
  ['no descriptor for a new thread', errorWithCode('ERR_WORKER_INIT_FAILED'), 'out of descriptors'],
  ['a PostgreSQL that shuts down', errorWithCode('57P01'), 'temporarily unavailable'],
  ['a PostgreSQL that starts', errorWithCode('57P03'), 'temporarily unavailable'],
  // SQLITE_IOERR_WRITE, which a full disk also causes.
  [
    'a disk that SQLite cannot write to',
    Object.assign(new Error('disk I/O error'), { errcode: 778 }),
    'temporarily unavailable',
  ],
  ['R5: a file system that became read-only', errorWithCode('EROFS'), 'is read-only'],
  [
    'R5: a database on a read-only file system',
    Object.assign(new Error('attempt to write a readonly database'), { errcode: 1032 }),
    'is read-only',
  ],
  ['R5: a read-only PostgreSQL', errorWithCode('25006'), 'is read-only'],
  [
    'R4: a malformed database',
    Object.assign(new Error('database disk image is malformed'), { errcode: 11 }),
    'is damaged',
  ],
  ['R5: a disk that fails', errorWithCode('EIO'), 'temporarily unavailable'],
  [
    'B20: a shared folder that was unmounted',
    new StoreUnavailableError('/mnt/blobs', null),
    'temporarily unavailable',
  ],
  ['an unavailable object store', new S3Error('no response', null, true), 'temporarily unavailable'],
  ['an error caused by a full disk', new Error('not written', { cause: errorWithCode('ENOSPC') }), 'is full'],
])('%s is an error of the machine', (_, error, words) => {
  expect(classifyUnavailable(error)?.message).toContain(words);
});

test.each([
  ['a missing column', errorWithCode('42703')],
  ['a duplicate row', errorWithCode('23505')],
  ['an object store that refuses the credentials', new S3Error('refused', 403, false)],
  ['an internal error', new TypeError('undefined is not a function')],
  ['a value that is not an Error', 'ENOSPC'],
])('%s is not an error of the machine', (_, error) => {
  expect(classifyUnavailable(error)).toBeNull();
});
