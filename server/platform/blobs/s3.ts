/**
 * Stores blobs as objects of an S3-compatible store, each under the prefix and its key. Content arrives as a stream of
 * unknown length, but S3 needs length and hash first. `put` therefore spools it to a file and sends the file in one signed
 * PUT. Compared with a multipart upload this costs a write and a read of the local disk. In return it needs no memory, can
 * be repeated when the connection breaks, leaves no partial upload in the bucket, and lets the store check the content. A
 * single PUT may have 5 GB, ten times the largest content of the server.
 *
 * Invariants: a PUT creates an object whole or not at all. The start empties the spool, and each put removes its file. All
 * objects directly under the prefix belong to the installation that `installation.json` names. The trash is under `.trash/`.
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
  checkBlobKey,
  formatMarker,
  type InstallationMarker,
  isBlobKey,
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

/** The spool, and optional retries and timeouts. */
export interface S3Options extends Partial<RetryPolicy> {
  /** A folder of this process alone, on a disk with space for the blobs under way. It is created or emptied. */
  spool: string;
}

const DEFAULT_RETRY_POLICY: RetryPolicy = { attemptsMax: 4, backoffMs: 250, idleTimeoutMs: 30_000 };
const KEYS_PER_PAGE = 1000;
/** A page of 1000 keys has about 300 kB. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024;

interface BucketConnection {
  send: S3Sender;
  retryPolicy: RetryPolicy;
  bucket: string;
  prefix: string;
}

/**
 * Opens the bucket of the address (`parseS3Address`) and checks that it responds. Throws ConfigError for a wrong address, and
 * S3Error when the bucket is missing, refuses the credentials or is unreachable.
 */
async function openBucket(
  address: string,
  credentials: S3Credentials,
  retryOptions: Partial<RetryPolicy>,
): Promise<BucketConnection> {
  const retryPolicy = { ...DEFAULT_RETRY_POLICY, ...retryOptions };
  const { prefix, ...bucket }: S3Address = parseS3Address(address);
  const send = createS3Sender(bucket, credentials, retryPolicy);
  await send({ purpose: 'confirm that it exists', method: 'HEAD' }, drain).catch(addHint);
  return { send, retryPolicy, bucket: bucket.name, prefix };
}

/** Writes, removes and moves objects of the bucket. */
class ObjectWriter {
  readonly #connection: BucketConnection;
  readonly #spool: string;
  #spooledFiles = 0;

  constructor(connection: BucketConnection, spool: string) {
    this.#connection = connection;
    this.#spool = spool;
  }

  /** Spools the source to a file and sends it in one PUT. Returns length and SHA-256. */
  async store(object: string, source: Readable, bytesMax: number, extraHeaders: Record<string, string> = {}) {
    const { send, prefix } = this.#connection;
    this.#spooledFiles += 1;
    const path = join(this.#spool, String(this.#spooledFiles));
    try {
      const measured = await writeHashedFile(path, source, bytesMax);
      const file = { path, ...measured };
      const headers = { 'content-type': 'application/octet-stream', ...extraHeaders };
      const purpose = `store ${object.slice(prefix.length)}`;
      await send({ purpose, method: 'PUT', object, headers, file }, drain);
      return measured;
    } finally {
      await rm(path, { force: true });
    }
  }

  async remove(object: string): Promise<void> {
    const { send, prefix } = this.#connection;
    const purpose = `remove ${object.slice(prefix.length)}`;
    await send({ purpose, method: 'DELETE', object }, drain).catch(ignoreMissing);
  }

  /** Returns false when there is no such object. */
  async move(from: string, to: string): Promise<boolean> {
    const { send, bucket, prefix } = this.#connection;
    const headers = { 'x-amz-copy-source': `/${bucket}/${from}` };
    const purpose = `copy ${from.slice(prefix.length)}`;
    try {
      const body = await send({ purpose, method: 'PUT', object: to, headers }, (response) =>
        readText(response, PAGE_BYTES_MAX),
      );
      // S3 sends status 200 before a copy begins, so a failing copy has it too.
      if (body.includes('<Error>'))
        throw new S3Error(`The bucket "${bucket}" could not ${purpose}: ${body.slice(0, 300)}.`, null, true);
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
    await this.remove(from);
    return true;
  }

  /** With `isFirst`, throws MarkerExistsError when there is a marker already. */
  async writeMarker(marker: InstallationMarker, isFirst: boolean): Promise<void> {
    const { prefix } = this.#connection;
    const text = Buffer.from(formatMarker(marker));
    const put = (headers: Record<string, string>) =>
      this.store(prefix + MARKER_FILE, Readable.from([text], { objectMode: false }), text.length, headers);
    if (!isFirst) return void (await put({}));
    await put({ 'if-none-match': '*' }).catch((error: unknown) => {
      const status = error instanceof S3Error ? error.status : null;
      if (status === 412)
        throw new MarkerExistsError(`${prefix}${MARKER_FILE} was written by another installation`);
      // The store does not support conditional writes.
      if (status === 501) return put({});
      throw error;
    });
  }
}

/** Opens the bucket as a store. Throws the errors of `openBucket`. */
export async function openS3Blobs(
  address: string,
  credentials: S3Credentials,
  { spool, ...retryOptions }: S3Options,
): Promise<BlobStore> {
  const connection = await openBucket(address, credentials, retryOptions);
  const { prefix } = connection;
  await rm(spool, { recursive: true, force: true });
  await mkdir(spool, { recursive: true, mode: 0o700 });
  const objects = new ObjectWriter(connection, spool);
  const nameTrashed = (key: string): string => `${prefix}${TRASH_FOLDER}/${checkBlobKey(key)}`;

  /** The readers of a blob in the trash share one move: a second copy would replace the object that the first reader reads. */
  const restoring = new Map<string, Promise<boolean>>();
  const restore = async (key: string): Promise<boolean> => {
    const moving =
      restoring.get(key) ??
      objects.move(nameTrashed(key), prefix + checkBlobKey(key)).finally(() => restoring.delete(key));
    restoring.set(key, moving);
    return moving;
  };

  return {
    ...createReader(connection),
    open: (key, part = null) =>
      openOrRestore(
        () => openExisting(connection, { object: prefix + checkBlobKey(key), key, part }),
        () => restore(key),
      ),
    put: async (key, source, bytesMax) => ({
      key,
      ...(await objects.store(prefix + checkBlobKey(key), source, bytesMax)),
    }),
    remove: async (key) => objects.remove(prefix + checkBlobKey(key)),
    async moveToTrash(key) {
      await objects.move(prefix + checkBlobKey(key), nameTrashed(key));
    },
    restore,
    purge: async (key) => objects.remove(nameTrashed(key)),
    writeMarker: (marker, { isFirst = false } = {}) => objects.writeMarker(marker, isFirst),
    removeMarker: () => objects.remove(prefix + MARKER_FILE),
  };
}

/** Opens the bucket for reading alone. Throws the errors of `openBucket`. */
export async function openS3BlobReader(
  address: string,
  credentials: S3Credentials,
  retryPolicy: Partial<RetryPolicy> = {},
): Promise<BlobReader> {
  return createReader(await openBucket(address, credentials, retryPolicy));
}

interface Piece {
  object: string;
  key: string;
  part: BlobRange | null;
}

/** Opens the object; throws BlobMissingError when it does not exist. */
async function openExisting({ send, retryPolicy }: BucketConnection, piece: Piece): Promise<Readable> {
  return openObject(send, piece, retryPolicy).catch((error: unknown) => {
    throw isMissing(error) ? new BlobMissingError(piece.key, error) : error;
  });
}

function createReader(connection: BucketConnection): BlobReader {
  const { send, prefix } = connection;
  async function* list(folder: string, writtenBefore: number): AsyncGenerator<string> {
    let token: string | undefined;
    do {
      const query = {
        'list-type': '2',
        'max-keys': String(KEYS_PER_PAGE),
        prefix: folder,
        ...(token === undefined ? {} : { 'continuation-token': token }),
      };
      const page = await send({ purpose: 'list its objects', method: 'GET', query }, (response) =>
        readText(response, PAGE_BYTES_MAX),
      );
      for (const { name, writtenAt } of parseObjects(page)) {
        const key = name.slice(folder.length);
        if (writtenAt < writtenBefore && isBlobKey(key)) yield key;
      }
      token =
        readElement(page, 'IsTruncated') === 'true' ? readElement(page, 'NextContinuationToken') : undefined;
    } while (token !== undefined);
  }
  return {
    open: async (key, part = null) =>
      openExisting(connection, { object: prefix + checkBlobKey(key), key, part }).catch((error: unknown) => {
        if (!(error instanceof BlobMissingError)) throw error;
        return openExisting(connection, {
          object: `${prefix}${TRASH_FOLDER}/${checkBlobKey(key)}`,
          key,
          part,
        });
      }),
    stat: async (key) =>
      send(
        { purpose: `describe ${key}`, method: 'HEAD', object: prefix + checkBlobKey(key) },
        async (response) => {
          await drain(response);
          const { 'content-length': length, 'last-modified': written = '', etag = '' } = response.headers;
          return { bytes: Number(length), writtenAt: Date.parse(written), version: `${etag} ${written}` };
        },
      ).catch(ignoreMissing),
    list: (writtenBefore) => list(prefix, writtenBefore),
    listTrash: (movedBefore) => list(`${prefix}${TRASH_FOLDER}/`, movedBefore),
    async readMarker() {
      const text = await send(
        { purpose: `hand out ${MARKER_FILE}`, method: 'GET', object: prefix + MARKER_FILE },
        (response) => readText(response, PAGE_BYTES_MAX),
      ).catch(ignoreMissing);
      return text === null ? null : parseMarker(text, prefix + MARKER_FILE);
    },
  };
}

function ignoreMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

async function drain(response: IncomingMessage): Promise<void> {
  for await (const _ of response);
}

/** The likely causes of a refused HEAD, whose response has no body. */
const HINTS: Record<number, string> = {
  400: 'The region may be the wrong one.',
  403: 'The credentials are wrong or lack the right to list the bucket, or the clock of this machine is wrong.',
  404: 'There is no such bucket. Create it before the server starts.',
};

function addHint(error: unknown): never {
  const hint = error instanceof S3Error && error.status !== null ? HINTS[error.status] : undefined;
  if (!(error instanceof S3Error) || hint === undefined) throw error;
  throw new S3Error(`${error.message} ${hint}`, error.status, false, error);
}

function isMissing(error: unknown): error is S3Error {
  return error instanceof S3Error && error.status === 404;
}

/** Opens the object as a stream that continues after a broken connection, up to the attempts of the retry policy. */
async function openObject(
  send: S3Sender,
  { object, key, part }: Piece,
  retryPolicy: RetryPolicy,
): Promise<Readable> {
  /** Requests the bytes after the first `received` of the part. Throws when the store sends another range. */
  const get = async (received: number): Promise<IncomingMessage> => {
    const from = (part?.from ?? 0) + received;
    const isPart = part !== null || received > 0;
    const headers = isPart ? { headers: { range: `bytes=${from}-${part?.to ?? ''}` } } : {};
    const purpose = `hand out ${key}`;
    const found = await send({ purpose, method: 'GET', object, ...headers }, async (response) => response);
    const begins = found.headers['content-range']?.startsWith(`bytes ${from}-`) ?? false;
    if (!isPart || (found.statusCode === 206 && begins)) return found;
    found.destroy();
    throw new Error(`The store sent a range of the blob ${key} that does not begin at byte ${from}.`);
  };
  let response = await get(0);

  async function* read(): AsyncGenerator<Buffer> {
    let chunks = response[Symbol.asyncIterator]();
    let received = 0;
    let breaks = 0;
    // Some stores send more than the requested range.
    const wanted = part ? part.to - part.from + 1 : Number.POSITIVE_INFINITY;
    try {
      while (received < wanted) {
        let step: IteratorResult<Buffer, unknown>;
        try {
          step = await chunks.next();
        } catch (error) {
          breaks += 1;
          if (breaks >= retryPolicy.attemptsMax) throw createReadError(key, received, error);
          await delay(retryPolicy.backoffMs * 2 ** (breaks - 1));
          response = await get(received).catch((failure: unknown) => {
            throw failure instanceof S3Error ? failure : createReadError(key, received, error);
          });
          chunks = response[Symbol.asyncIterator]();
          continue;
        }
        if (step.done) return;
        const chunk = step.value.subarray(0, wanted - received);
        received += chunk.length;
        yield chunk;
      }
    } finally {
      response.destroy();
    }
  }

  const stream = Readable.from(read(), { objectMode: false });
  // Without a read the generator never starts, so its `finally` does not run.
  stream.once('close', () => response.destroy());
  return stream;
}

function createReadError(key: string, received: number, cause: unknown): Error {
  return new Error(`The connection broke at byte ${received} of the blob ${key}.`, { cause });
}

function parseObjects(page: string): { name: string; writtenAt: number }[] {
  return [...page.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, object = '']) => ({
    name: readElement(object, 'Key') ?? '',
    writtenAt: Date.parse(readElement(object, 'LastModified') ?? ''),
  }));
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Returns the text of the first element with the name; the element contains no other. */
function readElement(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${escapeRegExp(name)}>([^<]*)</${escapeRegExp(name)}>`).exec(xml)?.[1];
  return text?.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (entity, decimal, hex, word) => {
    if (word) return ENTITIES[word] ?? entity;
    return String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16));
  });
}
