/** Downloads by byte ranges, from the database, from disk and from S3. */
import { createHash } from 'node:crypto';
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type S3Server, startS3Server } from '../../platform/blobs/testing/s3-server.ts';
import { createRun } from '../../testing/fixtures/apps.ts';
import { createVersion, expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { openSocket } from '../../testing/http/raw-sockets.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** Larger than content in the database, and larger than the buffer of a socket. */
const LARGE_BYTES = 3_000_000;

/** Returns JSON text of that length in which no two parts are equal. */
function createText(bytes: number): Buffer {
  const hex = createHash('shake256', { outputLength: bytes / 2 })
    .digest()
    .toString('hex');
  return Buffer.from(`"${hex.slice(0, bytes - 2)}"`);
}

/** Without a slot for the runs of this test, so that they stay queued. */
const IDLE = { SWITCHYARD_CAPACITY: '0,16c60gb12h=1' };

let s3: S3Server;
let onDisk: TestServer;
let onS3: TestServer;
beforeAll(async () => {
  s3 = await startS3Server();
  onDisk = await startTestServer({ env: IDLE });
  onS3 = await startTestServer({
    env: {
      ...IDLE,
      ...s3.env,
    },
  });
});
afterAll(async () => {
  await onDisk.close();
  await onS3.close();
  await s3.stop();
});

interface StoredContent {
  server: TestServer;
  url: string;
}

/** Uploads the content as the input of a run, and returns its download URL. */
async function storeContent(server: TestServer, content: Buffer): Promise<StoredContent> {
  const application = await createVersion(server);
  const { upload_id, upload_url } = (
    await server.request('POST', `/v1/applications/${application}/runs/uploadurl`)
  ).body as Upload;
  expectStatus(await server.request('PUT', upload_url, { token: null, body: content }), 200);
  const run = await createRun(server, application, { body: { upload_id } });
  const response = await server.request(
    'GET',
    `/v1/applications/${application}/runs/${run}/input?format=url`,
  );
  return { server, url: (response.body as { url: string }).url };
}

const get = ({ server, url }: StoredContent, headers: Record<string, string>, method = 'GET') =>
  server.request(method, url, { token: null, headers });

const places: [string, () => TestServer, number][] = [
  ['in the database', () => onDisk, 1000],
  ['on disk', () => onDisk, LARGE_BYTES],
  ['on S3', () => onS3, LARGE_BYTES],
];
describe.each(places)('content %s', (_, getServer, bytes) => {
  const content = createText(bytes);
  let stored: StoredContent;
  beforeAll(async () => {
    stored = await storeContent(getServer(), content);
  });
  const slice = (from: number, to: number): string => content.subarray(from, to + 1).toString();

  test('returns the whole content with the headers for later range requests', async () => {
    const response = await get(stored, {});
    expectStatus(response, 200);
    expect(response.text === content.toString()).toBe(true);
    expect(response.headers.get('accept-ranges')).toBe('bytes');
    expect(response.headers.get('content-length')).toBe(String(bytes));
    expect(response.headers.get('content-range')).toBeNull();
    expect(response.headers.get('etag')).toMatch(/^"[\w-]+"$/);
  });

  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=100-299', 100, 299],
    [`bytes=${bytes - 1}-`, bytes - 1, bytes - 1],
    ['bytes=-500', bytes - 500, bytes - 1],
    [`bytes=700-${bytes * 2}`, 700, bytes - 1],
  ])('206 for %s', async (range, from, to) => {
    const response = await get(stored, { range });
    expectStatus(response, 206);
    expect(response.text === slice(from, to)).toBe(true);
    expect(response.headers.get('content-range')).toBe(`bytes ${from}-${to}/${bytes}`);
    expect(response.headers.get('content-length')).toBe(String(to - from + 1));
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  test('416 for a range that starts after the end', async () => {
    const response = await get(stored, { range: `bytes=${bytes}-` });
    expectError(response, 416, `the content has ${bytes} bytes`);
    expect(response.headers.get('content-range')).toBe(`bytes */${bytes}`);
  });

  test('returns halves for the current ETag, and the whole content for another one', async () => {
    const first = await get(stored, { range: `bytes=0-${bytes / 2 - 1}` });
    const tag = first.headers.get('etag') ?? '';
    const rest = await get(stored, { range: `bytes=${bytes / 2}-`, 'if-range': tag });
    expectStatus(rest, 206);
    expect(rest.headers.get('etag')).toBe(tag);
    expect(first.text + rest.text === content.toString()).toBe(true);
    const other = await get(stored, { range: `bytes=${bytes / 2}-`, 'if-range': '"another"' });
    expectStatus(other, 200);
    expect(other.text === content.toString()).toBe(true);
  });

  test('HEAD returns the length without a body', async () => {
    for (const range of ['', 'bytes=0-9', 'bytes=99999999-']) {
      const response = await get(stored, { range }, 'HEAD');
      expectStatus(response, 200);
      expect(response.text).toBe('');
      expect(response.headers.get('content-length')).toBe(String(bytes));
      expect(response.headers.get('accept-ranges')).toBe('bytes');
      expect(response.headers.get('etag')).toMatch(/^"/);
    }
  });

  test('continues after a broken connection', async () => {
    const { pathname, search } = new URL(stored.url);
    const socket = await openSocket(stored.server.url);
    let received = '';
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      if (received.length > 900) socket.destroy();
    });
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await closed;
    // Small content arrives before the connection breaks; then the test requests the last byte again.
    const firstPart = received.slice(received.indexOf('\r\n\r\n') + 4).slice(0, bytes - 1);
    expect(firstPart === slice(0, firstPart.length - 1)).toBe(true);
    const rest = await get(stored, { range: `bytes=${firstPart.length}-` });
    expect(firstPart + rest.text === content.toString()).toBe(true);
  });
});

test('empty content has no range, and a range needs a valid URL', async () => {
  const stored = await storeContent(onDisk, Buffer.alloc(0));
  expectError(await get(stored, { range: 'bytes=0-' }), 416, '0 bytes');
  const whole = await get(stored, {});
  expectStatus(whole, 200);
  expect(whole.headers.get('content-length')).toBe('0');
  const altered = { ...stored, url: stored.url.replace('signature=', 'signature=A') };
  expectError(await get(altered, { range: 'bytes=0-' }), 403);
  expectStatus(await get(altered, {}, 'HEAD'), 403);
});
