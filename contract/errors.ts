/** The error bodies of the API: 400, 404, 409, 416 and 429 carry `status` and `error`, 401 and 403 a `message`. */
import Type from 'typebox';

const StatusError = Type.Object(
  {
    status: Type.String({ description: 'Reason phrase of the status.' }),
    error: Type.String({
      description: 'Names the field and its value, and the correct form.',
    }),
  },
  { $id: 'StatusError', description: 'An error in the request.' },
);

const MessageError = Type.Object(
  { message: Type.String({ description: 'Why access is denied.' }) },
  { $id: 'MessageError', description: 'A denied request.' },
);

/** The error statuses of the API, with the reason phrases that the bodies carry. */
export const ERROR_STATUSES = {
  400: {
    statusText: 'Bad Request',
    description: 'The request is malformed or conflicts with the current state. Nothing was changed.',
    schema: StatusError,
  },
  401: {
    statusText: 'Unauthorized',
    description: 'The token is missing, malformed, expired, revoked or unknown.',
    schema: MessageError,
  },
  403: {
    statusText: 'Forbidden',
    description: 'The role of the token lacks the required right.',
    schema: MessageError,
  },
  404: {
    statusText: 'Not Found',
    description: 'The account of the token has no such resource.',
    schema: StatusError,
  },
  409: {
    statusText: 'Conflict',
    description:
      'The part of an upload does not begin where the stored bytes end. `Upload-Offset` contains their number. The part was not stored.',
    schema: StatusError,
  },
  416: {
    statusText: 'Range Not Satisfiable',
    description:
      'The requested range starts beyond the end of the content. `Content-Range` contains its length.',
    schema: StatusError,
  },
  429: {
    statusText: 'Busy',
    description:
      'Too many requests, or no free capacity for a run with queuing disabled. Nothing was changed.',
    schema: StatusError,
  },
} as const;
export type ErrorStatus = keyof typeof ERROR_STATUSES;

export const ERROR_EXAMPLES: Record<ErrorStatus, object> = {
  400: { status: 'Bad Request', error: 'name is "ab", 2 characters long; it must have 3 to 48 characters.' },
  401: { message: 'The bearer token is not known here; it may have been revoked.' },
  403: { message: 'The role viewer may not do this; it needs one of root, admin, developer.' },
  404: { status: 'Not Found', error: 'There is no application "routing".' },
  409: {
    status: 'Conflict',
    error: 'Upload-Offset is 900, and the server has 812 bytes of the upload. Continue at byte 812.',
  },
  416: {
    status: 'Range Not Satisfiable',
    error: 'Range is "bytes=900-"; the content has 812 bytes, and a range of it begins before its end.',
  },
  429: {
    status: 'Busy',
    error: 'No slot of execution class 6c9500mb870s is free and the run asked not to be queued.',
  },
};
