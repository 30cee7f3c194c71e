/**
 * Follows the log files of a run and emits their lines, each with its time.
 *
 * Invariants: lines keep their order within a stream, times strictly increase over both streams, and every line has been
 * emitted when finish resolves. A log beyond its limit is truncated: `<file>.kept` receives its beginning, and the file
 * itself is emptied from time to time, which the app does not notice because it appends.
 */
import { constants, createWriteStream, type FSWatcher, watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { OPEN_FILE_FLAGS, readExactly } from '../filesystem/untrusted-files.ts';
import { formatBytes } from '../process/format.ts';
import type { LogLine, Observer } from '../types.ts';

const MAX_LINE_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** A short app ends before a watch pays off; its log is read once at the end. */
const WATCH_DELAY_MS = 15;
/** Covers lost notifications; a line is at most this late. */
const POLL_INTERVAL_MS = 250;

interface FollowedFile {
  path: string;
  stream: LogLine['stream'];
  offset: number;
  /** Beginning of a line without an end so far, at most MAX_LINE_BYTES. */
  partialLine: Buffer;
  /** The current line was truncated and emitted; the rest of it is dropped. */
  isSkippingLine: boolean;
  isTruncated: boolean;
}

/** Emits the lines of the log files of one run. */
export class LogFollower {
  readonly #files: FollowedFile[];
  readonly #limitBytes: number;
  readonly #emitLines: Observer['onLog'];
  #lastAt = 0;
  #delay: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  readonly #watchers: FSWatcher[] = [];
  #reading: Promise<void> = Promise.resolve();
  #isReadScheduled = false;

  /** @param emitLines receives the lines of each read, in order. */
  constructor(
    files: { path: string; stream: LogLine['stream'] }[],
    limitBytes: number,
    emitLines: Observer['onLog'],
  ) {
    this.#files = files.map((file) => ({
      ...file,
      offset: 0,
      partialLine: Buffer.alloc(0),
      isSkippingLine: false,
      isTruncated: false,
    }));
    this.#limitBytes = limitBytes;
    this.#emitLines = emitLines;
  }

  /** Begins to follow the files. */
  start(): void {
    this.#delay = setTimeout(() => this.#watch(), WATCH_DELAY_MS);
  }

  /** Stops following and emits the remaining lines. `isEmpty` skips the last read, for files of size zero. */
  async finish(isEmpty: boolean): Promise<void> {
    clearTimeout(this.#delay);
    clearInterval(this.#poll);
    for (const watcher of this.#watchers) watcher.close();
    await this.#reading;
    if (isEmpty) return;
    for (const file of this.#files) await this.#read(file, true);
  }

  /** Returns whether a file was truncated, and the path of its beginning. */
  resolveLogFile(path: string): { path: string; isTruncated: boolean } {
    const isTruncated = this.#files.some((file) => file.path === path && file.isTruncated);
    return { path: isTruncated ? toCopyPath(path) : path, isTruncated };
  }

  #watch(): void {
    for (const file of this.#files) {
      try {
        const watcher = watch(file.path, () => this.#scheduleRead());
        watcher.on('error', () => undefined);
        this.#watchers.push(watcher);
      } catch {
        // Out of watches, or the file is gone: polling continues.
      }
    }
    this.#poll = setInterval(() => this.#scheduleRead(), POLL_INTERVAL_MS);
    this.#scheduleRead();
  }

  /** Schedules one read after the running one; further calls until its start have no effect. */
  #scheduleRead(): void {
    if (this.#isReadScheduled) return;
    this.#isReadScheduled = true;
    this.#reading = this.#reading.then(async () => {
      this.#isReadScheduled = false;
      for (const file of this.#files) await this.#read(file, false).catch(() => undefined);
    });
  }

  async #read(file: FollowedFile, isLast: boolean): Promise<void> {
    if (!file.isTruncated) await this.#readNewLines(file);
    if (file.isTruncated) await emptyLog(file.path);
    else if (isLast && file.partialLine.length > 0) {
      this.#emit(file.stream, [toLine(file.partialLine)]);
      file.partialLine = Buffer.alloc(0);
    }
  }

  async #readNewLines(file: FollowedFile): Promise<void> {
    const handle = await openLog(file.path, constants.O_RDONLY);
    try {
      const { size } = await handle.stat();
      const end = Math.min(size, this.#limitBytes);
      while (file.offset < end) {
        const chunk = await readChunk(handle, file.offset, Math.min(CHUNK_BYTES, end - file.offset));
        if (chunk.length === 0) break;
        file.offset += chunk.length;
        this.#emit(file.stream, this.#splitLines(file, chunk));
      }
      if (size > this.#limitBytes) await this.#truncate(file, handle);
    } finally {
      await handle.close();
    }
  }

  async #truncate(file: FollowedFile, handle: FileHandle): Promise<void> {
    // Never with the mode of the app's file: setuid on a copy of ours would give away the server's rights.
    const copy = createWriteStream(toCopyPath(file.path), { mode: 0o600 });
    await pipeline(readExactly(handle, this.#limitBytes), copy);
    file.isTruncated = true;
    const lines = file.partialLine.length > 0 && !file.isSkippingLine ? [toLine(file.partialLine)] : [];
    lines.push(`[The log was cut here: it went beyond its limit of ${formatBytes(this.#limitBytes)}.]`);
    this.#emit(file.stream, lines);
  }

  #splitLines(file: FollowedFile, chunk: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const piece = chunk.subarray(from, end);
      from = end + 1;
      if (file.isSkippingLine) {
        file.isSkippingLine = false;
        continue;
      }
      lines.push(toLine(file.partialLine.length === 0 ? piece : Buffer.concat([file.partialLine, piece])));
      file.partialLine = Buffer.alloc(0);
    }
    if (file.isSkippingLine || from === chunk.length) return lines;
    file.partialLine = Buffer.concat([file.partialLine, chunk.subarray(from)]);
    if (file.partialLine.length > MAX_LINE_BYTES) {
      lines.push(toLine(file.partialLine));
      file.partialLine = Buffer.alloc(0);
      file.isSkippingLine = true;
    }
    return lines;
  }

  #emit(stream: LogLine['stream'], texts: string[]): void {
    if (texts.length === 0) return;
    const now = performance.timeOrigin + performance.now();
    this.#emitLines(
      texts.map((text) => {
        this.#lastAt = Math.max(now, this.#lastAt + 0.001);
        return { at: this.#lastAt, stream, text };
      }),
    );
  }
}

function toLine(bytes: Buffer): string {
  if (bytes.length > MAX_LINE_BYTES) {
    // A streaming decoder drops an incomplete character at the end.
    const head = new TextDecoder().decode(bytes.subarray(0, MAX_LINE_BYTES), { stream: true });
    return `${head} [line cut after ${formatBytes(MAX_LINE_BYTES)}]`;
  }
  return bytes.toString('utf8').replace(/\r$/, '');
}

/** Opens a log file. Throws when it is no regular file: at level `limits` an app may replace it by a link or a pipe. */
async function openLog(path: string, access: number): Promise<FileHandle> {
  const handle = await open(path, access | OPEN_FILE_FLAGS);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new Error(
    `The log file "${path}" is no regular file: the app replaced it. The rest of the log is lost.`,
  );
}

async function emptyLog(path: string): Promise<void> {
  const handle = await openLog(path, constants.O_RDWR);
  try {
    if ((await handle.stat()).size > 0) await handle.truncate(0);
  } finally {
    await handle.close();
  }
}

function toCopyPath(path: string): string {
  return `${path}.kept`;
}

async function readChunk(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}
