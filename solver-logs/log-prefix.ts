/** The prefixes that logging libraries write before a line. Every repetition has a bound, so that the time of a match has one. */

const TIMESTAMP =
  /^\s{0,8}\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?(?=[\s:|-])/;
/**
 * A level, with the logger's name where it is certain: `logger - INFO - `, `INFO:logger:`, `INFO [logger] `, and
 * `INFO package.logger: `. Solvers write `objective: 12` themselves, so that a name before a colon needs a dot.
 */
const LEVEL =
  /^[\s|:-]{0,8}(?:\[?[\w.]{1,60}\]?[\s|:-]{1,8})?\[?(?:DEBUG|INFO|WARN|WARNING|ERROR)\b\]?(?::[\w.]{1,60}(?=:)|[\s|:-]{1,8}(?:\[[\w.]{1,60}\]|\w{1,60}(?:\.\w{1,60}){1,4}(?=:)))?/;
const SEPARATOR = /^\s{0,8}[-|:]\s?/;
/** Begins a control sequence of a terminal. */
const CONTROL_SEQUENCE = '\u001b[';

function stripColours(line: string): string {
  const [first = '', ...parts] = line.split(CONTROL_SEQUENCE);
  return first + parts.map((part) => part.replace(/^[\d;]{0,20}m/, '')).join('');
}

/** Returns the line without colours, and without a timestamp, level and logger before it. */
export function stripLogPrefix(line: string): string {
  const text = line.includes(CONTROL_SEQUENCE) ? stripColours(line) : line;
  const timestamp = TIMESTAMP.exec(text)?.[0].length ?? 0;
  const level = LEVEL.exec(text.slice(timestamp))?.[0].length ?? 0;
  const prefix = timestamp + level;
  return prefix === 0 ? text : text.slice(prefix).replace(SEPARATOR, '');
}
