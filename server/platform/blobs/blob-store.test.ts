/**
 * Tests of BlobStore on disk and on S3. `SWITCHYARD_TEST_S3=s3://…` with the usual AWS variables adds another store.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BlobMissingError, type BlobReader, type BlobStore, TooLargeError } from './blob-store.ts';
import { openDiskBlobReader, openDiskBlobs } from './disk.ts';
import { openS3BlobReader, openS3Blobs } from './s3.ts';
import { startS3Server } from './testing/s3-server.ts';

interface Place {
  blobs: BlobStore;
  /** The same store, opened for reading alone. */
  reader: BlobReader;
  /** The folder of unfinished content. */
  incoming: string;
  /** Absent for stores where a test cannot set the time. */
  setWritten?: (key: string, at: number) => Promise<void>;
  close(): Promise<void>;
}

async function openOnDisk(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-blobs-'));
  return {
    blobs: await openDiskBlobs(folder),
    reader: openDiskBlobReader(folder),
    incoming: join(folder, 'incoming'),
    setWritten: (key, at) => utimes(join(folder, key.slice(-2), key), at / 1000, at / 1000),
    close: () => rm(folder, { recursive: true }),
  };
}

async function openOnS3(): Promise<Place> {
  const spool = await mkdtemp(join(tmpdir(), 'switchyard-spool-'));
  const server = await startS3Server();
  const address = `s3://${server.bucket}?endpoint=${server.endpoint}&prefix=here/`;
  return {
    blobs: await openS3Blobs(address, server.credentials, { spool }),
    reader: await openS3BlobReader(address, server.credentials),
    incoming: spool,
    setWritten: (key, at) => server.setWrittenAt(`here/${key}`, at),
    async close() {
      await server.stop();
      await rm(spool, { recursive: true });
    },
  };
}

const chosenAddress = process.env.SWITCHYARD_TEST_S3;

async function openOnChosenS3(): Promise<Place> {
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '', AWS_SESSION_TOKEN } = process.env;
  const spool = await mkdtemp(join(tmpdir(), 'switchyard-spool-'));
  const credentials = {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
  };
  return {
    blobs: await openS3Blobs(chosenAddress ?? '', credentials, { spool }),
    reader: await openS3BlobReader(chosenAddress ?? '', credentials),
    incoming: spool,
    close: () => rm(spool, { recursive: true }),
  };
}

/** Returns the same bytes on every run, without a period that a store could compress. */
function content(bytes: number): Buffer {
  return bytes === 0 ? Buffer.alloc(0) : createHash('shake256', { outputLength: bytes }).digest();
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Returns the bytes in chunks of a socket; fails after them when there is a failure. */
function createChunkedStream(bytes: Buffer, failure?: Error): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
      if (failure) throw failure;
    })(),
    { objectMode: false },
  );
}

const HOUR_MS = 3_600_000;

const places: [string, () => Promise<Place>][] = [
  ['disk', openOnDisk],
  ['S3', openOnS3],
  ...(chosenAddress ? ([['the chosen S3', openOnChosenS3]] as [string, () => Promise<Place>][]) : []),
];

describe.each(places)('a blob store on %s', (_, openPlace) => {
  let place: Place;
  let blobs: BlobStore;
  beforeAll(async () => {
    place = await openPlace();
    blobs = place.blobs;
    for (const key of await listKeys(Date.now() + HOUR_MS)) await blobs.remove(key);
  });
  afterAll(() => place.close());

  async function listKeys(writtenBefore: number): Promise<string[]> {
    return (await Array.fromAsync(blobs.list(writtenBefore))).sort();
  }
  const put = (key: string, bytes: Buffer) => blobs.put(key, createChunkedStream(bytes), bytes.length);

  test.each([0, 1, 70_000, 20_000_000])('returns the %i bytes that were stored', async (count) => {
    const bytes = content(count);
    const key = `b-${count}`;
    expect(await put(key, bytes)).toEqual({ key, bytes: count, sha256: sha256(bytes) });
    const out = await buffer(await blobs.open(key));
    expect(out.length).toBe(count);
    expect(sha256(out)).toBe(sha256(bytes));
    expect(await readdir(place.incoming)).toEqual([]);
  });

  test.each([
    [0, 0],
    [0, 69_999],
    [65_535, 65_536],
    [69_999, 69_999],
  ])('returns bytes %i to %i, both included', async (from, to) => {
    const bytes = content(70_000);
    await put('part', bytes);
    const out = await buffer(await blobs.open('part', { from, to }));
    expect(out.equals(bytes.subarray(from, to + 1))).toBe(true);
  });

  test.each(['a', '7', '-', '0-z', 'b-0123456789abcdefghjkmnpqrstvwxyz', 'z'.repeat(64)])(
    'accepts the key %s',
    async (key) => {
      await put(key, Buffer.from(key));
      expect((await buffer(await blobs.open(key))).toString()).toBe(key);
      expect(await listKeys(Date.now() + HOUR_MS)).toContain(key);
      await blobs.remove(key);
    },
  );

  test.each(['../b-1', '/etc/passwd', 'a/b', '..', '.', '', 'B', 'a.b', 'a'.repeat(200)])(
    'A5: the key %j, which a restored backup may have, names no blob and writes nothing',
    async (key) => {
      const attempts = [
        () => blobs.open(key),
        () => place.reader.open(key),
        () => place.reader.stat(key),
        () => put(key, Buffer.from('x')),
        () => blobs.remove(key),
        () => blobs.moveToTrash(key, Date.now()),
        () => blobs.restore(key),
        () => blobs.purge(key),
      ];
      for (const attempt of attempts) await expect(attempt()).rejects.toThrow(BlobMissingError);
    },
  );

  test('separates two concurrent puts', async () => {
    const [first, second] = [content(3_000_000), content(2_000_000).reverse()];
    await Promise.all([put('first', first), put('second', second)]);
    const [one, two] = await Promise.all([blobs.open('first'), blobs.open('second')]);
    const contents = await Promise.all([buffer(one), buffer(two)]);
    expect(contents.map(sha256)).toEqual([sha256(first), sha256(second)]);
  });

  test('stores nothing of a source that fails midway', async () => {
    const source = createChunkedStream(content(1_000_000), new Error('the client disconnected'));
    await expect(blobs.put('broken', source, 5_000_000)).rejects.toThrow('the client disconnected');
    await expect(blobs.open('broken')).rejects.toThrow('broken');
    expect(await listKeys(Date.now() + HOUR_MS)).not.toContain('broken');
    expect(await readdir(place.incoming)).toEqual([]);
  });

  test('accepts as many bytes as allowed, and not one more', async () => {
    const bytes = content(100_001);
    await expect(blobs.put('long', createChunkedStream(bytes), 100_000)).rejects.toThrow(
      new TooLargeError(100_000),
    );
    await expect(blobs.open('long')).rejects.toThrow('long');
    expect(await readdir(place.incoming)).toEqual([]);
    expect(await blobs.put('long', createChunkedStream(bytes), 100_001)).toMatchObject({ bytes: 100_001 });
  });

  test('names the missing blob in its error', async () => {
    await expect(blobs.open('b-missing')).rejects.toThrow('b-missing');
  });

  test('removes a blob, and does nothing the second time', async () => {
    await put('twice', content(10));
    await blobs.remove('twice');
    await expect(blobs.open('twice')).rejects.toThrow('twice');
    await blobs.remove('twice');
    expect(await listKeys(Date.now() + HOUR_MS)).not.toContain('twice');
  });

  test('releases a blob that no reader reads to its end', async () => {
    await put('unread', content(2_000_000));
    const [untouched, started] = [await blobs.open('unread'), await blobs.open('unread')];
    untouched.destroy();
    for await (const chunk of started) {
      expect(chunk).toBeInstanceOf(Buffer);
      break;
    }
    expect(started.destroyed).toBe(true);
    expect((await buffer(await blobs.open('unread'))).length).toBe(2_000_000);
  });

  test('lists the blobs written before an instant', async (context) => {
    await put('fresh', content(10));
    await put('old', content(10));
    expect(await listKeys(Date.now() - HOUR_MS)).toEqual([]);
    expect(await listKeys(Date.now() + HOUR_MS)).toEqual(expect.arrayContaining(['fresh', 'old']));
    if (!place.setWritten) return context.skip('a test cannot make a blob of this store older');
    await place.setWritten('old', Date.now() - 2 * HOUR_MS);
    expect(await listKeys(Date.now() - HOUR_MS)).toEqual(['old']);
  });

  test('R1: moves a blob to the trash, still reads it there, moves it back when it is opened, and purges it', async () => {
    const bytes = content(70_000);
    await put('unnamed', bytes);
    await blobs.moveToTrash('unnamed', Date.now());
    await blobs.moveToTrash('never-there', Date.now());
    expect(await listKeys(Date.now() + HOUR_MS)).not.toContain('unnamed');
    expect(await blobs.stat('unnamed')).toBeNull();
    const listTrashed = async (before: number) => Array.fromAsync(blobs.listTrash(before));
    expect(await listTrashed(Date.now() - HOUR_MS)).toEqual([]);
    expect(await listTrashed(Date.now() + HOUR_MS)).toEqual(['unnamed']);
    expect(sha256(await buffer(await place.reader.open('unnamed')))).toBe(sha256(bytes));
    expect(await listTrashed(Date.now() + HOUR_MS)).toEqual(['unnamed']);
    expect(sha256(await buffer(await blobs.open('unnamed')))).toBe(sha256(bytes));
    expect(await listTrashed(Date.now() + HOUR_MS)).toEqual([]);
    expect(await blobs.stat('unnamed')).toMatchObject({ bytes: 70_000 });
    expect(await blobs.restore('unnamed')).toBe(false);
    await blobs.moveToTrash('unnamed', Date.now());
    await blobs.purge('unnamed');
    await expect(blobs.open('unnamed')).rejects.toThrow(BlobMissingError);
  });

  test('R1: moves a blob back from the trash for several concurrent readers', async () => {
    await put('wanted', content(70_000));
    await blobs.moveToTrash('wanted', Date.now());
    const opened = await Promise.all(Array.from({ length: 4 }, () => blobs.open('wanted')));
    for (const one of opened) expect((await buffer(one)).length).toBe(70_000);
    expect(await blobs.stat('wanted')).toMatchObject({ bytes: 70_000 });
  });

  test('R1: stores one marker, which is not in any list', async () => {
    expect(await blobs.readMarker()).toBeNull();
    const marker = { installation: 'inst-1', generation: 1, mayBeEmpty: false };
    await blobs.writeMarker(marker, { isFirst: true });
    expect(await place.reader.readMarker()).toEqual(marker);
    await blobs.writeMarker({ ...marker, generation: 2 });
    expect(await blobs.readMarker()).toEqual({ ...marker, generation: 2 });
    expect((await listKeys(Date.now() + HOUR_MS)).join()).not.toContain('installation');
    await blobs.removeMarker();
    expect(await blobs.readMarker()).toBeNull();
  });
});
