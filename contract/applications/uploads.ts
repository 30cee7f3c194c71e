/**
 * Uploads: a signed URL, valid for 10 minutes, accepts raw bytes without a token, whole by PUT or in parts by PATCH. After the
 * first part it is valid for a day. Requests refer to the content by its id. Parts follow "Resumable Uploads for HTTP"
 * (draft-ietf-httpbis-resumable-upload).
 */
import Type, { type Static } from 'typebox';
import { UPLOAD_BYTES_MAX, UPLOAD_PARTS_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { idSchema, type KeyId, type UploadId } from '../schemas/ids.ts';

export const Upload = Type.Object(
  {
    upload_id: idSchema<UploadId>('Id of the upload for later requests.'),
    upload_url: Type.String({
      description:
        'PUT the raw bytes here without a token, or PATCH them in parts. The URL is valid for 10 minutes, after the first part for 24 hours, and until the key is revoked.',
    }),
  },
  { $id: 'Upload', description: 'A signed URL for an upload.' },
);
export type Upload = Static<typeof Upload>;

export const uploadExample = {
  upload_id: 'upl-01jd3v7k9m',
  upload_url: 'http://127.0.0.1:8080/v1/uploads/upl-01jd3v7k9m?signature=…',
};

export const createRunUpload = defineOperation({
  id: 'createRunUpload',
  method: 'POST',
  path: '/v1/applications/{application_id}/runs/uploadurl',
  tag: 'runs',
  summary: 'Get an upload URL for the content of a run',
  description:
    'Returns an upload URL for inputs above 5 MB, for archives, and for results of external runs. PUT up to 500 MB to the URL, then refer to the upload id. The server deletes the upload after 24 hours. Resources that use it keep the content.',
  right: 'run',
  params: ApplicationParams,
  body: { schema: Type.Object({}), example: {}, required: false },
  responses: { 200: { description: 'The upload URL.', schema: Upload, example: uploadExample } },
  errors: [404],
});

const UploadParams = Type.Object({ upload_id: idSchema<UploadId>('Id of the upload.') });
const SignedQuery = Type.Object({
  key: Type.Optional(
    Type.Unsafe<KeyId>({
      type: 'string',
      description:
        'Part of the signed URL: the key that requested it. The URL is valid until the key is revoked.',
    }),
  ),
  expires: Type.Optional(Type.String({ description: 'Part of the signed URL.' })),
  signature: Type.Optional(Type.String({ description: 'Part of the signed URL.' })),
});

export const putUpload = defineOperation({
  id: 'putUpload',
  method: 'PUT',
  path: '/v1/uploads/{upload_id}',
  tag: 'runs',
  summary: 'Upload content',
  description:
    'Accepts a raw body of any content type, up to 500 MB. The URL contains its own credential and works once. The content is available only after the whole body has arrived. Send large content in parts with PATCH, so that a lost connection costs only a part.',
  right: 'public',
  params: UploadParams,
  query: SignedQuery,
  body: { schema: Type.Unsafe<unknown>({ type: 'string', format: 'binary' }), stream: true },
  responses: { 200: { description: 'The content is stored.' } },
  errors: [403, 404],
});

const UPLOAD_OFFSET = 'Number of the stored bytes. The next part begins at this byte.';
const UPLOAD_COMPLETE = '`?1` when the upload has its whole content, else `?0`.';
const UPLOAD_HEADERS = { 'Upload-Offset': UPLOAD_OFFSET, 'Upload-Complete': UPLOAD_COMPLETE };

export const getUpload = defineOperation({
  id: 'getUpload',
  method: 'GET',
  path: '/v1/uploads/{upload_id}',
  tag: 'runs',
  summary: 'Get the state of an upload',
  description:
    'Returns how many bytes of an upload in parts are stored. After a lost connection, send the next part from this byte. Needs the signed URL of the upload. HEAD returns only the headers.',
  right: 'public',
  params: UploadParams,
  query: SignedQuery,
  responses: {
    200: {
      description: 'The state of the upload.',
      schema: Type.Object(
        {
          offset: Type.Integer({ description: UPLOAD_OFFSET }),
          complete: Type.Boolean({ description: 'true when the upload has its whole content.' }),
        },
        { $id: 'UploadState', description: 'State of an upload.' },
      ),
      example: { offset: 8388608, complete: false },
      headers: {
        ...UPLOAD_HEADERS,
        'Upload-Limit': `Limits of the upload: \`max-size=${UPLOAD_BYTES_MAX}\`.`,
      },
    },
  },
  errors: [403, 404],
});

export const appendUpload = defineOperation({
  id: 'appendUpload',
  method: 'PATCH',
  path: '/v1/uploads/{upload_id}',
  tag: 'runs',
  summary: 'Upload a part of the content',
  description: `Appends a raw body to the stored bytes of the upload. A 204 means that the part is durable. \`Upload-Complete: ?1\` marks the last part. The content is available after its 200. When a connection breaks, the server stores the bytes that have arrived. Read the offset with GET or HEAD, and continue there. A part that begins at another byte is refused with 409. After the first part the URL is valid for 24 hours from the creation of the upload. An upload has at most ${UPLOAD_PARTS_MAX} parts and 500 MB. The server deletes the parts of an unfinished upload after 24 hours. The headers follow draft-ietf-httpbis-resumable-upload; an invalid one is refused with 400.`,
  right: 'public',
  params: UploadParams,
  query: SignedQuery,
  headers: Type.Object({
    'Upload-Offset': Type.String({
      description: 'Number of the bytes before this part: the offset that the server returned last, or 0.',
    }),
    'Upload-Complete': Type.Optional(
      Type.String({ description: '`?1` for the last part, which may be empty. The default is `?0`.' }),
    ),
    'Upload-Length': Type.Optional(
      Type.String({
        description: 'Size of the whole content in bytes. A part that contradicts it is refused with 400.',
      }),
    ),
  }),
  body: { schema: Type.Unsafe<unknown>({ type: 'string', format: 'binary' }), stream: true },
  responses: {
    200: { description: 'The upload is complete, and its content is stored.', headers: UPLOAD_HEADERS },
    204: { description: 'The part is stored.', headers: UPLOAD_HEADERS },
  },
  errors: [403, 404, 409],
});

/** Schema of a body that is the bytes of a content. */
export const RawBytes = Type.Unsafe<unknown>({ type: 'string', format: 'binary' });
const DOWNLOAD_HEADERS = {
  'Accept-Ranges': 'Always `bytes`: the server supports range requests.',
  ETag: 'Identifies the content, which never changes. Send it as `If-Range`.',
};

const DownloadParams = Type.Object({ download_id: Type.String({ description: 'Part of the signed URL.' }) });

export const getDownload = defineOperation({
  id: 'getDownload',
  method: 'GET',
  path: '/v1/downloads/{download_id}',
  tag: 'runs',
  summary: 'Download content',
  description:
    'Returns the raw content of a download URL from a `format=url` response. The URL contains its own credential and is valid for 10 minutes. Resume an interrupted download with `Range`, from the first missing byte. HEAD returns only the headers.',
  right: 'public',
  params: DownloadParams,
  query: Type.Object({
    expires: Type.Optional(Type.String({ description: 'Part of the signed URL.' })),
    signature: Type.Optional(Type.String({ description: 'Part of the signed URL.' })),
    type: Type.Optional(
      Type.String({ description: 'Part of the signed URL: the content type of the response.' }),
    ),
  }),
  headers: Type.Object({
    Range: Type.Optional(
      Type.String({
        description:
          'One range of bytes, such as `bytes=1048576-`. Several ranges, and malformed ones, are ignored: the response is the whole content.',
      }),
    ),
    'If-Range': Type.Optional(
      Type.String({
        description: 'The `ETag` of the range. With another value, the response is the whole content.',
      }),
    ),
  }),
  responses: {
    200: {
      description: 'The content.',
      contentType: 'application/octet-stream',
      schema: RawBytes,
      headers: DOWNLOAD_HEADERS,
    },
    206: {
      description: 'The requested part of the content.',
      contentType: 'application/octet-stream',
      schema: RawBytes,
      headers: {
        ...DOWNLOAD_HEADERS,
        'Content-Range': 'The returned range of bytes, and the total size.',
      },
    },
  },
  errors: [403, 404, 416],
});
