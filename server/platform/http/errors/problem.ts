/** Errors of the contract, which handlers throw. Any other thrown value is an internal error. */

import {
  ERROR_STATUSES,
  type ErrorCode,
  type ErrorStatus,
  SERVER_ERRORS,
} from '@switchyard/contract/errors.ts';
import { quoteValue, truncate } from '@switchyard/contract/presentation/quote-value.ts';

export { quoteValue, truncate };

/** An error response of the contract: its status, message, further headers, and the code, by default that of the status. */
export class Problem extends Error {
  readonly status: ErrorStatus;
  readonly headers: Record<string, string>;
  readonly code: ErrorCode;
  /** The caller reads `message`: it names the field, the value and a correct value. */
  constructor(
    status: ErrorStatus,
    message: string,
    headers: Record<string, string> = {},
    code: ErrorCode = ERROR_STATUSES[status].code,
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.code = code;
  }
}

/** A 409 for a resource that somebody has changed since the caller read it. */
export class ChangedError extends Problem {
  /** Time of the change; null for a setting that was removed. */
  readonly changedAt: number | null;
  readonly #formatMessage: (who: string) => string;
  /** `formatMessage` gets the words that name who changed it, such as ` by ada@example.com`; empty when unknown. */
  constructor(changedAt: number | null, formatMessage: (who: string) => string) {
    super(409, formatMessage(''));
    this.changedAt = changedAt;
    this.#formatMessage = formatMessage;
  }

  /** Returns the error with the person who made the change. */
  namePerson(email: string): ChangedError {
    return new ChangedError(this.changedAt, () => this.#formatMessage(` by ${email}`));
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
/** Returns the 404 for a resource that the application does not have. */
export const reportMissing = (noun: string, id: string, application: { id: string }): Problem =>
  notFound(`There is no ${noun} ${quoteValue(id)} of application ${quoteValue(application.id)}.`);
/** Returns the 400 for a new resource with an id that is in use. */
export const reportTaken = (noun: string, id: string): Problem =>
  badRequest(`id is ${quoteValue(id)}, which another ${noun} of the application has; choose another.`);
export const tooManyRequests = (message: string, headers?: Record<string, string>): Problem =>
  new Problem(429, message, headers);
/** A 429 for a run that must not wait in the queue. */
export const noCapacity = (message: string): Problem => new Problem(429, message, {}, 'no_capacity');

/**
 * Returns a value that was found or changed; throws the problem when it is missing. Call it inside the transaction, which
 * then rolls back.
 */
export function orThrow<T>(value: T | undefined | false, problem: () => Problem): T {
  if (value === undefined || value === false) throw problem();
  return value;
}

/** The body of an error response. */
export type ErrorBody =
  | { message: string; code: ErrorCode }
  | { status: string; error: string; code: ErrorCode };

const STATUSES = { ...ERROR_STATUSES, ...SERVER_ERRORS };

/** Returns the response body of an error, in the shape that the contract has for its status. */
export function formatErrorBody(
  status: ErrorStatus | keyof typeof SERVER_ERRORS,
  message: string,
  code: ErrorCode = STATUSES[status].code,
): ErrorBody {
  if (status === 401 || status === 403) return { message, code };
  return { status: STATUSES[status].statusText, error: message, code };
}
