/** Parsers of the values of options and arguments. Each throws InvalidArgumentError with the allowed values. */
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { IDEMPOTENCY_KEY_CHARS_MAX } from '@switchyard/contract/limits.ts';

/** Returns a parser of whole numbers in a range. */
export function parseWholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Returns a parser that adds a pair `name=value` to those of the same option before. `rule` is the message for other texts. */
export function collectPairs(
  rule: string,
): (text: string, before?: Record<string, string>) => Record<string, string> {
  return (text, before = {}) => {
    const at = text.indexOf('=');
    if (at < 1) throw new InvalidArgumentError(rule);
    return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
  };
}

/** Adds an option of the app to those before. */
export const collectAppOption = collectPairs('It must be NAME=VALUE, such as duration=30.');

const TOKENS_CHARS_MAX = 9;

/** Parses the tokens of a licence, such as `gurobi=4`. */
export function parseTokens(text: string): [name: string, tokens: number] {
  const [[name, tokens] = ['', '']] = Object.entries(collectPairs(TOKENS_RULE)(text));
  if (/^\d+$/.test(tokens) && tokens.length <= TOKENS_CHARS_MAX) return [name, Number(tokens)];
  throw new InvalidArgumentError(TOKENS_RULE);
}

const TOKENS_RULE = 'It must be NAME=TOKENS, such as gurobi=4.';

/**
 * Returns the parts of NAME=VALUE; undefined for another text. Until the next release NAME:VALUE is read too, with a warning.
 * A backslash stands before such a character in a name.
 */
export function splitPair(
  text: string,
  warn: (line: string) => void,
): [name: string, value: string] | undefined {
  const [, name, sign, value = ''] = /^((?:\\.|[^\\:=])+)([:=])(.*)$/s.exec(text) ?? [];
  if (name === undefined) return undefined;
  if (sign === ':') warn(`Write ${name}=${value} in place of ${text}: the next release refuses it.`);
  return [name, value];
}

/** Parses an idempotency key, which is the value of a header. */
export function parseIdempotencyKey(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text) && text.length <= IDEMPOTENCY_KEY_CHARS_MAX) return text;
  throw new InvalidArgumentError(
    `It must have 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters and no spaces.`,
  );
}

/** Adds a value to those of the same option before. */
export function collectValue(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

const UNITS_MS: Readonly<Record<string, number>> = { min: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a time and returns it in RFC 3339: a date, a time, or a duration until now such as `30min`, `24h` and `7d`. */
export function parseTime(text: string): string {
  const [, count, unit = ''] = /^(\d+)(min|h|d)$/.exec(text) ?? [];
  const ms = count ? Date.now() - Number(count) * (UNITS_MS[unit] ?? 0) : Date.parse(text);
  if (Number.isNaN(new Date(ms).getTime()))
    throw new InvalidArgumentError(
      'It must be a time such as 2026-11-20 or 2026-11-20T08:00:00Z, or a duration until now such as 24h.',
    );
  return new Date(ms).toISOString();
}
