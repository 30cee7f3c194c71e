/** What S3 alone does: its address, its credentials, its pages of keys, and its bad days. */
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

type Fault = (asked: IncomingMessage, answer: ServerResponse, port: number) => void;

/** Stands between store and server: each fault takes one request, all others go through. */
let faults: Fault[] = [];
let asked: IncomingMessage[] = [];
let server: S3Server;
let spool: string;
const between = createServer((incoming, outgoing) => {
  asked.push(incoming);
  const port = Number(new URL(server.endpoint).port);
  (faults.shift() ?? passOn)(incoming, outgoing, port);
});

function passOn(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  port: number,
  bytesMax = Infinity,
): void {
  const { method, url, headers } = incoming;
  const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, async (answer) => {
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
    let left = bytesMax;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      if (chunk.length >= left) return outgoing.write(chunk.subarray(0, left), () => outgoing.destroy());
      left -= chunk.length;
      outgoing.write(chunk);
    }
    outgoing.end();
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}

const busy: Fault = (incoming, outgoing) => {
  incoming.resume();
  outgoing.writeHead(503, { 'content-type': 'application/xml' });
  outgoing.end('<Error><Code>SlowDown</Code><AWSAccessKeyId>S3RVER</AWSAccessKeyId></Error>');
};
const hangUp: Fault = (incoming) => incoming.once('data', () => incoming.destroy());
const sayNothing: Fault = (incoming) => incoming.resume();
const breakOffAfter =
  (bytes: number): Fault =>
  (incoming, outgoing, port) =>
    passOn(incoming, outgoing, port, bytes);

beforeAll(async () => {
  server = await startS3Server();
  spool = await mkdtemp(join(tmpdir(), 'switchyard-spool-'));
  between.listen(0, '127.0.0.1');
  await once(between, 'listening');
});
afterEach(() => {
  faults = [];
  asked = [];
});
afterAll(async () => {
  between.closeAllConnections();
  between.close();
  await server.stop();
  await rm(spool, { recursive: true });
});

function addressOf(bucket: string, prefix = 'switchyard/'): string {
  return `s3://${bucket}?endpoint=http://127.0.0.1:${(between.address() as AddressInfo).port}&prefix=${prefix}`;
}

function open(credentials: S3Credentials = server.credentials, address = addressOf(server.bucket)) {
  return openS3Blobs(address, credentials, { spool, attemptsMax: 3, backoffMs: 1 });
}

/** For silence that is meant; long enough that a busy machine is not taken for a silent store. */
const IDLE_MS = 500;
function openImpatient() {
  return openS3Blobs(addressOf(server.bucket), server.credentials, {
    spool,
    attemptsMax: 3,
    backoffMs: 1,
    idleTimeoutMs: IDLE_MS,
  });
}

async function refusalOf(opening: Promise<BlobStore>): Promise<string> {
  return opening.then(
    () => 'none',
    (error: unknown) => String(error),
  );
}

const BYTES = createHash('shake256', { outputLength: 1_000_000 }).digest();
const SHA256 = createHash('sha256').update(BYTES).digest('hex');
const put = (blobs: BlobStore, key: string) => blobs.put(key, Readable.from([BYTES]), BYTES.length);

describe('opening', () => {
  test('refuses a wrong secret, and does not repeat it', async () => {
    const refusal = await refusalOf(open({ accessKeyId: 'S3RVER', secretAccessKey: 'not-the-secret' }));
    expect(refusal).toContain(`"${server.bucket}"`);
    expect(refusal).toContain('403');
    expect(refusal).toContain('credentials are wrong');
    expect(refusal).not.toMatch(/not-the-secret|S3RVER|Signature/);
    expect(asked).toHaveLength(1);
  });

  test('says that a bucket does not exist', async () => {
    const refusal = await refusalOf(open(server.credentials, addressOf('no-such-bucket')));
    expect(refusal).toContain('"no-such-bucket"');
    expect(refusal).toContain('404');
  });

  test('says that nobody listens', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const refusal = await refusalOf(open(server.credentials, `s3://here?endpoint=http://127.0.0.1:${port}`));
    expect(refusal).toContain(`The bucket "here" at 127.0.0.1:${port}`);
    expect(refusal).toContain('ECONNREFUSED');
  });

  test('guesses that the region is wrong when the bucket refuses without a reason', async () => {
    faults = [(_, answer) => answer.writeHead(400).end()];
    expect(await refusalOf(open())).toContain('answered 400. The region may be the wrong one.');
  });

  test('names the region a bucket is in', async () => {
    faults = [(_, answer) => answer.writeHead(301, { 'x-amz-bucket-region': 'eu-west-1' }).end()];
    expect(await refusalOf(open())).toContain(
      '301. It is in the region eu-west-1; the address says us-east-1.',
    );
  });

  test('empties the spool', async () => {
    await writeFile(join(spool, 'left by a process that was killed'), 'half');
    await open();
    expect(await readdir(spool)).toEqual([]);
  });
});

describe('requests', () => {
  test('sign hash, region and session token', async () => {
    const address = `${addressOf(server.bucket)}&region=eu-central-1`;
    const blobs = await open({ ...server.credentials, sessionToken: 'of-this-session' }, address);
    await put(blobs, 'signed');
    const headers = asked.at(-1)?.headers;
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
    ['is busy', busy],
    ['hangs up in the middle of the body', hangUp],
  ])('are sent again, whole, when the store %s', async (name, fault) => {
    const blobs = await open();
    faults = [fault, fault];
    const key = name.replaceAll(' ', '-');
    expect(await put(blobs, key)).toEqual({ key, bytes: BYTES.length, sha256: SHA256 });
    expect(asked.map(({ method }) => method)).toEqual(['HEAD', 'PUT', 'PUT', 'PUT']);
    expect((await buffer(await blobs.open(key))).equals(BYTES)).toBe(true);
  });

  test('are given up after the last attempt', async () => {
    const blobs = await open();
    faults = [busy, busy, busy];
    await expect(put(blobs, 'given-up')).rejects.toThrow(
      new RegExp(
        `^The bucket "${server.bucket}" at 127.0.0.1:\\d+, asked to store given-up, answered 503 SlowDown.$`,
      ),
    );
    await expect(blobs.open('given-up')).rejects.toThrow(
      new RegExp(`^There is no blob given-up. The bucket "${server.bucket}" .* answered 404 NoSuchKey.$`),
    );
    expect(await readdir(spool)).toEqual([]);
  });

  test('are sent again when the store says nothing, and given up when it stays silent', async () => {
    const blobs = await openImpatient();
    faults = [sayNothing];
    await blobs.remove('any');
    expect(asked.map(({ method }) => method)).toEqual(['HEAD', 'DELETE', 'DELETE']);
    faults = [sayNothing, sayNothing, sayNothing];
    await expect(blobs.remove('any')).rejects.toThrow(`asked to remove any, was silent for ${IDLE_MS} ms.`);
  });

  test('find nothing to remove in a store that says 404 to it', async () => {
    const blobs = await open();
    faults = [(_, answer) => answer.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')];
    await blobs.remove('gone');
    expect(asked.map(({ method }) => method)).toEqual(['HEAD', 'DELETE']);
  });

  test('are not sent again when the store refuses', async () => {
    const blobs = await open();
    faults = [
      (incoming, outgoing) => {
        incoming.resume();
        outgoing.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
      },
    ];
    await expect(put(blobs, 'refused')).rejects.toThrow('answered 403 AccessDenied.');
    expect(asked.map(({ method }) => method)).toEqual(['HEAD', 'PUT']);
  });
});

describe('reading', () => {
  test('goes on where the connection broke', async () => {
    const blobs = await open();
    await put(blobs, 'long');
    faults = [breakOffAfter(300_000), breakOffAfter(200_000)];
    expect((await buffer(await blobs.open('long'))).equals(BYTES)).toBe(true);
    expect(asked.slice(2).map(({ headers }) => headers.range)).toEqual([
      undefined,
      'bytes=300000-',
      'bytes=500000-',
    ]);
  });

  test('does not take the beginning for the rest from a store that cannot go on', async () => {
    const blobs = await open();
    await put(blobs, 'restarted');
    const fromTheStart: Fault = (incoming, outgoing, port) => {
      delete incoming.headers.range;
      passOn(incoming, outgoing, port);
    };
    faults = [breakOffAfter(300_000), fromTheStart];
    await expect(buffer(await blobs.open('restarted'))).rejects.toThrow(
      'Reading blob restarted broke off at byte 300000.',
    );
  });

  test('ends with an error when it breaks too often', async () => {
    const blobs = await open();
    await put(blobs, 'fragile');
    faults = [breakOffAfter(1000), breakOffAfter(1000), breakOffAfter(1000)];
    await expect(buffer(await blobs.open('fragile'))).rejects.toThrow(
      'Reading blob fragile broke off at byte 3000.',
    );
  });

  test('waits for a reader that takes longer than the store may', async () => {
    const blobs = await openImpatient();
    await put(blobs, 'slowly-read');
    const stream = await blobs.open('slowly-read');
    // The next request times out twice as its store says nothing; the unread one is paused for as long.
    faults = [sayNothing, sayNothing];
    await blobs.remove('another');
    expect((await buffer(stream)).equals(BYTES)).toBe(true);
    expect(asked.filter(({ method, url }) => method === 'GET' && url?.endsWith('slowly-read'))).toHaveLength(
      1,
    );
  });
});

test('a list has all pages, and only blobs right under the prefix', async () => {
  const keys = Array.from({ length: 1234 }, (_, index) => `b-${String(index).padStart(4, '0')}`);
  for (const key of keys) await server.writeObject(`pages/${key}`, key);
  await server.writeObject('pages/folder/b-0001', 'of somebody else');
  await server.writeObject('pages/Read Me & weep.txt', 'of somebody else');
  await server.writeObject('pages-too/b-9999', 'of somebody else');
  const blobs = await open(server.credentials, addressOf(server.bucket, 'pages/'));
  asked = [];
  expect(await Array.fromAsync(blobs.list(Date.now() + 3_600_000))).toEqual(keys);
  expect(asked).toHaveLength(2);
});

describe('an address', () => {
  const href = (address: string): string => parseS3Address(address).url.href;

  test('names Amazon when it has no endpoint', () => {
    expect(href('s3://acme')).toBe('https://acme.s3.us-east-1.amazonaws.com/');
    expect(href('s3://acme?region=eu-west-1')).toBe('https://acme.s3.eu-west-1.amazonaws.com/');
    expect(href('s3://acme?region=cn-north-1')).toBe('https://acme.s3.cn-north-1.amazonaws.com.cn/');
    expect(href('s3://acme.blobs')).toBe('https://s3.us-east-1.amazonaws.com/acme.blobs');
  });

  test('has the bucket in the path when it has an endpoint', () => {
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
  ])('like %s is refused', (address, named) => {
    const refused = (): unknown => parseS3Address(address);
    expect(refused).toThrow(named);
    expect(refused).toThrow('SWITCHYARD_BLOBS');
    expect(refused).not.toThrow('hunter2');
  });
});
