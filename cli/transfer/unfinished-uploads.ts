/**
 * The uploads that commands of this machine left unfinished, so that a later command continues them. Each is a file that its
 * owner alone may read, because the URL of an upload is a credential. The name of the file has the process that sends the
 * upload. Another command takes over an upload by renaming the file, so only one of several commands continues it.
 */
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { UPLOAD_RETENTION_MS } from '@switchyard/contract/limits.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type, { type Static } from 'typebox';
import type { Connection } from '../profiles/connect.ts';

/** A smaller content is sent again within seconds, and its record would cost more than it saves. */
const RECORDED_BYTES_MIN = 1024 * 1024;
/**
 * A record is kept for a day after the last byte; its time on the disk may be this much too old. The server may refuse its URL
 * earlier.
 */
const TOUCH_INTERVAL_MS = 5000;
/** `<upload>.<process>.json`; the process is `free` after the end of a command that could not finish the upload. */
const FILE_NAME = /^([\w-]+)\.(\d+|free)\.json$/;

/** The signed URL of an upload, and its id. */
const UploadUrl = Type.Object({ upload_id: Type.String(), upload_url: Type.String() });
export type UploadUrl = Static<typeof UploadUrl>;

/** The place for a content on a server. */
const UploadPlace = Type.Object({
  application_id: Type.String(),
  /** The operation that creates the upload; its uploads are of no use to another one. */
  operation: Type.Enum(['createRunUpload', 'getBinaryUpload']),
});
export type UploadPlace = Static<typeof UploadPlace>;

/** A stored upload. All fields but those of its URL and the profile have to be equal for a later command to continue it. */
const StoredUpload = Type.Object({
  ...UploadUrl.properties,
  ...UploadPlace.properties,
  server: Type.String(),
  /** The profile, or another source of the token. */
  profile: Type.String(),
  /** The hash of the token: a command with another one requests its own URL. */
  token_sha256: Type.String(),
  bytes: Type.Number(),
  sha256: Type.String(),
});
type StoredUpload = Static<typeof StoredUpload>;
const parseUpload = createJsonParser(StoredUpload);

interface Surroundings {
  /** The folder of the records; created with the first one. */
  folder: string;
  now?: () => number;
  /** Returns true for a process that runs on this machine. */
  isRunning?: (process: number) => boolean;
}

/** The record of one upload, from its first byte to its end. */
export interface UploadRecord {
  /** The upload of an earlier command, of the same content for the same target. */
  readonly resumed: UploadUrl | undefined;
  /** Stores the URL before the first byte is sent. */
  store(url: UploadUrl): void;
  /** Makes the record as new as the last byte. */
  touch(): void;
  /** Removes the record of a finished or refused upload. */
  remove(): void;
  /** Leaves the upload to a later command. */
  release(): void;
}

/** The records of one server and token. A folder that cannot be written costs the later command its start, not this one. */
export class UnfinishedUploads {
  readonly #connection: Pick<Connection, 'url' | 'token' | 'source'>;
  readonly #folder: string;
  readonly #now: () => number;
  readonly #isRunning: (process: number) => boolean;

  constructor(
    connection: Pick<Connection, 'url' | 'token' | 'source'>,
    { folder, now = Date.now, isRunning = isProcessRunning }: Surroundings,
  ) {
    this.#connection = connection;
    this.#folder = folder;
    this.#now = now;
    this.#isRunning = isRunning;
  }

  /**
   * Returns the record of an upload, which is that of an earlier command where one left the same content for the same target
   * and its URL has not expired. Returns undefined for a content that is too small. Reads the content once.
   */
  async open({ application_id, operation }: UploadPlace, content: Blob): Promise<UploadRecord | undefined> {
    if (content.size < RECORDED_BYTES_MIN) return undefined;
    const { url, token, source } = this.#connection;
    const expected = {
      server: url,
      token_sha256: createHash('sha256').update(token).digest('hex'),
      application_id,
      operation,
      bytes: content.size,
      sha256: await hashContent(content),
    };
    const found = this.#acquire(expected);
    return this.#createRecord(found, { ...expected, profile: source });
  }

  #createRecord(found: StoredUpload | undefined, fields: Omit<StoredUpload, keyof UploadUrl>): UploadRecord {
    let path = found && this.#formatPath(found.upload_id, process.pid);
    let touchedAt = 0;
    const change = (apply: (path: string) => void): void => {
      if (path !== undefined) ignoreErrors(() => apply(path ?? ''));
    };
    return {
      resumed: found && { upload_id: found.upload_id, upload_url: found.upload_url },
      store: ({ upload_id, upload_url }) => {
        const next = this.#formatPath(upload_id, process.pid);
        if (!FILE_NAME.test(`${upload_id}.free.json`)) return;
        ignoreErrors(() => {
          writeWhole(this.#folder, next, { ...fields, upload_id, upload_url });
          path = next;
          touchedAt = this.#now();
        });
      },
      touch: () => {
        const now = this.#now();
        if (now - touchedAt < TOUCH_INTERVAL_MS) return;
        touchedAt = now;
        change((file) => utimesSync(file, now / 1000, now / 1000));
      },
      remove: () => {
        change((file) => rmSync(file, { force: true }));
        path = undefined;
      },
      release: () => {
        change((file) => renameSync(file, file.replace(/\.\d+\.json$/, '.free.json')));
        path = undefined;
      },
    };
  }

  /** Makes the newest upload with these fields that of this process, and returns it. Removes expired and damaged records. */
  #acquire(expected: Partial<StoredUpload>): StoredUpload | undefined {
    const names = ignoreErrors(() => readdirSync(this.#folder)) ?? [];
    const files = names.flatMap((name) => {
      const at = ignoreErrors(() => statSync(join(this.#folder, name)).mtimeMs);
      return at === undefined ? [] : [{ name, at }];
    });
    for (const { name, at } of files.toSorted((a, b) => b.at - a.at)) {
      const path = join(this.#folder, name);
      const isExpired = at + UPLOAD_RETENTION_MS <= this.#now();
      // A draft is being written by another command.
      if (!isExpired && !FILE_NAME.test(name)) continue;
      const stored = isExpired ? undefined : readRecord(path);
      if (!stored) ignoreErrors(() => rmSync(path, { force: true }));
      else if (isFree(name, this.#isRunning) && hasFields(stored, expected)) {
        // Of two commands that rename the same file, one fails.
        const own = this.#formatPath(stored.upload_id, process.pid);
        if (ignoreErrors(() => renameSync(path, own) ?? true)) return stored;
      }
    }
    return undefined;
  }

  #formatPath(upload_id: string, owner: number): string {
    return join(this.#folder, `${upload_id}.${owner}.json`);
  }
}

function isFree(name: string, isRunning: (process: number) => boolean): boolean {
  const owner = FILE_NAME.exec(name)?.[2];
  return owner !== undefined && (owner === 'free' || !isRunning(Number(owner)));
}

function hasFields(stored: StoredUpload, expected: Partial<StoredUpload>): boolean {
  const fields: Readonly<Record<string, unknown>> = { ...stored };
  return Object.entries(expected).every(([name, value]) => fields[name] === value);
}

/** Returns the record of a file; undefined for a damaged one. */
function readRecord(path: string): StoredUpload | undefined {
  return ignoreErrors(() => parseUpload(readFileSync(path, 'utf8'), path));
}

/** Writes a file that its owner alone may read. Another command never sees half of it. */
function writeWhole(folder: string, path: string, stored: StoredUpload): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.draft`;
  writeFileSync(draft, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(draft, path);
}

/** Returns what the function returns; undefined for an error of the file system or of JSON. */
function ignoreErrors<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

function isProcessRunning(process_: number): boolean {
  try {
    process.kill(process_, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function hashContent(content: Blob): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of content.stream()) hash.update(chunk);
  return hash.digest('hex');
}
