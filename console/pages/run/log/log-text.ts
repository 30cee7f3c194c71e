/**
 * The lines of a log, as the text that came and the positions of their beginnings. Cutting and cleaning a million lines
 * took a third of the time until a log was open, and a reader sees sixty of them.
 */
import { cleanLogLine, hasSpecialCharacters } from '../../../ui/log/clean-log-line.ts';

/** Lines that came together. */
interface LogPart {
  /** Whole lines, each with its line break except perhaps the last. */
  text: string;
  /** Index of the first line in the log. */
  first: number;
  /** Where each line begins, and the length of the text at the end. */
  starts: readonly number[];
  /** The lines that matched a pattern: a live log is searched for warnings with every new line, and its parts never change. */
  found: WeakMap<RegExp, readonly number[]>;
}

/** An immutable log. */
export class LogText {
  readonly #parts: readonly LogPart[];
  readonly lineCount: number;

  private constructor(parts: readonly LogPart[], lineCount: number) {
    this.#parts = parts;
    this.lineCount = lineCount;
  }

  /** The log without a line. */
  static readonly empty = new LogText([], 0);

  /** Returns the log with more lines at its end; a final line break begins no line. */
  append(text: string): LogText {
    if (text === '') return this;
    const starts = [0];
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    if (starts.at(-1) !== text.length) starts.push(text.length + 1);
    const part: LogPart = { text, first: this.lineCount, starts, found: new WeakMap() };
    return new LogText([...this.#parts, part], this.lineCount + starts.length - 1);
  }

  /** Returns the line with the index as it may be shown. */
  getLine(index: number): string {
    const part = this.#findPart(index);
    return part === undefined ? '' : cleanLogLine(cutLine(part, index - part.first));
  }

  /** Returns the whole text as the app wrote it. */
  getText(): string {
    return this.#parts.map(({ text }) => text).join('');
  }

  /** Returns the indexes of the lines that match, in order. The pattern is global and matches within one line. */
  findLines(pattern: RegExp): number[] {
    return this.#parts.flatMap((part) => {
      const found = part.found.get(pattern) ?? findInPart(part, pattern);
      part.found.set(pattern, found);
      return found;
    });
  }

  #findPart(index: number): LogPart | undefined {
    let low = 0;
    let high = this.#parts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#parts[middle]?.first ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    return this.#parts[low - 1];
  }
}

function cutLine({ text, starts }: LogPart, line: number): string {
  return text.slice(starts[line], (starts[line + 1] ?? 0) - 1);
}

function findInPart(part: LogPart, pattern: RegExp): number[] {
  const { text, first, starts } = part;
  const found: number[] = [];
  if (hasSpecialCharacters(text)) {
    for (let line = 0; line < starts.length - 1; line += 1)
      if (cleanLogLine(cutLine(part, line)).search(pattern) !== -1) found.push(first + line);
    return found;
  }
  let line = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    while ((starts[line + 1] ?? text.length + 1) <= match.index) line += 1;
    found.push(first + line);
    // One match of a line is enough.
    pattern.lastIndex = starts[line + 1] ?? text.length;
  }
  return found;
}
