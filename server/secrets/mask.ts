/**
 * Replaces the values of secrets by `***` in what the platform writes about a run. Pure.
 *
 * Line by line: a value of several lines is hidden wherever one of its lines stands, without the space around it, as apps
 * trim what they read. Also as it is written inside JSON, because apps log JSON. Lines of fewer than 4 characters stay:
 * replacing every "1" or "no" would make a log unreadable and say where the secret is. A value that the app changes, such
 * as its Base64, is not recognised.
 */
import { AhoCorasick } from './aho-corasick.ts';

const MASKED_CHARS_MIN = 4;
const STARS = Buffer.from('***');
/** How the runner's remark on a line that it cut begins. */
const CUT_REMARK = ' [line cut after ';

/** Bytes from `start` up to `end` that belong to values. */
interface Span {
  start: number;
  end: number;
  /** Its stars are given out already. */
  told: boolean;
}

/** Every text by which values are recognised. */
function patternsOf(values: readonly string[]): string[] {
  const found = new Set<string>();
  for (const value of values) {
    for (const line of value.split(/[\r\n]+/)) {
      const text = line.trim();
      if ([...text].length < MASKED_CHARS_MIN) continue;
      found.add(text);
      found.add(JSON.stringify(text).slice(1, -1));
    }
  }
  return [...found];
}

export class Mask {
  /** As given, to make the same mask in another thread. */
  readonly values: readonly string[];
  /** Whether nothing is ever replaced. */
  readonly isEmpty: boolean;
  readonly #automaton: AhoCorasick;
  readonly #longest: number;

  constructor(values: readonly string[]) {
    const patterns = patternsOf(values).map((one) => Buffer.from(one));
    this.values = values;
    this.isEmpty = patterns.length === 0;
    this.#automaton = new AhoCorasick(patterns);
    this.#longest = Math.max(0, ...patterns.map((one) => one.length));
  }

  maskText(text: string): string {
    return this.isEmpty ? text : this.maskBytes(Buffer.from(text)).toString('utf8');
  }

  /** A line of a log. One that the runner cut may end within a value. */
  maskLine(text: string): string {
    if (this.isEmpty) return text;
    const cut = text.endsWith(']') ? text.lastIndexOf(CUT_REMARK) : -1;
    if (cut < 0) return this.maskText(text);
    const scan = new Scan(this.#automaton);
    const head = [scan.write(Buffer.from(text.slice(0, cut))), scan.end({ cut: true })];
    return `${Buffer.concat(head).toString('utf8')}${text.slice(cut)}`;
  }

  maskBytes(bytes: Buffer): Buffer {
    if (this.isEmpty) return bytes;
    const scan = new Scan(this.#automaton);
    return Buffer.concat([scan.write(bytes), scan.end()]);
  }

  /** How many bytes before an end part `tail` needs to recognise a value that reaches into it. */
  get longestSecretBytes(): number {
    return Math.max(0, this.#longest - 1);
  }

  /** What comes after the first `before` bytes, which are only there to be looked at. */
  maskTail(bytes: Buffer, before: number): Buffer {
    const scan = new Scan(this.#automaton, before);
    return Buffer.concat([scan.write(bytes), scan.end()]);
  }

  /** Content that comes in pieces; a value may lie across them. `cut`: the content may end within a value. */
  async *maskStream(source: AsyncIterable<Buffer>, cut: boolean): AsyncGenerator<Buffer> {
    const scan = new Scan(this.#automaton);
    for await (const piece of source) {
      const given = scan.write(piece);
      if (given.length > 0) yield given;
    }
    const last = scan.end({ cut });
    if (last.length > 0) yield last;
  }
}

export const NO_MASK = new Mask([]);

/** One pass. Bytes that may be the beginning of a value are held back until it is known. */
class Scan {
  readonly #automaton: AhoCorasick;
  #node = 0;
  #held: Buffer = Buffer.alloc(0);
  /** In order, apart from each other, relative to the first byte held. */
  #spans: Span[] = [];
  /** So many bytes are still to be left out. */
  #skip: number;

  constructor(automaton: AhoCorasick, skip = 0) {
    this.#automaton = automaton;
    this.#skip = skip;
  }

  write(piece: Buffer): Buffer {
    const all = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    for (let at = this.#held.length; at < all.length; at += 1) {
      this.#node = this.#automaton.step(this.#node, all[at] ?? 0);
      const length = this.#automaton.longest(this.#node);
      if (length > 0) this.#add(at + 1 - length, at + 1);
    }
    return this.#give(all, all.length - this.#automaton.depth(this.#node));
  }

  /** `cut`: what could be the beginning of a value is taken for one. */
  end({ cut = false } = {}): Buffer {
    const left = this.#automaton.depth(this.#node);
    if (cut && left >= MASKED_CHARS_MIN) this.#add(this.#held.length - left, this.#held.length);
    return this.#give(this.#held, this.#held.length);
  }

  /** Values that overlap are one span; two that only touch are two. */
  #add(from: number, end: number): void {
    const span: Span = { start: from, end, told: false };
    for (let last = this.#spans.at(-1); last && last.end > span.start; last = this.#spans.at(-1)) {
      span.start = Math.min(span.start, last.start);
      span.told ||= last.told;
      this.#spans.pop();
    }
    this.#spans.push(span);
  }

  /** Gives out what comes before `upTo` and holds the rest. */
  #give(all: Buffer, upTo: number): Buffer {
    const parts: Buffer[] = [];
    let at = Math.min(this.#skip, upTo);
    const skipped = at;
    for (const span of this.#spans) {
      if (span.start >= upTo) break;
      if (span.end <= skipped) continue;
      if (span.start > at) parts.push(all.subarray(at, span.start));
      if (!span.told && upTo > skipped) {
        parts.push(STARS);
        span.told = true;
      }
      at = Math.max(at, Math.min(span.end, upTo));
    }
    if (at < upTo) parts.push(all.subarray(at, upTo));
    this.#skip -= skipped;
    this.#held = all.subarray(upTo);
    this.#spans = this.#spans
      .filter((span) => span.end > upTo)
      .map((span) => ({ ...span, start: span.start - upTo, end: span.end - upTo }));
    return Buffer.concat(parts);
  }
}
