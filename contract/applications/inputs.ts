/**
 * A managed input is an input with a name, kept so that runs and experiments can use it again. It is made of an upload or
 * of a run's input, and lives on by itself: neither the upload's age nor the end of the run takes it away.
 */

import Type, { type Static } from 'typebox';
import { INPUT_NAME_CHARS_MAX, INPUT_NAME_CHARS_MIN } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  description,
  Format,
  FormatSide,
  optionalNullable,
  text,
  timestamp,
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

/** What the content of an input is; that it can be read again needs no output. */
export const InputFormat = Type.Object(
  { input: FormatSide, output: Type.Optional(FormatSide) },
  { description: 'Format of the content, and of the output it is meant for where that was given.' },
);
export type InputFormat = Static<typeof InputFormat>;

export const Input = Type.Object(
  {
    id: idSchema<InputId>('Id of the input.'),
    app_id: idSchema<ApplicationId>('Its application.'),
    name: Type.String({ description: 'Name of the input.' }),
    description: Type.String({ description: 'Description, empty when none was given.' }),
    run_id: Type.Optional(
      idSchema<RunId>('The run it was made from; absent for an upload. It may be deleted by now.'),
    ),
    upload_id: Type.Optional(
      idSchema<UploadId>('The upload it was made from; absent for a run. It may be forgotten by now.'),
    ),
    format: InputFormat,
    download_url: Type.String({ description: 'GET the content there without a token, within 10 minutes.' }),
    created_at: timestamp('When it was made'),
    updated_at: timestamp('When it was last changed'),
  },
  { $id: 'Input', description: 'A managed input.' },
);
export type Input = Static<typeof Input>;

// Clients that are given no name send the id in its place, so a name may be whatever an id may be.
const inputName = text(`Name of the input, ${INPUT_NAME_CHARS_MIN} to ${INPUT_NAME_CHARS_MAX} characters.`, {
  min: INPUT_NAME_CHARS_MIN,
  max: INPUT_NAME_CHARS_MAX,
});

export const InputCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<InputId>('input')),
    name: optionalNullable(inputName),
    description: optionalNullable(description('input')),
    upload_id: optionalNullable(
      idReferenceSchema<UploadId>('An upload that holds the content. Either this or `run_id` is given.'),
    ),
    run_id: optionalNullable(
      idReferenceSchema<RunId>(
        'A run of the application whose input it is. Either this or `upload_id` is given.',
      ),
    ),
    format: optionalNullable({
      ...Format,
      description:
        'Formats of an upload, JSON when nothing is said. An input from a run has those of the run.',
    }),
  },
  { $id: 'InputCreate', additionalProperties: false, description: 'The input to make.' },
);
export type InputCreate = Static<typeof InputCreate>;

const InputUpdate = Type.Object(
  { name: optionalNullable(inputName), description: optionalNullable(description('input')) },
  { $id: 'InputUpdate', description: 'What can be changed; other fields are ignored.' },
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
    'Keeps what was uploaded, or the input of a run, under a name. The content is kept as it came; deleting the run, or the age of the upload, does not touch it. Without an id one is made, and without a name the id is the name.',
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
  description: 'Lists the managed inputs of the application, each with a URL to read its content by.',
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
  description: 'Answers the input with a URL to read its content by.',
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
    'Changes name and description; the content of an input never changes. Other fields are ignored, so the whole object can be sent back. The response has no body unless the request has the header `Prefer: return=representation` (RFC 7240).',
  right: 'experiment',
  params: InputParams,
  headers: Type.Object({
    prefer: Type.Optional(
      Type.String({ description: '`return=representation`: respond with 200 and the input as it is now.' }),
    ),
  }),
  body: { schema: InputUpdate, example: { name: 'Monday, before the holidays' } },
  responses: {
    200: {
      description: 'The input as it is now, for `Prefer: return=representation`.',
      schema: Input,
      example,
      headers: { 'Preference-Applied': '`return=representation`.' },
    },
    204: { description: 'It is changed.' },
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
        'Runs made of it, waiting ones too',
        'Stay whole: each holds the content by itself, and goes on naming the input.',
      ],
      ['Input sets that hold it', 'Stay whole, for the same reason.'],
      ['The run or the upload it was made of', 'Stays as it is.'],
      ['Its download URLs', 'Stop working.'],
    ],
    'Nothing new can name it.',
  ),
  right: 'experiment',
  params: InputParams,
  responses: { 204: { description: 'It is gone.' } },
  errors: [404],
});
