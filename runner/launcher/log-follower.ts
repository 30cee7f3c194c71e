/**
 * Follows the log files of a run and emits their lines, each with its time.
 *
 * Invariants: lines keep their order within a stream, times strictly increase over both streams, and every line has been
 * emitted when finish resolves. A log beyond its limits is truncated: `<file>.kept` receives its beginning, and the file
 * itself is emptied from time to time, which the app does not notice because it appends.
 *
 * A line costs more than its bytes: 50 MB of line breaks took 4 GB of the server's memory. So the number of lines has a limit
 * too. They are emitted in small parts, and the next part waits until the receiver is ready for it.
 */
import { constants, createWriteStream, type FSWatcher, watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { LOG_LINE_BYTES_MAX, LOG_LINES_MAX } from '@switchyard/contract/limits.ts';
import { formatBinaryBytes, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { OPEN_FILE_FLAGS, readExactly } from '../filesystem/untrusted-files.ts';
import type { LogLine, Observer } from '../types.ts';

const CHUNK_BYTES = 256 * 1024;
/** Other work of this process waits for one part. */
const LINES_PER_PART = 2_000;
/** A short app ends before a watch pays off; its log is read once at the end. */
const WATCH_DELAY_MS = 15;
/** Covers lost notifications; a line is at most this late. */
const POLL_INTERVAL_MS = 250;

interface FollowedFile {
  path: string;
  stream: LogLine['stream'];
  offset: number;
  /** Beginning of a line without an end so far, at most LOG_LINE_BYTES_MAX. */
  partialLine: Buffer;
  /** The current line was truncated and emitted; the rest of it is dropped. */
  isSkippingLine: boolean;
  isTruncated: boolean;
}

/** Emits the lines of the log files of one run. */
export class LogFollower {
  readonly #files: FollowedFile[];
  readonly #limitBytes: number;
  /** Of all files together. */
  readonly #limitLines: number;
  #remainingLines: number;
  readonly #emitLines: Observer['onLog'];
  #lastAt = 0;
  #delay: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  readonly #watchers: FSWatcher[] = [];
  #reading: Promise<void> = Promise.resolve();
  #isReadScheduled = false;

  /** @param emitLines receives the lines of each part, in order. */
  constructor(
    files: { path: string; stream: LogLine['stream'] }[],
    limitBytes: number,
    emitLines: Observer['onLog'],
    limitLines = LOG_LINES_MAX,
  ) {
    this.#limitLines = limitLines;
    this.#remainingLines = limitLines;
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
      const last = toLine(file.partialLine);
      file.partialLine = Buffer.alloc(0);
      await this.#emit(file.stream, [last]);
    }
  }

  async #readNewLines(file: FollowedFile): Promise<void> {
    const handle = await openLog(file.path, constants.O_RDONLY);
    try {
      const { size } = await handle.stat();
      const end = Math.min(size, this.#limitBytes);
      while (file.offset < end && this.#remainingLines > 0) {
        const chunk = await readChunk(handle, file.offset, Math.min(CHUNK_BYTES, end - file.offset));
        if (chunk.length === 0) break;
        await this.#emitChunk(file, chunk);
      }
      const isOverLines = this.#remainingLines <= 0 && file.offset < end;
      if (isOverLines) await this.#truncate(file, handle, `${formatNumber(this.#limitLines)} lines`);
      else if (size > this.#limitBytes)
        await this.#truncate(file, handle, formatBinaryBytes(this.#limitBytes));
    } finally {
      await handle.close();
    }
  }

  /** Emits the lines of the chunk in parts, until the limit of lines. */
  async #emitChunk(file: FollowedFile, chunk: Buffer): Promise<void> {
    for (let from = 0; from < chunk.length && this.#remainingLines > 0; ) {
      const { lines, bytes } = this.#splitLines(file, chunk.subarray(from));
      from += bytes;
      file.offset += bytes;
      this.#remainingLines -= lines.length;
      await this.#emit(file.stream, lines);
      if (from < chunk.length) await yieldToOthers();
    }
  }

  async #truncate(file: FollowedFile, handle: FileHandle, limit: string): Promise<void> {
    // Never with the mode of the app's file: setuid on a copy of ours would give away the server's rights.
    const copy = createWriteStream(toCopyPath(file.path), { mode: 0o600 });
    await pipeline(readExactly(handle, file.offset), copy);
    file.isTruncated = true;
    const lines = file.partialLine.length > 0 && !file.isSkippingLine ? [toLine(file.partialLine)] : [];
    lines.push(`[The log was cut here: it went beyond its limit of ${limit}.]`);
    await this.#emit(file.stream, lines);
  }

  /** Returns the first lines of the chunk, at most those of a part, and the number of its bytes that they use up. */
  #splitLines(file: FollowedFile, chunk: Buffer): { lines: string[]; bytes: number } {
    const lines: string[] = [];
    const limit = Math.min(LINES_PER_PART, this.#remainingLines);
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      if (lines.length >= limit) return { lines, bytes: from };
      const piece = chunk.subarray(from, end);
      from = end + 1;
      if (file.isSkippingLine) {
        file.isSkippingLine = false;
        continue;
      }
      lines.push(toLine(file.partialLine.length === 0 ? piece : Buffer.concat([file.partialLine, piece])));
      file.partialLine = Buffer.alloc(0);
    }
    const bytes = chunk.length;
    if (file.isSkippingLine || from === chunk.length) return { lines, bytes };
    file.partialLine = Buffer.concat([file.partialLine, chunk.subarray(from)]);
    if (file.partialLine.length > LOG_LINE_BYTES_MAX) {
      lines.push(toLine(file.partialLine));
      file.partialLine = Buffer.alloc(0);
      file.isSkippingLine = true;
    }
    return { lines, bytes };
  }

  async #emit(stream: LogLine['stream'], texts: string[]): Promise<void> {
    if (texts.length === 0) return;
    const now = performance.timeOrigin + performance.now();
    await this.#emitLines(
      texts.map((text) => {
        this.#lastAt = Math.max(now, this.#lastAt + 0.001);
        return { at: this.#lastAt, stream, text };
      }),
    );
  }
}

function toLine(bytes: Buffer): string {
  if (bytes.length > LOG_LINE_BYTES_MAX) {
    // A streaming decoder drops an incomplete character at the end.
    const head = new TextDecoder().decode(bytes.subarray(0, LOG_LINE_BYTES_MAX), { stream: true });
    return `${head} [line cut after ${formatBinaryBytes(LOG_LINE_BYTES_MAX)}]`;
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
