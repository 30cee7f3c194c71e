/** Tests of S3 alone: address, credentials, pages of keys, and faults of the connection. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { BlobStore } from './blob-store.ts';
import { openS3Blobs } from './s3.ts';
import { parseS3Address } from './s3-address.ts';
import type { S3Credentials } from './s3-requests.ts';
import { type S3Server, startS3Server } from './testing/s3-server.ts';

type Fault = (requests: IncomingMessage, response: ServerResponse, port: number) => void;

/** A proxy in front of the S3 server: each fault handles one request, and all others are forwarded. */
let faults: Fault[] = [];
let requests: IncomingMessage[] = [];
let server: S3Server;
let spool: string;
const proxy = createServer((incoming, outgoing) => {
  requests.push(incoming);
  const port = Number(new URL(server.endpoint).port);
  (faults.shift() ?? forward)(incoming, outgoing, port);
});

function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  port: number,
  bytesMax = Infinity,
): void {
  const { method, url, headers } = incoming;
  const forwarded = request({ host: '127.0.0.1', port, method, path: url, headers }, async (response) => {
    outgoing.writeHead(response.statusCode ?? 0, response.headers);
    let remainingBytes = bytesMax;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (chunk.length >= remainingBytes)
        return outgoing.write(chunk.subarray(0, remainingBytes), () => outgoing.destroy());
      remainingBytes -= chunk.length;
      outgoing.write(chunk);
    }
    outgoing.end();
  });
  forwarded.on('error', () => outgoing.destroy());
  incoming.pipe(forwarded);
}

const respondBusy: Fault = (incoming, outgoing) => {
  incoming.resume();
  outgoing.writeHead(503, { 'content-type': 'application/xml' });
  outgoing.end('<Error><Code>SlowDown</Code><AWSAccessKeyId>S3RVER</AWSAccessKeyId></Error>');
};
const hangUp: Fault = (incoming) => incoming.once('data', () => incoming.destroy());
const sendNothing: Fault = (incoming) => incoming.resume();
const disconnectAfter =
  (bytes: number): Fault =>
  (incoming, outgoing, port) =>
    forward(incoming, outgoing, port, bytes);

beforeAll(async () => {
  server = await startS3Server();
  spool = await mkdtemp(join(tmpdir(), 'switchyard-spool-'));
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});
afterEach(() => {
  faults = [];
  requests = [];
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await server.stop();
  await rm(spool, { recursive: true });
});

function formatAddress(bucket: string, prefix = 'switchyard/'): string {
  return `s3://${bucket}?endpoint=http://127.0.0.1:${(proxy.address() as AddressInfo).port}&prefix=${prefix}`;
}

function open(credentials: S3Credentials = server.credentials, address = formatAddress(server.bucket)) {
  return openS3Blobs(address, credentials, { spool, attemptsMax: 3, backoffMs: 1 });
}

/** Long enough that a busy machine does not cause a timeout. */
const IDLE_MS = 500;
function openWithShortTimeout() {
  return openS3Blobs(formatAddress(server.bucket), server.credentials, {
    spool,
    attemptsMax: 3,
    backoffMs: 1,
    idleTimeoutMs: IDLE_MS,
  });
}

async function readRefusal(opening: Promise<BlobStore>): Promise<string> {
  return opening.then(
    () => 'none',
    (error: unknown) => String(error),
  );
}

const BYTES = createHash('shake256', { outputLength: 1_000_000 }).digest();
const SHA256 = createHash('sha256').update(BYTES).digest('hex');
const put = (blobs: BlobStore, key: string) => blobs.put(key, Readable.from([BYTES]), BYTES.length);

describe('opening', () => {
  test('refuses a wrong secret, and its message does not contain it', async () => {
    const refusal = await readRefusal(open({ accessKeyId: 'S3RVER', secretAccessKey: 'not-the-secret' }));
    expect(refusal).toContain(`"${server.bucket}"`);
    expect(refusal).toContain('403');
    expect(refusal).toContain('credentials are wrong');
    expect(refusal).not.toMatch(/not-the-secret|S3RVER|Signature/);
    expect(requests).toHaveLength(1);
  });

  test('reports that a bucket does not exist', async () => {
    const refusal = await readRefusal(open(server.credentials, formatAddress('no-such-bucket')));
    expect(refusal).toContain('"no-such-bucket"');
    expect(refusal).toContain('404');
  });

  test('reports that no server listens', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const refusal = await readRefusal(
      open(server.credentials, `s3://here?endpoint=http://127.0.0.1:${port}`),
    );
    expect(refusal).toContain(`The bucket "here" at 127.0.0.1:${port}`);
    expect(refusal).toContain('ECONNREFUSED');
  });

  test('suggests a wrong region when the bucket refuses without a reason', async () => {
    faults = [(_, response) => response.writeHead(400).end()];
    expect(await readRefusal(open())).toContain('responded with 400. The region may be the wrong one.');
  });

  test('names the region of the bucket', async () => {
    faults = [(_, response) => response.writeHead(301, { 'x-amz-bucket-region': 'eu-west-1' }).end()];
    expect(await readRefusal(open())).toContain(
      '301. It is in the region eu-west-1, but the address names us-east-1.',
    );
  });

  test('empties the spool', async () => {
    await writeFile(join(spool, 'of a killed process'), 'half');
    await open();
    expect(await readdir(spool)).toEqual([]);
  });
});

describe('requests', () => {
  test('contain a signature of hash, region and session token', async () => {
    const address = `${formatAddress(server.bucket)}&region=eu-central-1`;
    const blobs = await open({ ...server.credentials, sessionToken: 'of-this-session' }, address);
    await put(blobs, 'signed');
    const headers = requests.at(-1)?.headers;
    expect(headers).toMatchObject({
      'content-length': '1000000',
      'x-amz-content-sha256': SHA256,
      'x-amz-security-token': 'of-this-session',
    });
    expect(headers?.authorization).toMatch(/Credential=S3RVER\/\d{8}\/eu-central-1\/s3\/aws4_request,/);
    const signed = /SignedHeaders=([^,]+)/.exec(headers?.authorization ?? '')?.[1]?.split(';');
    expect(signed).toEqual(
      expect.arrayContaining(['host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token']),
    );
  });

  test.each<[string, Fault]>([
    ['is busy', respondBusy],
    ['hangs up in the middle of the body', hangUp],
  ])('are sent again, whole, when the store %s', async (name, fault) => {
    const blobs = await open();
    faults = [fault, fault];
    const key = name.replaceAll(' ', '-');
    expect(await put(blobs, key)).toEqual({ key, bytes: BYTES.length, sha256: SHA256 });
    expect(requests.map(({ method }) => method)).toEqual(['HEAD', 'PUT', 'PUT', 'PUT']);
    expect((await buffer(await blobs.open(key))).equals(BYTES)).toBe(true);
  });

  test('fail after the last attempt', async () => {
    const blobs = await open();
    faults = [respondBusy, respondBusy, respondBusy];
    await expect(put(blobs, 'given-up')).rejects.toThrow(
      new RegExp(
        `^The bucket "${server.bucket}" at 127.0.0.1:\\d+, requested to store given-up, responded with 503 SlowDown.$`,
      ),
    );
    await expect(blobs.open('given-up')).rejects.toThrow(
      new RegExp(
        `^There is no blob given-up. The bucket "${server.bucket}" .* responded with 404 NoSuchKey.$`,
      ),
    );
    expect(await readdir(spool)).toEqual([]);
  });

  test('are sent again when the store sends nothing, and fail when it stays silent', async () => {
    const blobs = await openWithShortTimeout();
    faults = [sendNothing];
    await blobs.remove('any');
    expect(requests.map(({ method }) => method)).toEqual(['HEAD', 'DELETE', 'DELETE']);
    faults = [sendNothing, sendNothing, sendNothing];
    await expect(blobs.remove('any')).rejects.toThrow(
      `requested to remove any, sent nothing for ${IDLE_MS} ms.`,
    );
  });

  test('accept a 404 to the removal of a missing blob', async () => {
    const blobs = await open();
    faults = [(_, response) => response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')];
    await blobs.remove('gone');
    expect(requests.map(({ method }) => method)).toEqual(['HEAD', 'DELETE']);
  });

  test('are not sent again when the store refuses', async () => {
    const blobs = await open();
    faults = [
      (incoming, outgoing) => {
        incoming.resume();
        outgoing.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
      },
    ];
    await expect(put(blobs, 'refused')).rejects.toThrow('responded with 403 AccessDenied.');
    expect(requests.map(({ method }) => method)).toEqual(['HEAD', 'PUT']);
  });
});

describe('reading', () => {
  test('continues after a broken connection', async () => {
    const blobs = await open();
    await put(blobs, 'long');
    faults = [disconnectAfter(300_000), disconnectAfter(200_000)];
    expect((await buffer(await blobs.open('long'))).equals(BYTES)).toBe(true);
    expect(requests.slice(2).map(({ headers }) => headers.range)).toEqual([
      undefined,
      'bytes=300000-',
      'bytes=500000-',
    ]);
  });

  test('fails when the store sends the beginning instead of the rest', async () => {
    const blobs = await open();
    await put(blobs, 'restarted');
    const ignoreRange: Fault = (incoming, outgoing, port) => {
      delete incoming.headers.range;
      forward(incoming, outgoing, port);
    };
    faults = [disconnectAfter(300_000), ignoreRange];
    await expect(buffer(await blobs.open('restarted'))).rejects.toThrow(
      'The connection broke at byte 300000 of the blob restarted.',
    );
  });

  test('fails when the connection breaks too often', async () => {
    const blobs = await open();
    await put(blobs, 'fragile');
    faults = [disconnectAfter(1000), disconnectAfter(1000), disconnectAfter(1000)];
    await expect(buffer(await blobs.open('fragile'))).rejects.toThrow(
      'The connection broke at byte 3000 of the blob fragile.',
    );
  });

  test('waits for a reader that is slower than the timeout', async () => {
    const blobs = await openWithShortTimeout();
    await put(blobs, 'slowly-read');
    const stream = await blobs.open('slowly-read');
    // The next request times out twice, and the unread one pauses for as long.
    faults = [sendNothing, sendNothing];
    await blobs.remove('another');
    expect((await buffer(stream)).equals(BYTES)).toBe(true);
    expect(
      requests.filter(({ method, url }) => method === 'GET' && url?.endsWith('slowly-read')),
    ).toHaveLength(1);
  });
});

test('a list has all pages, and only blobs directly under the prefix', async () => {
  const keys = Array.from({ length: 1234 }, (_, index) => `b-${String(index).padStart(4, '0')}`);
  for (const key of keys) await server.writeObject(`pages/${key}`, key);
  await server.writeObject('pages/folder/b-0001', 'of another program');
  await server.writeObject('pages/Read Me & weep.txt', 'of another program');
  await server.writeObject('pages-too/b-9999', 'of another program');
  const blobs = await open(server.credentials, formatAddress(server.bucket, 'pages/'));
  requests = [];
  expect(await Array.fromAsync(blobs.list(Date.now() + 3_600_000))).toEqual(keys);
  expect(requests).toHaveLength(2);
});

describe('an address', () => {
  const href = (address: string): string => parseS3Address(address).url.href;

  test('means Amazon without an endpoint', () => {
    expect(href('s3://acme')).toBe('https://acme.s3.us-east-1.amazonaws.com/');
    expect(href('s3://acme?region=eu-west-1')).toBe('https://acme.s3.eu-west-1.amazonaws.com/');
    expect(href('s3://acme?region=cn-north-1')).toBe('https://acme.s3.cn-north-1.amazonaws.com.cn/');
    expect(href('s3://acme.blobs')).toBe('https://s3.us-east-1.amazonaws.com/acme.blobs');
  });

  test('has the bucket in the path with an endpoint', () => {
    expect(href('s3://acme?endpoint=http://127.0.0.1:9000')).toBe('http://127.0.0.1:9000/acme');
    expect(href('s3://acme?endpoint=https://store.example/s3/')).toBe('https://store.example/s3/acme');
    expect(parseS3Address('s3://acme')).toMatchObject({ region: 'us-east-1', prefix: 'switchyard/' });
    expect(parseS3Address('s3://acme?prefix=a/b_1.c/').prefix).toBe('a/b_1.c/');
  });

  test.each([
    ['http://acme', 's3://bucket'],
    ['s3://key:hunter2@acme', 'more than a bucket'],
    ['s3://acme/folder', 'more than a bucket'],
    ['s3://Acme_Blobs', '"Acme_Blobs"'],
    ['s3://acme?regoin=eu-west-1', '"regoin"'],
    ['s3://acme?region=eu-west-1&region=eu-west-2', '"region" twice'],
    ['s3://acme?region=EU', '"EU"'],
    ['s3://acme?prefix=', 'prefix ""'],
    ['s3://acme?prefix=no-slash', '"no-slash"'],
    ['s3://acme?prefix=../up/', '"../up/"'],
    ['s3://acme?endpoint=127.0.0.1:9000', 'endpoint'],
    ['s3://acme?endpoint=http://key:hunter2@127.0.0.1:9000', '127.0.0.1:9000'],
  ])('like %s is refused', (address, quoted) => {
    const parse = (): unknown => parseS3Address(address);
    expect(parse).toThrow(quoted);
    expect(parse).toThrow('SWITCHYARD_BLOBS');
    expect(parse).not.toThrow('hunter2');
  });
});
