/** Finds the lines of a part of a log that a search wants. Pure. */
import { LOG_EXCERPT_CHARS_MAX } from '@switchyard/contract/limits.ts';
import {
  hasLogLevel,
  type LeastLogLevel,
  type LogLevel,
  readLogLevel,
} from '@switchyard/contract/runs/logs/log-levels.ts';

/** The condition of a search on lines; without text and level, all lines match. */
export interface LogQuery {
  text?: string | undefined;
  level?: LeastLogLevel | undefined;
}

export interface MatchedLine {
  /** Position of the line in the part, from 0. */
  index: number;
  level: LogLevel;
  /** The line without its line break, or the part of it around the first match. */
  log: string;
  truncated: boolean;
}

/** Characters before the match in an excerpt. */
const EXCERPT_BEFORE_CHARS = 200;

/** Finds lines with the text, in any case, and with at least the level. */
export class LineMatcher {
  readonly #wanted: string;
  readonly #level: LeastLogLevel | undefined;

  constructor({ text = '', level }: LogQuery) {
    this.#wanted = text.toLowerCase();
    this.#level = level;
  }

  /** Yields the matching lines of a part, whose lines are separated by line breaks. */
  *findLines(part: string): Generator<MatchedLine> {
    const lower = this.#wanted === '' ? part : part.toLowerCase();
    // A few letters have another length in lower case. Then the positions in both texts differ, also within a line.
    if (lower.length !== part.length) return yield* this.#findInEach(part);
    let index = 0;
    let start = 0;
    while (start <= part.length) {
      const at = this.#wanted === '' ? start : lower.indexOf(this.#wanted, start);
      if (at === -1) return;
      for (let end = part.indexOf('\n', start); end !== -1 && end < at; end = part.indexOf('\n', start)) {
        start = end + 1;
        index += 1;
      }
      const next = part.indexOf('\n', at);
      const end = next === -1 ? part.length : next;
      const line = part.slice(start, end);
      if (this.#hasLevel(line)) yield cutMatch(line, index, at - start);
      start = end + 1;
      index += 1;
    }
  }

  #hasLevel(line: string): boolean {
    return this.#level === undefined || hasLogLevel(line, this.#level);
  }

  /** Searches line by line, which takes several times as long. */
  *#findInEach(part: string): Generator<MatchedLine> {
    for (const [index, line] of part.split('\n').entries()) {
      const at = line.toLowerCase().indexOf(this.#wanted);
      if (at !== -1 && this.#hasLevel(line)) yield cutMatch(line, index, at);
    }
  }
}

function cutMatch(line: string, index: number, at: number): MatchedLine {
  const from = line.length <= LOG_EXCERPT_CHARS_MAX ? 0 : Math.max(0, at - EXCERPT_BEFORE_CHARS);
  const log = line
    .slice(from, from + LOG_EXCERPT_CHARS_MAX)
    .toWellFormed()
    .replace(/\r$/, '');
  return { index, level: readLogLevel(line), log, truncated: line.length > LOG_EXCERPT_CHARS_MAX };
}
