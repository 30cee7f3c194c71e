/**
 * The times of the lines of a log in few bytes: pairs of a time, as the milliseconds since the previous pair, and the
 * number of lines with this time. The first time counts from the epoch. Each number has seven bits in a byte, low bits
 * first. So a pair has two bytes after a pause of less than 128 ms, and all lines of one millisecond share one pair.
 */

/** Times that fill `bytes` are followed by times rounded to `ms`, so that a long log stays small. */
const ROUNDINGS = [
  { bytes: 0, ms: 1 },
  { bytes: 128 * 1024, ms: 100 },
  { bytes: 256 * 1024, ms: 1000 },
] as const;
const BYTES_FIRST = 64;
/** Bytes of the two numbers of a pair. */
const PAIR_BYTES_MAX = 16;

/** Milliseconds since the previous step, and the number of lines with this time. */
export type TimeStep = [ms: number, lines: number];

/** Encodes the times of lines, which never go back. */
export class LineTimesEncoder {
  #bytes = Buffer.alloc(BYTES_FIRST);
  #length = 0;
  #previous = 0;
  #current = 0;
  #count = 0;

  /** Adds the time of the next line in whole milliseconds since the epoch. */
  add(at: number): void {
    if (this.#count > 0 && at - this.#current >= this.#rounding()) this.#endStep();
    if (this.#count === 0) this.#current = Math.max(at, this.#previous);
    this.#count += 1;
  }

  /** Returns the encoded times; null without a line. The encoder may be used further. */
  toBytes(): Buffer | null {
    if (this.#count === 0) return null;
    const end = Buffer.alloc(PAIR_BYTES_MAX);
    const length = writePair(end, 0, [this.#current - this.#previous, this.#count]);
    return Buffer.concat([this.#bytes.subarray(0, this.#length), end.subarray(0, length)]);
  }

  #rounding(): number {
    return ROUNDINGS.findLast(({ bytes }) => this.#length >= bytes)?.ms ?? 1;
  }

  #endStep(): void {
    if (this.#length + PAIR_BYTES_MAX > this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    this.#length = writePair(this.#bytes, this.#length, [this.#current - this.#previous, this.#count]);
    this.#previous = this.#current;
    this.#count = 0;
  }
}

/** Yields the steps of encoded times. */
export function* decodeTimeSteps(bytes: Uint8Array): Generator<TimeStep> {
  let at = 0;
  const readNumber = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const ms = readNumber();
    yield [ms, readNumber()];
  }
}

/** Returns true for bytes that the encoder can have written for lines up to `until`, in milliseconds since the epoch. */
export function areLineTimes(bytes: Uint8Array, until: number): boolean {
  let at = 0;
  let lines = 0;
  for (const [ms, count] of decodeTimeSteps(bytes)) {
    at += ms;
    lines += count;
    // Not a number when the bytes of one number never end.
    if (!(at <= until && Number.isSafeInteger(lines))) return false;
  }
  return true;
}

/** Finds the times of lines that are asked for in their order. */
export class LineTimes {
  readonly #steps: Iterator<TimeStep>;
  #at = 0;
  /** Lines before the end of the current step. */
  #end = 0;

  constructor(bytes: Uint8Array) {
    this.#steps = decodeTimeSteps(bytes);
  }

  /** Returns the time of a line, counted from 1, in milliseconds since the epoch; undefined for a line without one. */
  find(line: number): number | undefined {
    while (this.#end < line) {
      const step = this.#steps.next();
      if (step.done) return undefined;
      this.#at += step.value[0];
      this.#end += step.value[1];
    }
    return this.#at;
  }
}

function writePair(bytes: Buffer, from: number, pair: TimeStep): number {
  let at = from;
  for (const value of pair) {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) at = bytes.writeUInt8((rest % 128) + 128, at);
    at = bytes.writeUInt8(rest, at);
  }
  return at;
}
