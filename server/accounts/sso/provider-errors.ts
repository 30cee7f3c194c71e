/** Sorts errors of openid-client and jose into refusals of a sign-in and faults of the provider. Pure. */
import { errors as joseErrors } from 'jose';
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import {
  forbidden,
  NotReadyError,
  Problem,
  quoteValue,
  unauthorized,
} from '../../platform/http/errors/problem.ts';
import { errorMessage } from '../../platform/log.ts';

/** The meaning of an error for the caller and for the operator. */
interface ProviderError {
  problem: Error;
  /** The cause in a sentence. */
  reason: string;
  /** true: the operator should see it in the log. */
  isFault: boolean;
}

const RETRY_AFTER_SECONDS = 10;
/** Codes of openid-client for a response or an ID token that breaks a rule of the protocol. */
const REFUSED_CODES = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_UNSUPPORTED_OPERATION',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
]);
const CAUSES_MAX = 4;

/** Returns the meaning of an error: a 401 or 403 for a refused sign-in, and a 503 for a fault of the provider. */
export function explainProviderError(error: unknown, issuer: string): ProviderError {
  if (error instanceof Problem || error instanceof NotReadyError)
    return { problem: error, reason: error.message, isFault: false };
  const reason = describeCauses(error);
  if (error instanceof AuthorizationResponseError)
    return {
      problem: forbidden(
        `The identity provider refused the sign-in: ${quoteValue(error.error)}. Sign in again.`,
      ),
      reason,
      isFault: false,
    };
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant')
    return {
      problem: unauthorized(
        'The identity provider refused the code: it was used, is too old or belongs to another sign-in. Sign in again.',
      ),
      reason,
      isFault: false,
    };
  const isRefused =
    (error instanceof ClientError && REFUSED_CODES.has(error.code ?? '')) || isTokenError(error);
  if (isRefused)
    return {
      problem: unauthorized(`The response of the identity provider is not valid: ${reason} Sign in again.`),
      reason,
      isFault: true,
    };
  return {
    problem: new NotReadyError(
      `The identity provider ${issuer} gives no valid response: ${reason} API keys work meanwhile; try again later.`,
      RETRY_AFTER_SECONDS,
    ),
    reason,
    isFault: true,
  };
}

/** True for an error about the token itself, false for one about the key set of the provider. */
function isTokenError(error: unknown): boolean {
  return (
    error instanceof joseErrors.JWTInvalid ||
    error instanceof joseErrors.JWTExpired ||
    error instanceof joseErrors.JWTClaimValidationFailed ||
    error instanceof joseErrors.JWSInvalid ||
    error instanceof joseErrors.JWSSignatureVerificationFailed ||
    error instanceof joseErrors.JOSEAlgNotAllowed ||
    error instanceof joseErrors.JOSENotSupported ||
    error instanceof joseErrors.JWKSNoMatchingKey
  );
}

/** Returns the messages of an error and its causes as one sentence, without repetitions. */
function describeCauses(thrown: unknown): string {
  const messages: string[] = [];
  let error = thrown;
  for (let depth = 0; depth < CAUSES_MAX && error instanceof Error; depth += 1) {
    messages.push(
      error instanceof ResponseBodyError ? `${error.error} (${error.status})` : errorMessage(error),
    );
    error = error.cause;
  }
  if (messages.length === 0) messages.push(String(thrown));
  const reasons = messages.filter((message) => message !== 'something went wrong');
  const text = [...new Set(reasons.map((message) => message.replace(/\.$/, '')))].join(': ');
  return `${text.slice(0, REASON_CHARS_MAX).toWellFormed()}.`;
}

const REASON_CHARS_MAX = 300;
