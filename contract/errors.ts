/**
 * The error bodies of the API: 400, 404, 409, 415, 416, 429 and those of the server carry `status` and `error`, 401 and 403 a
 * `message`. Each has a `code`.
 */
import Type from 'typebox';

/** The codes of errors, with their meaning. A code never changes its meaning; a release may add others. */
export const ERROR_CODES = {
  invalid_request: 'the request is malformed or conflicts with the current state',
  too_large: 'the body has too many bytes; send a smaller one or use an upload URL',
  unauthorized: 'the token is missing or not valid',
  forbidden: 'the caller lacks the right',
  not_found: 'there is no such resource or path',
  timeout: 'the request took too long to arrive',
  conflict: 'somebody has changed the resource',
  unsupported_media_type: 'the body is compressed or not in UTF-8',
  range_not_satisfiable: 'the range begins beyond the end of the content',
  too_many_requests: 'wait as long as `Retry-After` says',
  no_capacity: 'the run would have to wait, and it asked not to be queued',
  internal: 'the server has a fault',
  unavailable: 'the server cannot store or read its data now',
} as const;
export type ErrorCode = keyof typeof ERROR_CODES;

const Code = Type.String({
  description: `Code of the error, for programs: ${Object.entries(ERROR_CODES)
    .map(([code, meaning]) => `\`${code}\` (${meaning})`)
    .join(', ')}. A release may add codes.`,
});

const StatusError = Type.Object(
  {
    status: Type.String({ description: 'Reason phrase of the status.' }),
    error: Type.String({
      description: 'Names the field and its value, and the correct form.',
    }),
    code: Code,
  },
  { $id: 'StatusError', description: 'An error in the request.' },
);

const MessageError = Type.Object(
  { message: Type.String({ description: 'Why access is denied.' }), code: Code },
  { $id: 'MessageError', description: 'A denied request.' },
);

/** The error statuses of the API, with the reason phrases that the bodies carry. */
export const ERROR_STATUSES = {
  400: {
    statusText: 'Bad Request',
    code: 'invalid_request',
    description: 'The request is malformed or conflicts with the current state. Nothing was changed.',
    schema: StatusError,
  },
  401: {
    statusText: 'Unauthorized',
    code: 'unauthorized',
    description: 'The token is missing, malformed, expired, revoked or unknown.',
    schema: MessageError,
  },
  403: {
    statusText: 'Forbidden',
    code: 'forbidden',
    description: 'The role of the token lacks the required right.',
    schema: MessageError,
  },
  404: {
    statusText: 'Not Found',
    code: 'not_found',
    description: 'The account of the token has no such resource.',
    schema: StatusError,
  },
  409: {
    statusText: 'Conflict',
    code: 'conflict',
    description:
      'Somebody has changed the resource since you read it, as your `expected_` field says. Or the part of an upload does not begin where the stored bytes end; `Upload-Offset` contains their number. Nothing was changed.',
    schema: StatusError,
  },
  415: {
    statusText: 'Unsupported Media Type',
    code: 'unsupported_media_type',
    description:
      'The body is compressed, or is not in UTF-8. The message names the encoding. Nothing was changed.',
    schema: StatusError,
  },
  416: {
    statusText: 'Range Not Satisfiable',
    code: 'range_not_satisfiable',
    description:
      'The requested range starts beyond the end of the content. `Content-Range` contains its length.',
    schema: StatusError,
  },
  429: {
    statusText: 'Busy',
    code: 'too_many_requests',
    description:
      'Too many requests, or no free capacity for a run with queuing disabled. Nothing was changed.',
    schema: StatusError,
  },
} as const satisfies Record<number, { statusText: string; code: ErrorCode; [field: string]: unknown }>;
export type ErrorStatus = keyof typeof ERROR_STATUSES;

/** Errors of the server, which any operation may return and its documents leave out. */
export const SERVER_ERRORS = {
  500: { statusText: 'Internal Server Error', code: 'internal' },
  503: { statusText: 'Service Unavailable', code: 'unavailable' },
} as const;

export const ERROR_EXAMPLES: Record<ErrorStatus, object> = {
  400: {
    status: 'Bad Request',
    error: 'name is "ab", 2 characters long; it must have 3 to 48 characters.',
    code: 'invalid_request',
  },
  401: { message: 'The bearer token is not known here; it may have been revoked.', code: 'unauthorized' },
  403: {
    message: 'The role viewer may not do this; it needs one of root, admin, developer.',
    code: 'forbidden',
  },
  404: { status: 'Not Found', error: 'There is no application "routing".', code: 'not_found' },
  409: {
    status: 'Conflict',
    error:
      'expected_version_id is "v1", and the instance "production" has the version "v3" now. Nothing was changed.',
    code: 'conflict',
  },
  415: {
    status: 'Unsupported Media Type',
    error:
      'Content-Encoding is "gzip", and the body must not be compressed. Send plain JSON without this header.',
    code: 'unsupported_media_type',
  },
  416: {
    status: 'Range Not Satisfiable',
    error: 'Range is "bytes=900-"; the content has 812 bytes, and a range of it begins before its end.',
    code: 'range_not_satisfiable',
  },
  429: {
    status: 'Busy',
    error: 'No slot of execution class 6c9500mb870s is free and the run asked not to be queued.',
    code: 'no_capacity',
  },
};
