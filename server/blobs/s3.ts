/**
 * Blobs as objects of an S3-compatible store, each under the prefix and its key. Content comes as a stream of unknown
 * length, and S3 wants length and hash first; so it is spooled to a file and sent from there in one signed PUT. Beside
 * multipart upload that costs a write and a read of the local disk, but holds nothing in memory, can be repeated when the
 * connection breaks, leaves no half upload behind in the bucket, and lets the store check what arrived. A single PUT may
 * have 5 GB, ten times what is ever stored here.
 *
 * What must stay true: an object is there whole or not at all, as a PUT is; the spool is emptied at the start and each
 * of its files removed when its put ends; everything right under the prefix belongs to the installation that
 * `installation.json` there names. The trash is under `.trash/`.
 */
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { escapeRegExp } from '@switchyard/contract/site/regular-expressions.ts';
import {
  BlobMissingError,
  type BlobRange,
  type BlobReader,
  type BlobStore,
  formatMarker,
  MARKER_FILE,
  MarkerExistsError,
  openOrRestore,
  parseMarker,
  TRASH_FOLDER,
} from './blob-store.ts';
import { writeHashedFile } from './hashed-file.ts';
import { parseS3Address, type S3Address } from './s3-address.ts';
import {
  createS3Sender,
  type RetryPolicy,
  readText,
  type S3Credentials,
  S3Error,
  type S3Sender,
} from './s3-requests.ts';

export interface S3Options extends Partial<RetryPolicy> {
  /** A folder of this process alone, on a disk with room for what is being put; made when missing, and emptied. */
  spool: string;
}

const DEFAULT_RETRY_POLICY: RetryPolicy = { attemptsMax: 4, backoffMs: 250, idleTimeoutMs: 30_000 };
const KEYS_PER_PAGE = 1000;
/** A page of 1000 keys has about 300 kB. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024;

interface Opened {
  send: S3Sender;
  patience: RetryPolicy;
  bucket: string;
  prefix: string;
}

/**
 * Opens the bucket that the address names, as `parseS3Address` reads it, and checks that it answers. Throws ConfigError
 * for a wrong address and S3Error when the bucket is missing, refuses the credentials or cannot be reached.
 */
async function openBucket(
  address: string,
  credentials: S3Credentials,
  given: Partial<RetryPolicy>,
): Promise<Opened> {
  const patience = { ...DEFAULT_RETRY_POLICY, ...given };
  const { prefix, ...bucket }: S3Address = parseS3Address(address);
  const send = createS3Sender(bucket, credentials, patience);
  await send({ purpose: 'say that it is there', method: 'HEAD' }, drain).catch(explain);
  return { send, patience, bucket: bucket.name, prefix };
}

/** The bucket as a store; see `openBucket` for what it throws. */
export async function openS3Blobs(
  address: string,
  credentials: S3Credentials,
  { spool, ...given }: S3Options,
): Promise<BlobStore> {
  const opened = await openBucket(address, credentials, given);
  const { send, bucket, prefix } = opened;
  await rm(spool, { recursive: true, force: true });
  await mkdir(spool, { recursive: true, mode: 0o700 });
  let spooled = 0;

  const store = async (
    object: string,
    source: Readable,
    bytesMax: number,
    more: Record<string, string> = {},
  ): Promise<{ bytes: number; sha256: string }> => {
    spooled += 1;
    const path = join(spool, String(spooled));
    try {
      const measured = await writeHashedFile(path, source, bytesMax);
      const file = { path, ...measured };
      const headers = { 'content-type': 'application/octet-stream', ...more };
      const purpose = `store ${object.slice(prefix.length)}`;
      await send({ purpose, method: 'PUT', object, headers, file }, drain);
      return measured;
    } finally {
      await rm(path, { force: true });
    }
  };
  const remove = async (object: string): Promise<void> => {
    const purpose = `remove ${object.slice(prefix.length)}`;
    await send({ purpose, method: 'DELETE', object }, drain).catch(unlessMissing);
  };
  /** Returns false when there is no such object. */
  const move = async (from: string, to: string): Promise<boolean> => {
    const headers = { 'x-amz-copy-source': `/${bucket}/${from}` };
    const purpose = `copy ${from.slice(prefix.length)}`;
    try {
      const said = await send({ purpose, method: 'PUT', object: to, headers }, (answer) =>
        readText(answer, PAGE_BYTES_MAX),
      );
      // A copy that fails after it has begun is answered with 200 all the same.
      if (said.includes('<Error>'))
        throw new S3Error(`The bucket "${bucket}" could not ${purpose}: ${said.slice(0, 300)}.`, null, true);
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
    await remove(from);
    return true;
  };
  const trashed = (key: string): string => `${prefix}${TRASH_FOLDER}/${key}`;

  const restore = (key: string): Promise<boolean> => move(trashed(key), prefix + key);

  return {
    ...readerOf(opened),
    open: (key, part = null) =>
      openOrRestore(
        () => openAt(opened, { object: prefix + key, key, part }),
        () => restore(key),
      ),
    put: async (key, source, bytesMax) => ({ key, ...(await store(prefix + key, source, bytesMax)) }),
    remove: (key) => remove(prefix + key),
    async moveToTrash(key) {
      await move(prefix + key, trashed(key));
    },
    restore,
    purge: (key) => remove(trashed(key)),
    async writeMarker(marker, { isFirst = false } = {}) {
      const text = Buffer.from(formatMarker(marker));
      const put = (headers: Record<string, string>) =>
        store(prefix + MARKER_FILE, Readable.from([text], { objectMode: false }), text.length, headers);
      if (!isFirst) return void (await put({}));
      await put({ 'if-none-match': '*' }).catch((error: unknown) => {
        const status = error instanceof S3Error ? error.status : null;
        if (status === 412)
          throw new MarkerExistsError(`${prefix}${MARKER_FILE} was written by another installation`);
        // A store that knows no conditions.
        if (status === 501) return put({});
        throw error;
      });
    },
    removeMarker: () => remove(prefix + MARKER_FILE),
  };
}

/** The bucket for a process that changes nothing; see `openBucket` for what it throws. */
export async function openS3BlobReader(
  address: string,
  credentials: S3Credentials,
  patience: Partial<RetryPolicy> = {},
): Promise<BlobReader> {
  return readerOf(await openBucket(address, credentials, patience));
}

interface Piece {
  object: string;
  key: string;
  part: BlobRange | null;
}

/** Throws BlobMissingError. */
async function openAt({ send, patience }: Opened, piece: Piece): Promise<Readable> {
  return openObject(send, piece, patience).catch((error: unknown) => {
    throw isMissing(error) ? new BlobMissingError(piece.key, error) : error;
  });
}

function readerOf(opened: Opened): BlobReader {
  const { send, prefix } = opened;
  async function* list(folder: string, writtenBefore: number): AsyncGenerator<string> {
    let token: string | undefined;
    do {
      const query = {
        'list-type': '2',
        'max-keys': String(KEYS_PER_PAGE),
        prefix: folder,
        ...(token === undefined ? {} : { 'continuation-token': token }),
      };
      const page = await send({ purpose: 'list what it holds', method: 'GET', query }, (answer) =>
        readText(answer, PAGE_BYTES_MAX),
      );
      for (const { name, writtenAt } of objectsIn(page)) {
        const key = name.slice(folder.length);
        if (writtenAt < writtenBefore && /^[a-z0-9-]+$/.test(key)) yield key;
      }
      token = field(page, 'IsTruncated') === 'true' ? field(page, 'NextContinuationToken') : undefined;
    } while (token !== undefined);
  }
  return {
    open: (key, part = null) =>
      openAt(opened, { object: prefix + key, key, part }).catch((error: unknown) => {
        if (!(error instanceof BlobMissingError)) throw error;
        return openAt(opened, { object: `${prefix}${TRASH_FOLDER}/${key}`, key, part });
      }),
    stat: (key) =>
      send({ purpose: `describe ${key}`, method: 'HEAD', object: prefix + key }, async (answer) => {
        await drain(answer);
        const { 'content-length': length, 'last-modified': written = '', etag = '' } = answer.headers;
        return { bytes: Number(length), writtenAt: Date.parse(written), version: `${etag} ${written}` };
      }).catch(unlessMissing),
    list: (writtenBefore) => list(prefix, writtenBefore),
    listTrash: (movedBefore) => list(`${prefix}${TRASH_FOLDER}/`, movedBefore),
    async readMarker() {
      const text = await send(
        { purpose: `hand out ${MARKER_FILE}`, method: 'GET', object: prefix + MARKER_FILE },
        (answer) => readText(answer, PAGE_BYTES_MAX),
      ).catch(unlessMissing);
      return text === null ? null : parseMarker(text, prefix + MARKER_FILE);
    },
  };
}

function unlessMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

async function drain(answer: IncomingMessage): Promise<void> {
  for await (const _ of answer);
}

/** A HEAD is refused without a reason, so these are the likely ones. */
const LIKELY: Record<number, string> = {
  400: 'The region may be the wrong one.',
  403: 'The credentials are wrong or lack the right to list the bucket, or the clock of this machine is off.',
  404: 'There is no such bucket; it must exist before the server starts.',
};

function explain(error: unknown): never {
  const hint = error instanceof S3Error && error.status !== null ? LIKELY[error.status] : undefined;
  if (!(error instanceof S3Error) || hint === undefined) throw error;
  throw new S3Error(`${error.message} ${hint}`, error.status, false, error);
}

function isMissing(error: unknown): error is S3Error {
  return error instanceof S3Error && error.status === 404;
}

/** The object as a stream that goes on where it was when the connection breaks, which it may as often as a request. */
async function openObject(
  send: S3Sender,
  { object, key, part }: Piece,
  patience: RetryPolicy,
): Promise<Readable> {
  /** From `received` on, counted from where the part begins. A store that sends something else is not believed. */
  const get = async (received: number): Promise<IncomingMessage> => {
    const from = (part?.from ?? 0) + received;
    const isPart = part !== null || received > 0;
    const headers = isPart ? { headers: { range: `bytes=${from}-${part?.to ?? ''}` } } : {};
    const purpose = `hand out ${key}`;
    const found = await send({ purpose, method: 'GET', object, ...headers }, async (answer) => answer);
    const begins = found.headers['content-range']?.startsWith(`bytes ${from}-`) ?? false;
    if (!isPart || (found.statusCode === 206 && begins)) return found;
    found.destroy();
    throw new Error(`Asked for the blob ${key} from byte ${from} on, the store sent something else.`);
  };
  let answer = await get(0);

  async function* read(): AsyncGenerator<Buffer> {
    let chunks = answer[Symbol.asyncIterator]();
    let received = 0;
    let breaks = 0;
    // Some stores send more than was asked for, all of it when only the first byte was.
    const wanted = part ? part.to - part.from + 1 : Number.POSITIVE_INFINITY;
    try {
      while (received < wanted) {
        let step: IteratorResult<Buffer, unknown>;
        try {
          step = await chunks.next();
        } catch (error) {
          breaks += 1;
          if (breaks >= patience.attemptsMax) throw brokenOff(key, received, error);
          await delay(patience.backoffMs * 2 ** (breaks - 1));
          answer = await get(received).catch((failure: unknown) => {
            throw failure instanceof S3Error ? failure : brokenOff(key, received, error);
          });
          chunks = answer[Symbol.asyncIterator]();
          continue;
        }
        if (step.done) return;
        const chunk = step.value.subarray(0, wanted - received);
        received += chunk.length;
        yield chunk;
      }
    } finally {
      answer.destroy();
    }
  }

  const stream = Readable.from(read(), { objectMode: false });
  // A reader that leaves before it has read anything never starts the generator, which then cannot tidy up.
  stream.once('close', () => answer.destroy());
  return stream;
}

function brokenOff(key: string, received: number, cause: unknown): Error {
  return new Error(`Reading blob ${key} broke off at byte ${received}.`, { cause });
}

function objectsIn(page: string): { name: string; writtenAt: number }[] {
  return [...page.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, object = '']) => ({
    name: field(object, 'Key') ?? '',
    writtenAt: Date.parse(field(object, 'LastModified') ?? ''),
  }));
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text of the first element of this name, which holds no other. */
function field(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${escapeRegExp(name)}>([^<]*)</${escapeRegExp(name)}>`).exec(xml)?.[1];
  return text?.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (entity, decimal, hex, word) => {
    if (word) return ENTITIES[word] ?? entity;
    return String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16));
  });
}
