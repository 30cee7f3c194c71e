/** What a handler throws to answer with an error of the contract. Anything else thrown is a fault of ours. */
import { ERROR_STATUSES, type ErrorStatus } from '@switchyard/contract/errors.ts';

export class Problem extends Error {
  readonly status: ErrorStatus;
  readonly headers: Record<string, string>;
  /** `sentence` is shown to the caller: it names field and value and says what would be right. */
  constructor(status: ErrorStatus, sentence: string, headers: Record<string, string> = {}) {
    super(sentence);
    this.status = status;
    this.headers = headers;
  }
}

export const badRequest = (sentence: string): Problem => new Problem(400, sentence);
/** HTTP wants every 401 to name the scheme that would be right. */
export const unauthorized = (sentence: string): Problem =>
  new Problem(401, sentence, { 'www-authenticate': 'Bearer' });
export const forbidden = (sentence: string): Problem => new Problem(403, sentence);
export const notFound = (sentence: string): Problem => new Problem(404, sentence);
export const tooManyRequests = (sentence: string, headers?: Record<string, string>): Problem =>
  new Problem(429, sentence, headers);

/**
 * What was found or changed; throws the problem when it is not there. Asked inside a transaction, so that one that changed
 * nothing leaves nothing.
 */
export function orThrow<T>(value: T | undefined | false, problem: () => Problem): T {
  if (value === undefined || value === false) throw problem();
  return value;
}

/** The body the contract gives this error. */
export function formatErrorBody(
  status: ErrorStatus,
  sentence: string,
): { message: string } | { status: string; error: string } {
  if (status === 401 || status === 403) return { message: sentence };
  return { status: ERROR_STATUSES[status].statusText, error: sentence };
}

/** A value as a message shows it: text and numbers cut where they are long, the rest by its kind. */
export function quoteValue(value: unknown): string {
  if (Array.isArray(value)) return `a JSON array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'a JSON object';
  return truncate(JSON.stringify(value) ?? String(value));
}

/** A name a caller made up, as a message shows it. */
export function truncate(text: string): string {
  return text.length > QUOTED_CHARS_MAX ? `${text.slice(0, QUOTED_CHARS_MAX).toWellFormed()}…` : text;
}

const QUOTED_CHARS_MAX = 80;

/** The names joined by commas, as many as fit into a sentence: a manifest may hold a megabyte of them. */
export function formatNameList(names: readonly string[]): string {
  const fitting: string[] = [];
  let chars = 0;
  for (const name of names) {
    chars += name.length;
    if (fitting.length === LISTED_NAMES_MAX || chars > LISTED_CHARS_MAX) break;
    fitting.push(name);
  }
  const left = names.length - fitting.length;
  return left === 0 ? fitting.join(', ') : `${[...fitting, ''].join(', ')}and ${left} more`;
}

const LISTED_NAMES_MAX = 50;
const LISTED_CHARS_MAX = 1000;
