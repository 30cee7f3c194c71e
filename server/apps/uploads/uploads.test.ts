import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, createRunAndWait } from '../../testing/fixtures/apps.ts';
import { createVersion, expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { openSocket, readResponse, sendRaw } from '../../testing/http/raw-sockets.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
let ahead = 0;
/** The system clock, which a test can advance. */
const clock: Clock = { ...systemClock, now: () => Date.now() + ahead };
beforeAll(async () => {
  server = await startTestServer({ clock });
  application = await createVersion(server);
});
afterAll(() => server.close());

const requestUpload = async (app = application): Promise<Upload> => {
  const response = await server.request('POST', `/v1/applications/${app}/runs/uploadurl`);
  expectStatus(response, 200);
  return response.body as Upload;
};
const put = (url: string, body: string | Uint8Array) =>
  server.request('PUT', url, { token: null, body, headers: { 'content-type': '' } });
const runWith = (upload_id: string, app = application) =>
  server.request('POST', `/v1/applications/${app}/runs`, { body: { upload_id } });
const alterUrl = (url: string, change: (url: URL) => void): string => {
  const altered = new URL(url);
  change(altered);
  return altered.href;
};
/** Lists partial uploads and the files of the blob store. */
const files = (): string[] =>
  readdirSync(join(server.dataFolder, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => one.name);

describe('an upload', () => {
  test('is requested with an empty JSON body, sent without a token, and read as the input of a run', async () => {
    const empty = await server.request('POST', `/v1/applications/${application}/runs/uploadurl`, {
      headers: { 'content-type': 'application/json', 'content-length': '0' },
    });
    expectStatus(empty, 200);
    const { upload_id, upload_url } = empty.body as Upload;
    expectStatus(await put(upload_url, '{"from":"upload"}'), 200);
    const run = await createRunAndWait(server, application, { body: { upload_id } });
    expect(run.output).toEqual({ from: 'upload' });
  });

  test('can be the input of several runs', async () => {
    const { upload_id, upload_url } = await requestUpload();
    await put(upload_url, '{}');
    expectStatus(await runWith(upload_id), 202);
    expectStatus(await runWith(upload_id), 202);
  });

  test('can be empty', async () => {
    const { upload_url } = await requestUpload();
    const rawResponse = await sendRaw(
      server,
      `PUT ${new URL(upload_url).pathname}${new URL(upload_url).search} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    expect(rawResponse.status).toBe(200);
  });
});

describe('an upload URL', () => {
  test('works once', async () => {
    const { upload_url } = await requestUpload();
    expectStatus(await put(upload_url, 'first'), 200);
    expectError(await put(upload_url, 'second'), 400, 'used already');
  });

  test('is valid for 10 minutes', async () => {
    const early = await requestUpload();
    const late = await requestUpload();
    try {
      ahead = 9 * 60_000;
      expectStatus(await put(early.upload_url, '{}'), 200);
      ahead = 10 * 60_000 + 1000;
      expectError(await put(late.upload_url, '{}'), 403, 'expired');
    } finally {
      ahead = 0;
    }
    expectError(await runWith(late.upload_id), 400, 'nothing has been PUT');
  });

  test('V8: stops working when the key that requested it is revoked', async () => {
    const { id, token } = await server.createKey('operator');
    const path = `/v1/applications/${application}/runs/uploadurl`;
    const { upload_url } = (await server.request('POST', path, { token })).body as { upload_url: string };
    expectStatus(await server.request('DELETE', `/v1/account/keys/${id}`), 204);
    expectError(await put(upload_url, '{}'), 403, 'was revoked');
  });

  const alterations: [string, (url: URL) => void][] = [
    ['no signature', (url) => url.searchParams.delete('signature')],
    ['an empty signature', (url) => url.searchParams.set('signature', '')],
    ['another signature', (url) => url.searchParams.set('signature', 'A'.repeat(43))],
    [
      'a character more in its signature',
      (url) => url.searchParams.set('signature', `${url.searchParams.get('signature') ?? ''}=`),
    ],
    ['a later end', (url) => url.searchParams.set('expires', '99999999999')],
    ['no end', (url) => url.searchParams.delete('expires')],
    ['an end that is no number', (url) => url.searchParams.set('expires', 'NaN')],
    ['another key', (url) => url.searchParams.set('key', 'key-1')],
    ['no key', (url) => url.searchParams.delete('key')],
    ['another id', (url) => (url.pathname = '/v1/uploads/upl-0000000000000000')],
    ['a traversal as id', (url) => (url.pathname = '/v1/uploads/..%2f..%2fetc%2fpasswd')],
    ['an encoded slash at its end', (url) => (url.pathname = `${url.pathname}%2f`)],
  ];
  test.each(alterations)('403 with %s, and nothing is kept', async (_, change) => {
    const { upload_id, upload_url } = await requestUpload();
    const before = files();
    expectError(await put(alterUrl(upload_url, change), '{}'), 403);
    expect(files()).toEqual(before);
    expectError(await runWith(upload_id), 400, 'nothing has been PUT');
  });

  test('404 with a zero byte in its id', async () => {
    const { upload_url } = await requestUpload();
    expectError(
      await put(
        alterUrl(upload_url, (url) => (url.pathname = `${url.pathname}%00`)),
        '{}',
      ),
      404,
    );
  });

  test.each(['POST', 'DELETE'])('404 for %s', async (method) => {
    const { upload_url } = await requestUpload();
    expectError(await server.request(method, upload_url, { token: null }), 404);
  });

  test('400 before the body when Content-Length exceeds 500 MB', async () => {
    const { upload_id, upload_url } = await requestUpload();
    const { pathname, search } = new URL(upload_url);
    const head = `PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Length: 524288001\r\nConnection: close\r\n\r\n`;
    const response = await sendRaw(server, `${head}only this`);
    expect(response.status).toBe(400);
    expect(response.text).toContain('524288001 bytes; it may have at most 524288000');
    expectError(await runWith(upload_id), 400, 'nothing has been PUT');
  });

  test('can be used again after an aborted body, which leaves no file', async () => {
    const { upload_id, upload_url } = await requestUpload();
    const before = files();
    const { pathname, search } = new URL(upload_url);
    for (const framing of ['Content-Length: 1000000', 'Transfer-Encoding: chunked']) {
      const socket = await openSocket(server.url);
      const body = framing.startsWith('T') ? `ffff\r\n${'x'.repeat(5000)}` : 'x'.repeat(200_000);
      socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n${body}`);
      await expect.poll(() => files().length).toBe(before.length + 1);
      socket.destroy();
      await readResponse(socket).catch(() => {});
      await expect.poll(files).toEqual(before);
    }
    expectError(await runWith(upload_id), 400, 'nothing has been PUT');
    expectStatus(await put(upload_url, '{}'), 200);
  });
});

describe('400 for a run on an upload', () => {
  test('of another application, of an executable, of another account, or a missing one', async () => {
    const elsewhere = await requestUpload(await createVersion(server));
    await put(elsewhere.upload_url, '{}');
    const binary = (await server.request('GET', `/v1/applications/${application}/binary`)).body as Upload;
    await put(binary.upload_url, '{}');
    for (const id of [elsewhere.upload_id, binary.upload_id, 'upl-missing']) {
      expectError(await runWith(id), 400, 'upload_id is ');
    }
    expectError(await runWith('a\0'), 400, 'NUL');
    const other = await createOtherAccount(server);
    const path = `/v1/applications/${application}/runs/uploadurl`;
    expectError(await server.request('POST', path, { token: other.token }), 404);
  });

  test('together with an input', async () => {
    const { upload_id, upload_url } = await requestUpload();
    await put(upload_url, '{}');
    const body = { upload_id, input: { a: 1 } };
    expectError(
      await server.request('POST', `/v1/applications/${application}/runs`, { body }),
      400,
      'is one of input, upload_id',
    );
  });

  test('that was requested more than a day ago', async () => {
    const { upload_id, upload_url } = await requestUpload();
    await put(upload_url, '{}');
    const old = Date.now() - 25 * 60 * 60 * 1000;
    await server.runningServer.database.transact((tx) =>
      tx
        .updateTable('uploads')
        .set({ created_at: old })
        .where('id', '=', upload_id as never)
        .execute(),
    );
    await server.restart();
    await expect.poll(async () => (await runWith(upload_id)).status).toBe(400);
    expectError(await runWith(upload_id), 400, 'less than a day old');
  });
});

describe('a download URL', () => {
  const requestDownloadUrl = async (): Promise<string> => {
    const run = await createRun(server, application, { input: { kept: 'as it is' } });
    const response = await server.request(
      'GET',
      `/v1/applications/${application}/runs/${run}/input?format=url`,
    );
    expectStatus(response, 200);
    return (response.body as { url: string }).url;
  };

  test('returns the content without a token, any number of times', async () => {
    const url = await requestDownloadUrl();
    for (let round = 0; round < 2; round += 1) {
      const response = await server.request('GET', url, { token: null });
      expectStatus(response, 200);
      expect(response.text).toBe('{"kept":"as it is"}');
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.get('content-length')).toBe('19');
    }
  });

  test('expires after 10 minutes', async () => {
    const url = await requestDownloadUrl();
    try {
      ahead = 10 * 60_000 + 1000;
      expectError(await server.request('GET', url, { token: null }), 403, 'expired');
    } finally {
      ahead = 0;
    }
    expectStatus(await server.request('GET', url, { token: null }), 200);
  });

  test('403 when any part of it is altered, such as the content type', async () => {
    const url = await requestDownloadUrl();
    const changes: ((url: URL) => void)[] = [
      (one) => one.searchParams.set('type', 'text/html'),
      (one) => one.searchParams.delete('type'),
      (one) => one.searchParams.set('expires', '99999999999'),
      (one) => (one.pathname = '/v1/downloads/c-0000000000000000'),
    ];
    for (const change of changes)
      expectError(await server.request('GET', alterUrl(url, change), { token: null }), 403);
    const upload = await requestUpload();
    const altered = alterUrl(url, (one) => {
      one.search = new URL(upload.upload_url).search;
      one.searchParams.delete('key');
    });
    expectError(await server.request('GET', altered, { token: null }), 403);
  });

  test.each(['PUT', 'POST', 'DELETE'])('404 for %s', async (method) => {
    expectError(await server.request(method, await requestDownloadUrl(), { token: null }), 404);
  });
});

test('V4: unfinished uploads of one member do not delay another member at the same address', async () => {
  const urls = await Promise.all(Array.from({ length: 60 }, () => requestUpload()));
  const sockets = await Promise.all(
    urls.map(async ({ upload_url }) => {
      const { pathname, search } = new URL(upload_url);
      const socket = await openSocket(server.url);
      socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf`);
      return socket;
    }),
  );
  // Each upload has a partial file while the server reads it; the limit of one member is 48.
  await expect.poll(() => files().length).toBeGreaterThanOrEqual(48);
  const { body: key } = await server.client.call('createKey', {
    body: { name: 'another', role: 'operator', user_email: 'another@example.com' },
  });
  const path = `/v1/applications/${application}/runs/uploadurl`;
  const { body } = await server.request('POST', path, { token: key.token });
  expectStatus(await put((body as Upload).upload_url, '{}'), 200);
  for (const socket of sockets) socket.destroy();
});
