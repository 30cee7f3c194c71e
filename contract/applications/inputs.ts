/**
 * A managed input is a named input that runs and experiments can reuse. Its source is an upload or the input of a run.
 * It stores its own copy, so neither the expiry of the upload nor the deletion of the run affects it.
 */

import Type, { type Static } from 'typebox';
import { INPUT_NAME_CHARS_MAX, INPUT_NAME_CHARS_MIN } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { conditionFields } from '../schemas/conditional-writes.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  descriptionSchema,
  Format,
  FormatSide,
  nameTextSchema,
  optionalNullable,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import {
  type ApplicationId,
  type InputId,
  idReferenceSchema,
  idSchema,
  newIdSchema,
  type RunId,
  type UploadId,
} from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';

/** The format of an input. The output format is optional, because only the input is read again. */
export const InputFormat = Type.Object(
  { input: FormatSide, output: Type.Optional(FormatSide) },
  { description: 'Format of the content, and optionally of the output of runs on it.' },
);
export type InputFormat = Static<typeof InputFormat>;

export const Input = Type.Object(
  {
    id: idSchema<InputId>('Id of the input.'),
    app_id: idSchema<ApplicationId>('Id of the application.'),
    name: Type.String({ description: 'Name of the input.' }),
    description: Type.String({ description: 'Description; empty by default.' }),
    run_id: Type.Optional(idSchema<RunId>('The source run, which may be deleted; absent for an upload.')),
    upload_id: Type.Optional(
      idSchema<UploadId>('The source upload, which may have expired; absent for a run.'),
    ),
    format: InputFormat,
    download_url: Type.String({
      description: 'URL of the content. GET it without a token, within 10 minutes.',
    }),
    created_at: timestampSchema('Creation time'),
    updated_at: timestampSchema('Time of the last change'),
  },
  { $id: 'Input', description: 'A managed input.' },
);
export type Input = Static<typeof Input>;

// The published clients send the id as the name by default, so a name may have the length of an id.
const inputName = nameTextSchema(
  `Name of the input, ${INPUT_NAME_CHARS_MIN} to ${INPUT_NAME_CHARS_MAX} characters.`,
  {
    min: INPUT_NAME_CHARS_MIN,
    max: INPUT_NAME_CHARS_MAX,
  },
);

export const InputCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<InputId>('input')),
    name: optionalNullable(inputName),
    description: optionalNullable(descriptionSchema('input')),
    upload_id: optionalNullable(
      idReferenceSchema<UploadId>('An upload with the content. Give either this or `run_id`.'),
    ),
    run_id: optionalNullable(
      idReferenceSchema<RunId>(
        'A run of the application whose input to use. Give either this or `upload_id`.',
      ),
    ),
    format: optionalNullable({
      ...Format,
      description:
        'Formats of an upload; the default is JSON. An input from a run has the formats of the run.',
    }),
  },
  { $id: 'InputCreate', additionalProperties: false, description: 'The input to create.' },
);
export type InputCreate = Static<typeof InputCreate>;

const InputUpdate = Type.Object(
  {
    name: optionalNullable(inputName),
    description: optionalNullable(descriptionSchema('input')),
    ...conditionFields,
  },
  { $id: 'InputUpdate', description: 'The fields to change. Others may have their present values.' },
);

const InputParams = Type.Object({
  ...ApplicationParams.properties,
  input_id: idSchema<InputId>('Id of the input.'),
});

const example = {
  id: 'monday-peak',
  app_id: 'routing',
  name: 'Monday at its peak',
  description: '',
  run_id: 'run-01jd3v7k9mq2z5x8',
  format: { input: { type: 'json' }, output: { type: 'json' } },
  download_url: 'http://127.0.0.1:8080/v1/downloads/c-01jd3v7k9m?signature=…',
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
};

export const createInput = defineOperation({
  id: 'createInput',
  method: 'POST',
  path: '/v1/applications/{application_id}/inputs',
  tag: 'inputs',
  summary: 'Create a managed input',
  description:
    'Stores an upload, or the input of a run, under a name. The content is stored unchanged. Neither deleting the run nor the expiry of the upload affects it. Without an id, the server generates one; without a name, the name is the id.',
  right: 'experiment',
  params: ApplicationParams,
  body: {
    schema: InputCreate,
    example: { id: 'monday-peak', name: 'Monday at its peak', run_id: 'run-01jd3v7k9mq2z5x8' },
  },
  responses: { 201: { description: 'The input.', schema: Input, example } },
  errors: [404],
});

export const listInputs = defineOperation({
  id: 'listInputs',
  method: 'GET',
  path: '/v1/applications/{application_id}/inputs',
  tag: 'inputs',
  summary: 'List managed inputs',
  description: 'Lists the managed inputs of the application, each with a download URL.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object(PageQuery),
  responses: {
    200: { description: 'The inputs, newest first.', schema: pageOrArray(Input), example: [example] },
  },
  errors: [404],
});

export const getInput = defineOperation({
  id: 'getInput',
  method: 'GET',
  path: '/v1/applications/{application_id}/inputs/{input_id}',
  tag: 'inputs',
  summary: 'Get a managed input',
  description: 'Returns the input with a download URL.',
  right: 'read',
  params: InputParams,
  responses: { 200: { description: 'The input.', schema: Input, example } },
  errors: [404],
});

export const updateInput = defineOperation({
  id: 'updateInput',
  method: 'PUT',
  path: '/v1/applications/{application_id}/inputs/{input_id}',
  tag: 'inputs',
  summary: 'Update a managed input',
  description:
    'Changes name and description; the content of an input never changes. You can send back the whole object. Another value of a field that this request cannot change returns 400. The response has no body unless the request has the header `Prefer: return=representation` (RFC 7240).',
  right: 'experiment',
  params: InputParams,
  headers: Type.Object({
    prefer: Type.Optional(
      Type.String({ description: '`return=representation`: respond with 200 and the updated input.' }),
    ),
  }),
  body: { schema: InputUpdate, example: { name: 'Monday, before the holidays' } },
  responses: {
    200: {
      description: 'The updated input, for `Prefer: return=representation`.',
      schema: Input,
      example,
      headers: { 'Preference-Applied': '`return=representation`.' },
    },
    204: { description: 'The input is updated.' },
  },
  errors: [404],
});

export const deleteInput = defineOperation({
  id: 'deleteInput',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/inputs/{input_id}',
  tag: 'inputs',
  summary: 'Delete a managed input',
  description: describeDeletion(
    'Deletes the input.',
    [
      [
        'Runs on the input, including queued ones',
        'Unaffected: each stores the content, and keeps the id of the input.',
      ],
      ['Input sets that contain it', 'Unaffected, for the same reason.'],
      ['The source run or upload', 'Unaffected.'],
      ['Download URLs of the input', 'Stop working.'],
    ],
    'New resources cannot refer to it.',
  ),
  right: 'experiment',
  params: InputParams,
  responses: { 204: { description: 'The input is deleted.' } },
  errors: [404],
});
