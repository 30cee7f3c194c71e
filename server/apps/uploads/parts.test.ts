/** Uploads in parts: durable parts, wrong offsets, cut connections, two writers, and a killed server. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import type { UploadId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type S3Server, startS3Server } from '../../platform/blobs/testing/s3-server.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun } from '../../testing/fixtures/apps.ts';
import { createVersion, expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { openSocket, sendRaw } from '../../testing/http/raw-sockets.ts';
import { type Part, readOffset, sendCutPart, sendPart, sendSigned } from '../../testing/http/upload-parts.ts';
import { countRowsByTable, listBlobs } from '../../testing/servers/orphan-rows.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

type AnyServer = Pick<TestServer | ServerProcess, 'request' | 'client' | 'url'>;

/** Without a slot for the runs of this test, so that they stay queued. */
const IDLE = { SWITCHYARD_CAPACITY: '0,16c60gb12h=1' };
const MINUTE_MS = 60_000;

let ahead = 0;
/** The system clock, which a test can advance. */
const clock: Clock = { ...systemClock, now: () => Date.now() + ahead };
let s3: S3Server;
let onDisk: TestServer;
let onS3: TestServer;
const applications = new Map<AnyServer, string>();
beforeAll(async () => {
  s3 = await startS3Server();
  onDisk = await startTestServer({ env: IDLE, clock });
  onS3 = await startTestServer({
    env: {
      ...IDLE,
      ...s3.env,
    },
  });
  for (const server of [onDisk, onS3]) applications.set(server, await createVersion(server));
});
afterAll(async () => {
  await onDisk.close();
  await onS3.close();
  await s3.stop();
});

/** Returns JSON text of that length in which no two parts are equal. */
function createText(bytes: number): Buffer {
  const hex = createHash('shake256', { outputLength: bytes / 2 })
    .digest()
    .toString('hex');
  return Buffer.from(`"${hex.slice(0, bytes - 2)}"`);
}

async function requestUpload(server: AnyServer, token?: string): Promise<Upload> {
  const path = `/v1/applications/${applications.get(server)}/runs/uploadurl`;
  const response = await server.request('POST', path, token === undefined ? {} : { token });
  expectStatus(response, 200);
  return response.body as Upload;
}

/** Counts the stored parts of the upload. */
async function countParts(id: string): Promise<number> {
  const parts = onDisk.runningServer.database.read.selectFrom('upload_parts').select('first_byte');
  return (await parts.where('upload_id', '=', id as UploadId).execute()).length;
}

/** Returns the content of an upload, as a run reads it. */
async function readContent(server: AnyServer, upload_id: string): Promise<string> {
  const application = applications.get(server) ?? '';
  const run = await createRun(server, application, { body: { upload_id } });
  const response = await server.request(
    'GET',
    `/v1/applications/${application}/runs/${run}/input?format=url`,
  );
  expectStatus(response, 200);
  return (await sendSigned('GET', (response.body as { url: string }).url)).text;
}

describe.each<[string, () => TestServer]>([
  ['on disk', () => onDisk],
  ['on S3', () => onS3],
])('an upload in parts %s', (_, getServer) => {
  const content = createText(1_500_000);
  const first = content.subarray(0, 700_000);
  const second = content.subarray(700_000, 1_000_000);
  const third = content.subarray(1_000_000);

  test('joins its parts, of which nothing stays', async () => {
    const server = getServer();
    const { upload_id, upload_url } = await requestUpload(server);
    const { contents, upload_parts } = await countRowsByTable(server);
    const blobs = listBlobs(onDisk).length;
    expect(await readOffset(upload_url)).toBe('0 ?0');
    const one = await sendPart(upload_url, { offset: 0, body: first });
    expectStatus(one, 204);
    expect(one.headers.get('upload-offset')).toBe('700000');
    expect(one.headers.get('upload-complete')).toBe('?0');
    expectStatus(await sendPart(upload_url, { offset: 700_000, body: second }), 204);
    expect(await readOffset(upload_url)).toBe('1000000 ?0');
    const state = await sendSigned('GET', upload_url);
    expect(state.body).toEqual({ offset: 1_000_000, complete: false });
    expect(state.headers.get('upload-limit')).toBe('max-size=524288000');
    const last = { offset: 1_000_000, body: third, isLast: true, length: content.length };
    const end = await sendPart(upload_url, last);
    expectStatus(end, 200);
    expect(end.headers.get('upload-complete')).toBe('?1');
    expect(await readOffset(upload_url)).toBe('1500000 ?1');
    expect(await countRowsByTable(server)).toMatchObject({ contents: (contents ?? 0) + 1, upload_parts });
    if (server === onDisk) expect(listBlobs(onDisk)).toHaveLength(blobs + 1);
    expect((await readContent(server, upload_id)) === content.toString()).toBe(true);
    expectError(await sendPart(upload_url, last), 400, 'used already');
    expectError(await sendSigned('PUT', upload_url, { body: '{}' }), 400, 'used already');
  });

  test('continues at the last byte that arrived before the connection broke', async () => {
    const server = getServer();
    const { upload_id, upload_url } = await requestUpload(server);
    await sendCutPart(server, upload_url, {
      ...{ offset: 0, body: content.subarray(0, 300_000) },
      headers: `Content-Length: ${content.length}`,
    });
    await expect.poll(() => readOffset(upload_url)).toMatch(/^[1-9]/);
    const stored = await readOffset(upload_url);
    const offset = Number.parseInt(stored, 10);
    expect(stored).toBe(`${offset} ?0`);
    expect(offset).toBeLessThanOrEqual(300_000);
    const rest = { offset, body: content.subarray(offset), isLast: true };
    expectStatus(await sendPart(upload_url, rest), 200);
    expect((await readContent(server, upload_id)) === content.toString()).toBe(true);
  });
});

test('an offset that is read after a cut has the bytes that arrived, also while they are being stored', async () => {
  const { upload_id, upload_url } = await requestUpload(onDisk);
  const listStored = () =>
    readdirSync(join(onDisk.dataFolder, 'blobs'), { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && !entry.parentPath.includes('incoming'),
    ).length;
  const stored = listStored();
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // The row of the cut part waits for this transaction.
  const locking = onDisk.runningServer.database.transact(async (tx) => {
    const upload = tx.updateTable('uploads').where('id', '=', upload_id as UploadId);
    await upload.set({ purpose: 'content' }).execute();
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const body = Buffer.alloc(100_000, 'x');
  const incoming = join(onDisk.dataFolder, 'blobs', 'incoming');
  await sendCutPart(onDisk, upload_url, {
    ...{ offset: 0, body, headers: 'Content-Length: 200000' },
    // PostgreSQL takes longer to look the upload up than the connection to break.
    receives: () => expect.poll(() => readdirSync(incoming).length).toBe(1),
  });
  await expect.poll(listStored).toBe(stored + 1);
  const read = readOffset(upload_url);
  const sendOthers = async (): Promise<string> => {
    for (let count = 0; count < 10; count += 1) expectStatus(await onDisk.request('GET', '/healthz'), 200);
    return 'waits';
  };
  expect(await Promise.race([read, sendOthers()])).toBe('waits');
  released.resolve();
  await locking;
  expect(await read).toBe('100000 ?0');
});

describe('an upload in one part, and an empty last part', () => {
  test('are complete without another request', async () => {
    const { upload_id, upload_url } = await requestUpload(onDisk);
    expectStatus(await sendPart(upload_url, { offset: 0, body: '"whole"', isLast: true }), 200);
    expect(await readContent(onDisk, upload_id)).toBe('"whole"');

    const parts = await requestUpload(onDisk);
    const blobs = listBlobs(onDisk).length;
    expectStatus(await sendPart(parts.upload_url, { offset: 0, body: '"parts"' }), 204);
    expectStatus(await sendPart(parts.upload_url, { offset: 7, isLast: true, length: 7 }), 200);
    expect(listBlobs(onDisk)).toHaveLength(blobs + 1);
    expect(await readContent(onDisk, parts.upload_id)).toBe('"parts"');
  });

  test('a PUT replaces parts that were sent before', async () => {
    const { upload_id, upload_url } = await requestUpload(onDisk);
    const blobs = listBlobs(onDisk).length;
    expectStatus(await sendPart(upload_url, { offset: 0, body: 'part' }), 204);
    expectStatus(await sendSigned('PUT', upload_url, { body: '"put"' }), 200);
    expect(await countParts(upload_id)).toBe(0);
    expect(listBlobs(onDisk)).toHaveLength(blobs + 1);
    expect(await readContent(onDisk, upload_id)).toBe('"put"');
  });
});

describe('a refused part stores nothing:', () => {
  let url: string;
  let uploadId: string;
  beforeAll(async () => {
    ({ upload_url: url, upload_id: uploadId } = await requestUpload(onDisk));
    expectStatus(await sendPart(url, { offset: 0, body: '12345' }), 204);
  });

  test.each<[string, Part, 400 | 409, string]>([
    ['overlaps the bytes before', { offset: 3, body: '456' }, 409, 'Continue at byte 5'],
    ['begins at 0 again', { offset: 0, body: '12345' }, 409, 'the server has 5 bytes'],
    ['begins after the end', { offset: 6, body: '7', isLast: true }, 409, 'Upload-Offset is 6'],
    ['is empty and not the last', { offset: 5 }, 400, 'The part is empty'],
    ['has a negative offset', { offset: -1, body: 'x' }, 400, 'Upload-Offset is "-1"'],
    ['has an offset that is no number', { offset: '5, 5', body: 'x' }, 400, 'Upload-Offset is "5, 5"'],
    ['has an endless offset', { offset: '9'.repeat(40), body: 'x' }, 400, 'it must be a number of bytes'],
    ['is longer than its content', { offset: 5, body: '678', length: 7 }, 400, 'has 8 bytes with this part'],
    ['ends before its content', { offset: 5, body: '6', isLast: true, length: 9 }, 400, 'Upload-Length is 9'],
    ['has too large a content', { offset: 5, body: '6', length: 524_288_001 }, 400, 'at most 524288000'],
    ['has a length that is no number', { offset: 5, body: '6', length: 'x' }, 400, 'Upload-Length is "x"'],
  ])('it %s', async (_, part, status, words) => {
    const blobs = listBlobs(onDisk);
    const response = await sendPart(url, part);
    expectError(response, status, words);
    if (status === 409) expect(response.headers.get('upload-offset')).toBe('5');
    expect(listBlobs(onDisk)).toEqual(blobs);
    expect(await readOffset(url)).toBe('5 ?0');
  });

  test('it has no Upload-Offset, or a wrong Upload-Complete', async () => {
    const sendBadPart = (headers: Record<string, string>) => sendSigned('PATCH', url, { body: 'x', headers });
    expectError(await sendBadPart({}), 400, 'Upload-Offset is missing');
    expectError(await sendBadPart({ 'upload-offset': '5', 'upload-complete': 'true' }), 400, 'must be "?1"');
    expect(await readOffset(url)).toBe('5 ?0');
  });

  test('it states more than 500 MB, or makes the content larger', async () => {
    const { pathname, search } = new URL(url);
    const head = `PATCH ${pathname}${search} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nUpload-Offset: 5\r\n`;
    const stated = await sendRaw(onDisk, `${head}Content-Length: 524288001\r\n\r\nonly this`);
    expect(stated.status).toBe(400);
    // As if the parts had almost the maximum.
    const setSize = (bytes: number) =>
      onDisk.runningServer.database.transact((tx) =>
        tx
          .updateTable('uploads')
          .set({ partial_bytes: bytes })
          .where('id', '=', uploadId as UploadId)
          .execute(),
      );
    await setSize(524_287_998);
    const blobs = listBlobs(onDisk);
    expectError(await sendPart(url, { offset: 524_287_998, body: 'abc' }), 400, 'more than 524288000');
    expect(listBlobs(onDisk)).toEqual(blobs);
    await setSize(5);
  });

  test('it would be the 1001st', async () => {
    const many = await requestUpload(onDisk);
    expectStatus(await sendPart(many.upload_url, { offset: 0, body: 'x' }), 204);
    const added = Array.from({ length: 999 }, (_, index) => ({
      ...{ upload_id: many.upload_id as UploadId, first_byte: index + 1, content_id: `none-${index}` },
    }));
    const { database } = onDisk.runningServer;
    await database.transact((tx) => tx.insertInto('upload_parts').values(added).execute());
    expectError(await sendPart(many.upload_url, { offset: 1, body: 'y' }), 400, 'at most 1000');
    await database.transact((tx) => tx.deleteFrom('upload_parts').where('first_byte', '>', 0).execute());
  });
});

describe('the URL of an upload in parts', () => {
  test('is valid for a day after the first part, in which a closed laptop continues', async () => {
    const { upload_url } = await requestUpload(onDisk);
    try {
      for (const [index, minutes] of [9, 60, 24 * 60 - 1].entries()) {
        ahead = minutes * MINUTE_MS;
        expectStatus(await sendPart(upload_url, { offset: index, body: 'x' }), 204);
      }
      ahead = (24 * 60 + 1) * MINUTE_MS;
      expectError(await sendPart(upload_url, { offset: 3, body: 'x' }), 403, 'expired');
      expectError(await sendSigned('GET', upload_url), 403, 'expired');
    } finally {
      ahead = 0;
    }
  });

  test('expires ten minutes after the request without a part', async () => {
    const { upload_url } = await requestUpload(onDisk);
    try {
      ahead = 11 * MINUTE_MS;
      expectError(await sendPart(upload_url, { offset: 0, body: 'x' }), 403, 'expired');
      expectStatus(await sendSigned('HEAD', upload_url), 403);
    } finally {
      ahead = 0;
    }
  });

  test('is that of its key: altered, of a revoked key or of another upload it is refused', async () => {
    const { id, token } = await onDisk.createKey('operator');
    const { upload_url } = await requestUpload(onDisk, token);
    expectStatus(await sendPart(upload_url, { offset: 0, body: 'x' }), 204);
    const other = new URL((await requestUpload(onDisk)).upload_url);
    const altered = new URL(upload_url);
    altered.pathname = other.pathname;
    expectError(await sendPart(altered.href, { offset: 0, body: 'x' }), 403, 'signature');
    expectError(await sendSigned('GET', altered.href), 403, 'signature');
    expectStatus(await onDisk.request('DELETE', `/v1/account/keys/${id}`), 204);
    expectError(await sendPart(upload_url, { offset: 1, body: 'x' }), 403, 'was revoked');
    expectError(await sendSigned('GET', upload_url), 403, 'was revoked');
  });

  test('gives no other account an upload: neither its token nor its application can use one', async () => {
    const { upload_id, upload_url } = await requestUpload(onDisk);
    const account = await createOtherAccount(onDisk, 'admin');
    const plain = new URL(upload_url).pathname;
    const request = { token: account.token, body: 'x', headers: { 'upload-offset': '0' } };
    expectError(await onDisk.request('PATCH', plain, request), 403, 'signature');
    expectError(await onDisk.request('GET', plain, { token: account.token }), 403, 'signature');
    expectStatus(await sendPart(upload_url, { offset: 0, body: '{}' }), 204);
    const path = `/v1/applications/${applications.get(onDisk)}/runs`;
    expectError(await onDisk.request('POST', path, { body: { upload_id } }), 400, 'nothing has been PUT');
  });
});

test('of two writers at one offset one is stored, and the other gets the new offset', async () => {
  const { upload_id, upload_url } = await requestUpload(onDisk);
  const bodies = ['"a', '"b'];
  const responses = await Promise.all(bodies.map((body) => sendPart(upload_url, { offset: 0, body })));
  expect(responses.map(({ status }) => status).sort()).toEqual([204, 409]);
  for (const { headers } of responses) expect(headers.get('upload-offset')).toBe('2');
  const ends = await Promise.all(
    ['1"', '2"'].map((body) => sendPart(upload_url, { offset: 2, body, isLast: true })),
  );
  expect(ends.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
  const winner = bodies[responses.findIndex(({ status }) => status === 204)] ?? '';
  const end = ['1"', '2"'][ends.findIndex(({ status }) => status === 200)] ?? '';
  expect(await readContent(onDisk, upload_id)).toBe(winner + end);
  expect(await countParts(upload_id)).toBe(0);
});

test('parts of an unfinished upload are removed with it after a day', async () => {
  const { upload_id, upload_url } = await requestUpload(onDisk);
  expectStatus(await sendPart(upload_url, { offset: 0, body: 'abandoned' }), 204);
  const before = listBlobs(onDisk).length;
  await onDisk.runningServer.database.transact((tx) =>
    tx
      .updateTable('uploads')
      .set({ created_at: Date.now() - 25 * 60 * MINUTE_MS })
      .where('id', '=', upload_id as UploadId)
      .execute(),
  );
  await onDisk.restart();
  await expect.poll(() => listBlobs(onDisk).length).toBe(before - 1);
  expect(await countParts(upload_id)).toBe(0);
});

test('a server that is killed in the middle of a part, and after the last one, loses no acknowledged byte', {
  timeout: 120_000,
}, async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'switchyard-parts-'));
  const content = createText(600_000);
  let server = await startServerProcess({ dataFolder, env: IDLE });
  const restart = async () => {
    await server.kill();
    server = await startServerProcess({ dataFolder, env: { ...IDLE, SWITCHYARD_PORT: port } });
    applications.set(server, application);
  };
  const { port } = new URL(server.url);
  const application = await createVersion(server);
  applications.set(server, application);
  try {
    const { upload_id, upload_url } = await requestUpload(server);
    const body = content.subarray(0, 200_000);
    expectStatus(await sendPart(upload_url, { offset: 0, body }), 204);
    const { pathname, search } = new URL(upload_url);
    const socket = await openSocket(server.url);
    socket.on('error', () => {});
    socket.write(
      `PATCH ${pathname}${search} HTTP/1.1\r\nHost: x\r\nUpload-Offset: 200000\r\nContent-Length: 200000\r\n\r\n`,
    );
    socket.write(content.subarray(200_000, 300_000));
    await expect.poll(() => readdirSync(join(dataFolder, 'blobs', 'incoming'))).toHaveLength(1);
    await restart();
    expect(await readOffset(upload_url)).toBe('200000 ?0');
    const rest = { offset: 200_000, body: content.subarray(200_000), isLast: true };
    expectStatus(await sendPart(upload_url, rest), 200);
    await restart();
    expect(await readOffset(upload_url)).toBe('600000 ?1');
    expect((await readContent(server, upload_id)) === content.toString()).toBe(true);
  } finally {
    await server.kill();
    rmSync(dataFolder, { recursive: true, force: true });
  }
});
