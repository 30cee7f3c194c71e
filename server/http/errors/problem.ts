/** Errors of the contract, which handlers throw. Any other thrown value is an internal error. */
import { ERROR_STATUSES, type ErrorStatus } from '@switchyard/contract/errors.ts';

/** An error response of the contract: its status, message and further headers. */
export class Problem extends Error {
  readonly status: ErrorStatus;
  readonly headers: Record<string, string>;
  /** The caller reads `message`: it names the field, the value and a correct value. */
  constructor(status: ErrorStatus, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The server cannot do this yet for any caller: a 503 with Retry-After. */
export class NotReadyError extends Error {
  readonly retryAfterSeconds: number;
  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export const badRequest = (message: string): Problem => new Problem(400, message);
/** HTTP requires every 401 to name the authentication scheme (RFC 9110, section 11.6.1). */
export const unauthorized = (message: string): Problem =>
  new Problem(401, message, { 'www-authenticate': 'Bearer' });
export const forbidden = (message: string): Problem => new Problem(403, message);
export const notFound = (message: string): Problem => new Problem(404, message);
export const tooManyRequests = (message: string, headers?: Record<string, string>): Problem =>
  new Problem(429, message, headers);

/**
 * Returns a value that was found or changed; throws the problem when it is missing. Call it inside the transaction, which
 * then rolls back.
 */
export function orThrow<T>(value: T | undefined | false, problem: () => Problem): T {
  if (value === undefined || value === false) throw problem();
  return value;
}

/** Returns the response body of an error, in the shape that the contract has for its status. */
export function formatErrorBody(
  status: ErrorStatus,
  message: string,
): { message: string } | { status: string; error: string } {
  if (status === 401 || status === 403) return { message };
  return { status: ERROR_STATUSES[status].statusText, error: message };
}

/** Quotes a value for a message: long text and numbers are truncated, arrays and objects are described. */
export function quoteValue(value: unknown): string {
  if (Array.isArray(value)) return `a JSON array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'a JSON object';
  return truncate(JSON.stringify(value) ?? String(value));
}

/** Truncates a text of a caller for a message, to 80 characters and an ellipsis. */
export function truncate(text: string): string {
  return text.length > QUOTED_CHARS_MAX ? `${text.slice(0, QUOTED_CHARS_MAX).toWellFormed()}…` : text;
}

const QUOTED_CHARS_MAX = 80;
