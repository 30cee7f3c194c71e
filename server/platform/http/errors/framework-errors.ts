/** Converts the errors that Fastify throws before it calls a handler. */
import { REQUEST_BODY_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { FastifyError } from 'fastify';
import { badRequest, notFound, Problem } from './problem.ts';

/** Returns the 400 for a body of more bytes than its operation accepts; it closes the connection. */
export function bodyTooLarge(bodyLimit: number): Problem {
  const message = `The body of the request is too large; it may have ${bodyLimit} bytes.`;
  return new Problem(
    400,
    bodyLimit < REQUEST_BODY_BYTES_MAX ? message : `${message} Send larger inputs to an upload URL.`,
    // The server does not read the rest of the body.
    { connection: 'close' },
    'too_large',
  );
}

/** Returns the 400 for a caller that disconnects during its request. Only logs and metrics see it. */
export const bodyEndedEarly = (): Problem => badRequest('The request ended before its body was complete.');

/**
 * Converts an error of Fastify into an error of the contract. Returns null for an internal error.
 *
 * @param bodyLimit the maximum of bytes that a body of the route may have.
 */
export function convertFastifyError(error: FastifyError, bodyLimit: number): Problem | null {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(bodyLimit);
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return notFound('An id in the path is longer than every existing id. Check the path.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return badRequest(
        'The content type of the request is not a valid media type; it must be application/json.',
      );
    case 'FST_ERR_BAD_URL':
      return badRequest(
        'The path of the request has an invalid percent-encoding; percent-encode it as UTF-8.',
      );
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return badRequest(
        'The Content-Length header differs from the length of the body. Send the length in bytes.',
      );
    default:
      return error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
        ? badRequest(`The request cannot be read: ${error.message.replace(/\.$/, '')}.`)
        : null;
  }
}
