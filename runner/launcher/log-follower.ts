/**
 * Follows the log files of a run and gives their lines out, each with its time.
 *
 * What must stay true: lines keep their order within a stream, times strictly increase over both, and every line has
 * been given out when finish resolves. A log beyond its limit is cut: what came first is kept in `<file>.kept`, the
 * file itself is emptied now and then, which the app does not notice because it appends.
 */
import { constants, createWriteStream, type FSWatcher, watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { OPEN_FILE_FLAGS, readExactly } from '../filesystem/untrusted-files.ts';
import { formatBytes } from '../process/format.ts';
import type { LogLine, Observer } from '../types.ts';

const LINE_MAX_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** A quick app is over before it is worth watching; then its log is read once. */
const WATCH_AFTER_MS = 15;
/** Notifications can get lost; this is how late a line can then be. */
const POLL_MS = 250;

interface Followed {
  path: string;
  stream: LogLine['stream'];
  offset: number;
  /** The beginning of a line whose end has not come yet, at most LINE_BYTES. */
  rest: Buffer;
  /** The current line has been cut and given out; what follows up to its end is dropped. */
  skipping: boolean;
  cut: boolean;
}

export class LogFollower {
  readonly #files: Followed[];
  readonly #limitBytes: number;
  readonly #give: Observer['onLog'];
  #lastAt = 0;
  #delay: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  readonly #watchers: FSWatcher[] = [];
  #reading: Promise<void> = Promise.resolve();
  #wanted = false;

  constructor(
    files: { path: string; stream: LogLine['stream'] }[],
    limitBytes: number,
    give: Observer['onLog'],
  ) {
    this.#files = files.map((file) => ({
      ...file,
      offset: 0,
      rest: Buffer.alloc(0),
      skipping: false,
      cut: false,
    }));
    this.#limitBytes = limitBytes;
    this.#give = give;
  }

  start(): void {
    this.#delay = setTimeout(() => this.#watch(), WATCH_AFTER_MS);
  }

  /** Reads what is left. With `sizes` of zero for all files nothing is opened. */
  async finish(isEmpty: boolean): Promise<void> {
    clearTimeout(this.#delay);
    clearInterval(this.#poll);
    for (const watcher of this.#watchers) watcher.close();
    await this.#reading;
    if (isEmpty) return;
    for (const file of this.#files) await this.#read(file, true);
  }

  /** Whether a file was cut, and where its kept beginning lies. */
  resolveLogFile(path: string): { path: string; cut: boolean } {
    const cut = this.#files.some((file) => file.path === path && file.cut);
    return { path: cut ? keptPath(path) : path, cut };
  }

  #watch(): void {
    for (const file of this.#files) {
      try {
        const watcher = watch(file.path, () => this.#poke());
        watcher.on('error', () => undefined);
        this.#watchers.push(watcher);
      } catch {
        // Out of watches, or the file is gone: the poll goes on.
      }
    }
    this.#poll = setInterval(() => this.#poke(), POLL_MS);
    this.#poke();
  }

  /** At most one reading at a time; a poke during one is made up for after it. */
  #poke(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#reading = this.#reading.then(async () => {
      this.#wanted = false;
      for (const file of this.#files) await this.#read(file, false).catch(() => undefined);
    });
  }

  async #read(file: Followed, last: boolean): Promise<void> {
    if (!file.cut) await this.#readOn(file);
    if (file.cut) await empty(file.path);
    else if (last && file.rest.length > 0) {
      this.#emit(file.stream, [this.#text(file, file.rest)]);
      file.rest = Buffer.alloc(0);
    }
  }

  async #readOn(file: Followed): Promise<void> {
    const handle = await openLog(file.path, constants.O_RDONLY);
    try {
      const { size } = await handle.stat();
      const end = Math.min(size, this.#limitBytes);
      while (file.offset < end) {
        const chunk = await readChunk(handle, file.offset, Math.min(CHUNK_BYTES, end - file.offset));
        if (chunk.length === 0) break;
        file.offset += chunk.length;
        this.#emit(file.stream, this.#lines(file, chunk));
      }
      if (size > this.#limitBytes) await this.#cut(file, handle);
    } finally {
      await handle.close();
    }
  }

  async #cut(file: Followed, handle: FileHandle): Promise<void> {
    // Never with the mode of the app's file: setuid on a copy of ours would give our rights away.
    const kept = createWriteStream(keptPath(file.path), { mode: 0o600 });
    await pipeline(readExactly(handle, this.#limitBytes), kept);
    file.cut = true;
    const lines = file.rest.length > 0 && !file.skipping ? [this.#text(file, file.rest)] : [];
    lines.push(`[The log was cut here: it went beyond its limit of ${formatBytes(this.#limitBytes)}.]`);
    this.#emit(file.stream, lines);
  }

  #lines(file: Followed, chunk: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const piece = chunk.subarray(from, end);
      from = end + 1;
      if (file.skipping) {
        file.skipping = false;
        continue;
      }
      lines.push(this.#text(file, file.rest.length === 0 ? piece : Buffer.concat([file.rest, piece])));
      file.rest = Buffer.alloc(0);
    }
    if (file.skipping || from === chunk.length) return lines;
    file.rest = Buffer.concat([file.rest, chunk.subarray(from)]);
    if (file.rest.length > LINE_MAX_BYTES) {
      lines.push(this.#text(file, file.rest));
      file.rest = Buffer.alloc(0);
      file.skipping = true;
    }
    return lines;
  }

  #text(_file: Followed, bytes: Buffer): string {
    if (bytes.length > LINE_MAX_BYTES) {
      // Decoding as a stream leaves out a character that the cut went through.
      const head = new TextDecoder().decode(bytes.subarray(0, LINE_MAX_BYTES), { stream: true });
      return `${head} [line cut after ${formatBytes(LINE_MAX_BYTES)}]`;
    }
    return bytes.toString('utf8').replace(/\r$/, '');
  }

  #emit(stream: LogLine['stream'], texts: string[]): void {
    if (texts.length === 0) return;
    const now = performance.timeOrigin + performance.now();
    this.#give(
      texts.map((text) => {
        this.#lastAt = Math.max(now, this.#lastAt + 0.001);
        return { at: this.#lastAt, stream, text };
      }),
    );
  }
}

/** An app that has our user could put a link or a pipe in place of its log. */
async function openLog(path: string, access: number): Promise<FileHandle> {
  const handle = await open(path, access | OPEN_FILE_FLAGS);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new Error('The log of the app is not a file any more.');
}

async function empty(path: string): Promise<void> {
  const handle = await openLog(path, constants.O_RDWR);
  try {
    if ((await handle.stat()).size > 0) await handle.truncate(0);
  } finally {
    await handle.close();
  }
}

function keptPath(path: string): string {
  return `${path}.kept`;
}

async function readChunk(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}
