/** Uploads: a signed URL, good for 10 minutes, to PUT raw bytes to without a token; what was put is used by its id. */
import Type, { type Static } from 'typebox';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { idSchema, type UploadId } from '../schemas/ids.ts';

export const Upload = Type.Object(
  {
    upload_id: idSchema<UploadId>('Id to use the upload by.'),
    upload_url: Type.String({
      description:
        'PUT the raw bytes here, without a token, within 10 minutes and before the key is revoked.',
    }),
  },
  { $id: 'Upload', description: 'Where to PUT bytes.' },
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
  summary: 'Get an upload URL for content of a run',
  description:
    'For inputs above 5 MB, for archives and for results of external runs: PUT up to 500 MB to the URL, then name the upload id where the content is used. An upload is forgotten 24 hours after its URL was asked for; what used it keeps the content.',
  right: 'run',
  params: ApplicationParams,
  body: { schema: Type.Object({}), example: {}, required: false },
  responses: { 200: { description: 'Where to PUT the content.', schema: Upload, example: uploadExample } },
  errors: [404],
});

const UploadParams = Type.Object({ upload_id: idSchema<UploadId>('Id of the upload.') });
const SignedQuery = Type.Object({
  key: Type.Optional(
    Type.String({
      description: 'Part of the signed URL: the key that asked for it, until whose end it is good.',
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
  summary: 'Put bytes to an upload URL',
  description:
    'Takes the raw body, whatever its content type, up to 500 MB. The URL carries its own credential. Nothing is visible until the body has arrived whole; a URL can be used once.',
  right: 'public',
  params: UploadParams,
  query: SignedQuery,
  body: { schema: Type.Unsafe<unknown>({ type: 'string', format: 'binary' }), stream: true },
  responses: { 200: { description: 'The content is kept.' } },
  errors: [403, 404],
});

const RawBytes = Type.Unsafe<unknown>({ type: 'string', format: 'binary' });
const DOWNLOAD_HEADERS = {
  'Accept-Ranges': 'Always `bytes`: a part can be asked for.',
  ETag: 'Names the content, which never changes; hand it back as `If-Range`.',
};

const DownloadParams = Type.Object({ download_id: Type.String({ description: 'Part of the signed URL.' }) });

export const getDownload = defineOperation({
  id: 'getDownload',
  method: 'GET',
  path: '/v1/downloads/{download_id}',
  tag: 'runs',
  summary: 'Get content by its download URL',
  description:
    'Answers the raw content a `format=url` answer named. The URL carries its own credential and is good for 10 minutes. A download that broke off goes on with `Range`, from the first byte that is missing; HEAD answers the headers alone.',
  right: 'public',
  params: DownloadParams,
  query: Type.Object({
    expires: Type.Optional(Type.String({ description: 'Part of the signed URL.' })),
    signature: Type.Optional(Type.String({ description: 'Part of the signed URL.' })),
    type: Type.Optional(
      Type.String({ description: 'Part of the signed URL: the content type of the answer.' }),
    ),
  }),
  headers: Type.Object({
    Range: Type.Optional(
      Type.String({
        description:
          'One range of bytes, such as `bytes=1048576-`. Several at once, and what is no range, are ignored: the whole content is answered.',
      }),
    ),
    'If-Range': Type.Optional(
      Type.String({ description: 'The `ETag` that the range is of; with any other the whole is answered.' }),
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
      description: 'The part of the content that was asked for.',
      contentType: 'application/octet-stream',
      schema: RawBytes,
      headers: {
        ...DOWNLOAD_HEADERS,
        'Content-Range': 'Which bytes these are, and of how many.',
      },
    },
  },
  errors: [403, 404, 416],
});
