/** What Fastify refuses before a handler is reached. */
import { REQUEST_BODY_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { FastifyError } from 'fastify';
import { badRequest, notFound, Problem } from './problem.ts';

/** The 400 for a body of more bytes than its operation takes. */
export function bodyTooLarge(bodyLimit: number): Problem {
  const words = `The body of the request is too large; it may have ${bodyLimit} bytes.`;
  // What is still to come of the body is not read.
  return new Problem(
    400,
    bodyLimit < REQUEST_BODY_BYTES_MAX ? words : `${words} Larger inputs go through an upload URL.`,
    { connection: 'close' },
  );
}

/** For a caller that went away in the middle of its request; nobody reads this response. */
export const bodyEndedEarly = (): Problem => badRequest('The request ended before its body did.');

/**
 * Fastify's own refusals, in the contract's words; null for what is a fault of ours.
 *
 * @param bodyLimit bytes that a body of the route may have.
 */
export function convertFastifyError(error: FastifyError, bodyLimit: number): Problem | null {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(bodyLimit);
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return notFound('An id in the path is longer than any id there is.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return badRequest('The content type of the request is not one; it must be application/json.');
    case 'FST_ERR_BAD_URL':
      return badRequest('The path of the request cannot be decoded; percent-encode it as UTF-8.');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return badRequest('The Content-Length header does not fit the body.');
    default:
      return error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
        ? badRequest(`The request cannot be read: ${error.message.replace(/\.$/, '')}.`)
        : null;
  }
}
