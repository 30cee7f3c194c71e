/**
 * Blobs as objects of an S3-compatible store, each under the prefix and its key. Content comes as a stream of unknown
 * length, and S3 wants length and hash first; so it is spooled to a file and sent from there in one signed PUT. Beside
 * multipart upload that costs a write and a read of the local disk, but holds nothing in memory, can be repeated when the
 * connection breaks, leaves no half upload behind in the bucket, and lets the store check what arrived. A single PUT may
 * have 5 GB, ten times what is ever stored here.
 *
 * What must stay true: an object is there whole or not at all, as a PUT is; the spool is emptied at the start and each
 * of its files removed when its put ends; everything right under the prefix belongs to one installation of this server,
 * because the caller removes what it does not know.
 */
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { escapeRegExp } from '@switchyard/contract/regular-expressions.ts';
import { writeMeasured } from './measured-file.ts';
import { parseS3Address, type S3Address } from './s3-address.ts';
import {
  createSend,
  type Patience,
  readText,
  type S3Credentials,
  S3Error,
  type Send,
} from './s3-requests.ts';
import type { BlobStore, Part } from './store.ts';

export interface S3Options extends Partial<Patience> {
  /** A folder of this process alone, on a disk with room for what is being put; made when missing, and emptied. */
  spool: string;
}

const PATIENCE: Patience = { attempts: 4, backoffMs: 250, idleMs: 30_000 };
const KEYS_PER_PAGE = 1000;
/** A page of 1000 keys has about 300 kB. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Opens the bucket that the address names, as `parseS3Address` reads it, and checks that it answers. Throws ConfigError
 * for a wrong address and S3Error when the bucket is missing, refuses the credentials or cannot be reached.
 */
export async function openS3Blobs(
  address: string,
  credentials: S3Credentials,
  { spool, ...given }: S3Options,
): Promise<BlobStore> {
  const patience = { ...PATIENCE, ...given };
  const { prefix, ...bucket }: S3Address = parseS3Address(address);
  const send = createSend(bucket, credentials, patience);
  await send({ purpose: 'say that it is there', method: 'HEAD' }, drain).catch(explain);
  await rm(spool, { recursive: true, force: true });
  await mkdir(spool, { recursive: true, mode: 0o700 });
  let spooled = 0;

  return {
    async put(key, source, bytesMax) {
      spooled += 1;
      const path = join(spool, String(spooled));
      try {
        const measured = await writeMeasured(path, source, bytesMax);
        const file = { path, ...measured };
        const headers = { 'content-type': 'application/octet-stream' };
        await send({ purpose: `store ${key}`, method: 'PUT', object: prefix + key, headers, file }, drain);
        return { key, ...measured };
      } finally {
        await rm(path, { force: true });
      }
    },
    open: (key, part) => openObject(send, { object: prefix + key, key, part: part ?? null }, patience),
    async remove(key) {
      try {
        await send({ purpose: `remove ${key}`, method: 'DELETE', object: prefix + key }, drain);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
    async *list(writtenBefore) {
      let token: string | undefined;
      do {
        const query = {
          'list-type': '2',
          'max-keys': String(KEYS_PER_PAGE),
          prefix,
          ...(token === undefined ? {} : { 'continuation-token': token }),
        };
        const page = await send({ purpose: 'list what it holds', method: 'GET', query }, (answer) =>
          readText(answer, PAGE_BYTES_MAX),
        );
        for (const { name, writtenAt } of objectsIn(page)) {
          const key = name.slice(prefix.length);
          if (writtenAt < writtenBefore && /^[a-z0-9-]+$/.test(key)) yield key;
        }
        token = field(page, 'IsTruncated') === 'true' ? field(page, 'NextContinuationToken') : undefined;
      } while (token !== undefined);
    },
  };
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
  send: Send,
  { object, key, part }: { object: string; key: string; part: Part | null },
  patience: Patience,
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
  let answer = await get(0).catch((error: unknown) => {
    throw isMissing(error) ? new Error(`There is no blob ${key}. ${error.message}`, { cause: error }) : error;
  });

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
          if (breaks >= patience.attempts) throw brokenOff(key, received, error);
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
