/**
 * Replaces the values of secrets by `***` in logs and error messages of runs.
 *
 * Each line of a value is masked on its own, without the space around it, because apps trim their input. Its JSON-escaped
 * form is masked too, because apps log JSON. Lines of fewer than 4 characters are not masked: to replace every "1" or "no"
 * would make a log unreadable and reveal the position of the secret. A value that the app transforms, such as by Base64, is
 * not recognised.
 */
import { AhoCorasick } from './aho-corasick.ts';

const MASKED_CHARS_MIN = 4;
const STARS = Buffer.from('***');
/** The start of the runner's remark at the end of a truncated line. */
const TRUNCATION_REMARK = ' [line cut after ';

/** Bytes from `start` up to `end` that belong to values. */
interface Span {
  start: number;
  end: number;
  /** The output already contains its stars. */
  isWritten: boolean;
}

/** Lists every text by which the values are recognised. */
function listPatterns(values: readonly string[]): string[] {
  const patterns = new Set<string>();
  for (const value of values) {
    for (const line of value.split(/[\r\n]+/)) {
      const text = line.trim();
      if ([...text].length < MASKED_CHARS_MIN) continue;
      patterns.add(text);
      patterns.add(JSON.stringify(text).slice(1, -1));
    }
  }
  return [...patterns];
}

/** Masks the values of one run. */
export class Mask {
  /** The values, from which another thread creates the same mask. */
  readonly values: readonly string[];
  /** True for a mask that never replaces anything. */
  readonly isEmpty: boolean;
  readonly #automaton: AhoCorasick;
  readonly #longest: number;

  constructor(values: readonly string[]) {
    const patterns = listPatterns(values).map((one) => Buffer.from(one));
    this.values = values;
    this.isEmpty = patterns.length === 0;
    this.#automaton = new AhoCorasick(patterns);
    this.#longest = Math.max(0, ...patterns.map((one) => one.length));
  }

  /** Returns the text with stars in place of values. */
  maskText(text: string): string {
    return this.isEmpty ? text : this.maskBytes(Buffer.from(text)).toString('utf8');
  }

  /** Masks a line of a log; a line that the runner truncated can end within a value. */
  maskLine(text: string): string {
    if (this.isEmpty) return text;
    const cut = text.endsWith(']') ? text.lastIndexOf(TRUNCATION_REMARK) : -1;
    if (cut < 0) return this.maskText(text);
    const scan = new Scan(this.#automaton);
    const head = [scan.write(Buffer.from(text.slice(0, cut))), scan.end({ cut: true })];
    return `${Buffer.concat(head).toString('utf8')}${text.slice(cut)}`;
  }

  /** Returns the bytes with stars in place of values; other bytes do not change, also when they are not UTF-8. */
  maskBytes(bytes: Buffer): Buffer {
    if (this.isEmpty) return bytes;
    const scan = new Scan(this.#automaton);
    return Buffer.concat([scan.write(bytes), scan.end()]);
  }

  /** The number of bytes before a tail that maskTail needs to recognise a value that reaches into the tail. */
  get longestSecretBytes(): number {
    return Math.max(0, this.#longest - 1);
  }

  /** Returns the masked bytes after the first `before` bytes, which serve only to recognise values. */
  maskTail(bytes: Buffer, before: number): Buffer {
    const scan = new Scan(this.#automaton, before);
    return Buffer.concat([scan.write(bytes), scan.end()]);
  }

  /** Masks content in pieces; a value can span pieces. With `cut`, the content can end within a value. */
  async *maskStream(source: AsyncIterable<Buffer>, cut: boolean): AsyncGenerator<Buffer> {
    const scan = new Scan(this.#automaton);
    for await (const piece of source) {
      const masked = scan.write(piece);
      if (masked.length > 0) yield masked;
    }
    const last = scan.end({ cut });
    if (last.length > 0) yield last;
  }
}

/** The mask of a run without secrets. */
export const NO_MASK = new Mask([]);

/** One pass over content. It buffers bytes that can be the start of a value until the next bytes decide. */
class Scan {
  readonly #automaton: AhoCorasick;
  #node = 0;
  #buffered: Buffer = Buffer.alloc(0);
  /** In order, without overlap, relative to the first buffered byte. */
  #spans: Span[] = [];
  /** The number of bytes that the output still omits. */
  #skip: number;

  constructor(automaton: AhoCorasick, skip = 0) {
    this.#automaton = automaton;
    this.#skip = skip;
  }

  write(piece: Buffer): Buffer {
    const all = this.#buffered.length === 0 ? piece : Buffer.concat([this.#buffered, piece]);
    for (let at = this.#buffered.length; at < all.length; at += 1) {
      this.#node = this.#automaton.step(this.#node, all[at] ?? 0);
      const length = this.#automaton.longest(this.#node);
      if (length > 0) this.#addSpan(at + 1 - length, at + 1);
    }
    return this.#flush(all, all.length - this.#automaton.depth(this.#node));
  }

  /** Returns the remaining bytes. With `cut`, a possible start of a value at the end is masked. */
  end({ cut = false } = {}): Buffer {
    const pending = this.#automaton.depth(this.#node);
    if (cut && pending >= MASKED_CHARS_MIN)
      this.#addSpan(this.#buffered.length - pending, this.#buffered.length);
    return this.#flush(this.#buffered, this.#buffered.length);
  }

  /** Merges overlapping values into one span; adjacent values stay two. */
  #addSpan(from: number, end: number): void {
    const span: Span = { start: from, end, isWritten: false };
    for (let last = this.#spans.at(-1); last && last.end > span.start; last = this.#spans.at(-1)) {
      span.start = Math.min(span.start, last.start);
      span.isWritten ||= last.isWritten;
      this.#spans.pop();
    }
    this.#spans.push(span);
  }

  /** Returns the masked bytes before `upTo` and buffers the rest. */
  #flush(all: Buffer, upTo: number): Buffer {
    const parts: Buffer[] = [];
    let at = Math.min(this.#skip, upTo);
    const skipped = at;
    for (const span of this.#spans) {
      if (span.start >= upTo) break;
      if (span.end <= skipped) continue;
      if (span.start > at) parts.push(all.subarray(at, span.start));
      if (!span.isWritten && upTo > skipped) {
        parts.push(STARS);
        span.isWritten = true;
      }
      at = Math.max(at, Math.min(span.end, upTo));
    }
    if (at < upTo) parts.push(all.subarray(at, upTo));
    this.#skip -= skipped;
    this.#buffered = all.subarray(upTo);
    this.#spans = this.#spans
      .filter((span) => span.end > upTo)
      .map((span) => ({ ...span, start: span.start - upTo, end: span.end - upTo }));
    return Buffer.concat(parts);
  }
}
