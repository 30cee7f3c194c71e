/** R5: a stored blob that is missing, truncated or changed is never handed out as if it were whole. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, createRunAndWait } from '../../testing/fixtures/apps.ts';
import { createVersion, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** Read before it is answered, and streamed. */
const SMALL_BYTES = 200_000;
const LARGE_BYTES = 3_000_000;

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createVersion(server);
});
afterAll(() => server.close());

function text(bytes: number): Buffer {
  const hex = createHash('shake256', { outputLength: bytes / 2 })
    .digest()
    .toString('hex');
  return Buffer.from(`"${hex.slice(0, bytes - 2)}"`);
}

const blobs = (): string[] =>
  readdirSync(join(server.dataFolder, 'blobs'), { withFileTypes: true })
    .filter((part) => part.isDirectory() && part.name.length === 2)
    .flatMap((part) =>
      readdirSync(join(server.dataFolder, 'blobs', part.name)).map((key) =>
        join(server.dataFolder, 'blobs', part.name, key),
      ),
    );

/** Uploads content; returns its id and the path of its blob. */
async function storeUpload(bytes: number): Promise<{ upload: string; blob: string }> {
  const before = new Set(blobs());
  const response = await server.request('POST', `/v1/applications/${application}/runs/uploadurl`);
  const { upload_id, upload_url } = response.body as Upload;
  expectStatus(await server.request('PUT', upload_url, { token: null, body: text(bytes) }), 200);
  return { upload: upload_id, blob: blobs().find((path) => !before.has(path)) ?? '' };
}

/** Changes the file as a failing disk does, without a new time. */
function changeByte(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length - 2] = (bytes[bytes.length - 2] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  utimesSync(path, 1, 1);
}

const DAMAGES: [string, (path: string) => void, string][] = [
  ['changed', changeByte, 'has another SHA-256 than was stored'],
  ['truncated', (path) => truncateSync(path, 1000), 'has another length than was stored'],
  ['missing', (path) => rmSync(path), 'is missing from the blob store'],
];

describe.each(DAMAGES)('R5: a %s blob', (damage, damageBlob, description) => {
  const readDamageCount = async (): Promise<number> => {
    const { text: metrics } = await server.request('GET', '/metrics', { token: null });
    return Number(new RegExp(`damaged_blobs_total\\{damage="${damage}"\\} (\\d+)`).exec(metrics)?.[1] ?? 0);
  };

  test.each([
    ['small', SMALL_BYTES],
    ['large', LARGE_BYTES],
  ])('that is %s responds with 503 and a reason, in part and whole, and counts', async (_, bytes) => {
    const { upload, blob } = await storeUpload(bytes);
    const run = await createRunAndWait(server, application, { body: { upload_id: upload } });
    const path = `/v1/applications/${application}/runs/${run.id}`;
    const response = await server.request('GET', `${path}/input?format=url`);
    const { url } = response.body as { url: string };
    damageBlob(blob);
    const before = await readDamageCount();
    const get = (headers: Record<string, string>) => server.request('GET', url, { token: null, headers });
    const part = await get({ range: 'bytes=0-9' });
    expectStatus(part, 503);
    expect(part.body).toMatchObject({
      status: 'Service Unavailable',
      code: 'unavailable',
      error: expect.stringContaining(description),
    });
    expect(part.headers.get('retry-after')).toBeNull();
    // The server sends the headers of a large blob before it has read its end, so the response ends early.
    if (bytes === LARGE_BYTES && damage === 'changed') await expect(get({})).rejects.toThrow();
    else expectStatus(await get({}), 503);
    expectStatus(await server.request('GET', `${path}/input`), 503);
    expect(await readDamageCount()).toBe(before + 3);
  });

  test('that is the input of a run fails the run at the first attempt', async () => {
    const { upload, blob } = await storeUpload(SMALL_BYTES);
    damageBlob(blob);
    const run = await createRunAndWait(server, application, { body: { upload_id: upload } });
    expect(run).toMatchObject({ status_v2: 'failed' });
    expect(JSON.stringify(run)).toContain(
      `The input of the run cannot be read. The stored content is damaged: its blob ${description}`,
    );
  });
});

test('R5: many parts of a blob above 1 MiB need one verification, and a changed blob needs another', async () => {
  const { upload, blob } = await storeUpload(LARGE_BYTES);
  const run = await createRun(server, application, { body: { upload_id: upload } });
  const response = await server.request(
    'GET',
    `/v1/applications/${application}/runs/${run}/input?format=url`,
  );
  const { url } = response.body as { url: string };
  const part = () => server.request('GET', url, { token: null, headers: { range: 'bytes=0-9' } });
  expectStatus(await part(), 206);
  expect((await part()).text).toBe(text(LARGE_BYTES).subarray(0, 10).toString());
  changeByte(blob);
  expectStatus(await part(), 503);
});
