/**
 * Reads the lines of a stored log from a position on, in parts that are small enough to be searched without delaying other
 * requests.
 */
import { setImmediate } from 'node:timers/promises';
import { LOG_LINE_BYTES_MAX } from '@switchyard/contract/limits.ts';
import Type, { type Static } from 'typebox';
import type { Content } from '../../platform/blobs/contents.ts';
import { FILE_CHUNK_BYTES, iterateBuffers } from '../../platform/blobs/hashed-file.ts';

const LINE_BREAK = 10;

/** A position between two parts of a log. */
export const LogPosition = Type.Object({
  /** Bytes before it. */
  offset: Type.Number(),
  /** Lines that began before it. */
  lines: Type.Number(),
  /** True within a line whose first part was read already; the rest of that line is skipped. */
  isInLine: Type.Boolean(),
});
export type LogPosition = Static<typeof LogPosition>;

/** The position before the first line. */
export const LOG_START: LogPosition = { offset: 0, lines: 0, isInLine: false };

/** Lines that were read together. */
export interface LogPart {
  /** The lines, separated by line breaks; one that is too long without its rest. */
  text: string;
  /** The position before the first of them, from which they can be read again. */
  start: LogPosition;
  /** The position after them. */
  end: LogPosition;
}

/**
 * Yields the lines of the content from the position on, at most about `bytesMax` of them. A part without lines tells that
 * the position has advanced within a long line. The last position is at the end of the content when all lines are read.
 */
export async function* readLines(
  content: Content,
  from: LogPosition,
  bytesMax: number,
): AsyncGenerator<LogPart> {
  const to = Math.min(content.bytes, from.offset + bytesMax);
  if (from.offset >= to) return;
  const splitter = new LineSplitter(from);
  for await (const chunk of iterateBuffers(await content.open({ from: from.offset, to: to - 1 }))) {
    for (let at = 0; at < chunk.length; at += FILE_CHUNK_BYTES) {
      const part = splitter.add(chunk.subarray(at, at + FILE_CHUNK_BYTES));
      if (part) yield part;
      await setImmediate();
    }
  }
  const last = to === content.bytes ? splitter.end() : null;
  if (last) yield last;
}

/** Splits bytes after line breaks, and holds back the beginning of the last line. */
class LineSplitter {
  #position: LogPosition;
  #beginning: Buffer = Buffer.alloc(0);

  constructor(position: LogPosition) {
    this.#position = position;
  }

  /** Returns the lines that end in the bytes or are too long; null when there is none. */
  add(bytes: Buffer): LogPart | null {
    const rest = this.#position.isInLine ? this.#skipLine(bytes) : bytes;
    if (rest === null) return { text: '', start: this.#position, end: this.#position };
    const all = this.#beginning.length === 0 ? rest : Buffer.concat([this.#beginning, rest]);
    const length = all.lastIndexOf(LINE_BREAK) + 1;
    this.#beginning = all.subarray(length);
    const isTooLong = this.#beginning.length > LOG_LINE_BYTES_MAX;
    if (isTooLong) this.#beginning = Buffer.alloc(0);
    if (length === 0 && !isTooLong) return null;
    const complete = all.subarray(0, isTooLong ? all.length : length);
    return this.#createPart(complete, isTooLong);
  }

  /** Returns the last line if no line break ends it. */
  end(): LogPart | null {
    const rest = this.#beginning;
    this.#beginning = Buffer.alloc(0);
    return rest.length === 0 ? null : this.#createPart(rest, true);
  }

  /** Returns the bytes after the current line; null when it ends later. */
  #skipLine(bytes: Buffer): Buffer | null {
    const end = bytes.indexOf(LINE_BREAK);
    const skipped = end === -1 ? bytes.length : end + 1;
    const offset = this.#position.offset + skipped;
    this.#position = { ...this.#position, offset, isInLine: end === -1 };
    return end === -1 ? null : bytes.subarray(skipped);
  }

  #createPart(bytes: Buffer, isInLine: boolean): LogPart {
    const start = this.#position;
    const text = bytes.toString('utf8', 0, isInLine ? bytes.length : bytes.length - 1);
    let lines = start.lines + 1;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
    this.#position = { offset: start.offset + bytes.length, lines, isInLine };
    return { text, start, end: this.#position };
  }
}
