/**
 * An input set is what an experiment runs on: up to 20 inputs under one name. They are taken from runs that are named, from
 * the runs of an instance in a window of time, or from managed inputs, and each is held by the set itself: what becomes of
 * the run or the managed input later does not touch it.
 */

import Type, { type Static } from 'typebox';
import {
  INPUT_SET_DESCRIPTION_CHARS_MAX,
  INPUT_SET_INPUTS_MAX,
  INPUT_SET_NAME_CHARS_MAX,
  INPUT_SET_NAME_CHARS_MIN,
  INPUT_SET_RUNS_MAX,
  LARGE_BODY_BYTES_MAX,
} from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import { description, nameOrId, optionalNullable, timestamp } from '../schemas/field-schemas.ts';
import {
  type ApplicationId,
  type InputId,
  type InputSetId,
  type InstanceId,
  idReferenceSchema,
  idSchema,
  newIdSchema,
  type RunId,
} from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';
import { InputFormat } from './inputs.ts';

const InputSetInput = Type.Object(
  {
    id: Type.String({ description: 'Id of the run or of the managed input it was taken from.' }),
    name: Type.String({ description: 'Name that the run or managed input had then.' }),
    description: Type.String({ description: 'Description that it had then.' }),
    run_id: Type.Optional(
      idSchema<RunId>('The run it was taken from; absent for a managed input. It may be deleted by now.'),
    ),
    format: InputFormat,
    download_url: Type.Optional(
      Type.String({
        description: 'GET the content there without a token, within 10 minutes. Lists leave it out.',
      }),
    ),
  },
  { $id: 'InputSetInput', description: 'An input as the set holds it.' },
);
export type InputSetInput = Static<typeof InputSetInput>;

export const InputSet = Type.Object(
  {
    id: idSchema<InputSetId>('Id of the input set.'),
    app_id: idSchema<ApplicationId>('Its application.'),
    name: Type.String({ description: 'Name of the input set.' }),
    description: Type.String({ description: 'Description, empty when none was given.' }),
    instance_id: Type.Optional(
      idSchema<InstanceId>('The instance whose runs of a time it was made of; absent otherwise.'),
    ),
    input_ids: Type.Array(Type.String(), { description: 'The ids of `inputs`, in their order.' }),
    inputs: Type.Array(InputSetInput, {
      description: 'What is in it, in the order given; runs of an instance newest first.',
    }),
    created_at: timestamp('When it was made'),
    updated_at: timestamp('When it was last changed'),
  },
  { $id: 'InputSet', description: 'An input set.' },
);
export type InputSet = Static<typeof InputSet>;

const setName = nameOrId('input set', { min: INPUT_SET_NAME_CHARS_MIN, max: INPUT_SET_NAME_CHARS_MAX });
const setDescription = description('input set', INPUT_SET_DESCRIPTION_CHARS_MAX);
const someInputs = { minItems: 1, maxItems: INPUT_SET_INPUTS_MAX };

export const InputSetCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<InputSetId>('input set')),
    name: setName,
    description: optionalNullable(setDescription),
    run_ids: optionalNullable(
      Type.Array(idReferenceSchema<RunId>('A run of the application, whatever came of it.'), {
        ...someInputs,
        description: `The runs whose inputs to take, 1 to ${INPUT_SET_INPUTS_MAX}, each once.`,
      }),
    ),
    instance_id: optionalNullable(
      idReferenceSchema<InstanceId>(
        'The instance whose runs to take: those that succeeded, newest first. `default` is the default instance of the application.',
      ),
    ),
    start_time: optionalNullable(
      timestamp('With `instance_id`: only runs created at or after this time; 24 hours ago when absent'),
    ),
    end_time: optionalNullable(
      timestamp('With `instance_id`: only runs created before this time; now when absent'),
    ),
    maximum_runs: optionalNullable(
      Type.Integer({
        minimum: 1,
        maximum: INPUT_SET_RUNS_MAX,
        description: `With \`instance_id\`: how many runs to take at most; the default is ${INPUT_SET_RUNS_MAX}. When it is given, what is named one by one may not be more.`,
      }),
    ),
    inputs: optionalNullable(
      Type.Array(
        Type.Object(
          { id: idReferenceSchema<InputId>('A managed input of the application.') },
          { description: 'A managed input. Other fields than its id are ignored.' },
        ),
        {
          ...someInputs,
          description: `The managed inputs to take, 1 to ${INPUT_SET_INPUTS_MAX}, each once.`,
        },
      ),
    ),
  },
  {
    $id: 'InputSetCreate',
    additionalProperties: false,
    description: 'The input set to make; one of `run_ids`, `instance_id` and `inputs` says of what.',
  },
);
export type InputSetCreate = Static<typeof InputSetCreate>;

export const InputSetUpdate = Type.Object(
  {
    name: optionalNullable(setName),
    description: optionalNullable(setDescription),
    inputs: optionalNullable(
      Type.Array(
        Type.Object(
          {
            id: idReferenceSchema<InputId>(
              'An input of the set, which stays as it is, or a managed input to take.',
            ),
          },
          { description: 'An input. Other fields than its id are ignored.' },
        ),
        {
          ...someInputs,
          description: `All that is to be in the set, 1 to ${INPUT_SET_INPUTS_MAX}, each once. What is not named leaves it.`,
        },
      ),
    ),
  },
  { $id: 'InputSetUpdate', description: 'What can be changed; other fields are ignored.' },
);
export type InputSetUpdate = Static<typeof InputSetUpdate>;

const InputSetParams = Type.Object({
  ...ApplicationParams.properties,
  input_set_id: idSchema<InputSetId>('Id of the input set.'),
});

const listed = {
  id: 'peak-days',
  app_id: 'routing',
  name: 'Days at their peak',
  description: 'More stops than on any other day of the year.',
  input_ids: ['monday-peak', 'tuesday-peak'],
  inputs: [
    {
      id: 'monday-peak',
      name: 'Monday at its peak',
      description: '',
      format: { input: { type: 'json' } },
    },
    {
      id: 'tuesday-peak',
      name: 'Tuesday at its peak',
      description: '',
      format: { input: { type: 'json' } },
    },
  ],
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
};
const example = {
  ...listed,
  inputs: listed.inputs.map((one, index) => ({
    ...one,
    download_url: `http://127.0.0.1:8080/v1/downloads/c-01jd3v7k9m${index}?signature=…`,
  })),
};

export const createInputSet = defineOperation({
  id: 'createInputSet',
  method: 'POST',
  path: '/v1/applications/{application_id}/experiments/inputsets',
  tag: 'input-sets',
  summary: 'Create an input set',
  description:
    'Takes inputs of runs that are named, of the succeeded runs of an instance in a window of time, or managed inputs, and keeps them under one name. Runs that an experiment or an ensemble made for itself are not taken from a window of time. A window in which no run succeeded is a 400. Each input is kept as it is now: deleting the run or the managed input does not touch the set.',
  right: 'experiment',
  params: ApplicationParams,
  body: {
    bytesMax: LARGE_BODY_BYTES_MAX,
    schema: InputSetCreate,
    example: {
      id: 'peak-days',
      name: 'Days at their peak',
      description: 'More stops than on any other day of the year.',
      inputs: [{ id: 'monday-peak' }, { id: 'tuesday-peak' }],
    },
  },
  responses: { 201: { description: 'The input set.', schema: InputSet, example } },
  errors: [404],
});

export const listInputSets = defineOperation({
  id: 'listInputSets',
  method: 'GET',
  path: '/v1/applications/{application_id}/experiments/inputsets',
  tag: 'input-sets',
  summary: 'List input sets',
  description: 'Lists the input sets of the application, each with what is in it.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object(PageQuery),
  responses: {
    200: { description: 'The input sets, newest first.', schema: pageOrArray(InputSet), example: [listed] },
  },
  errors: [404],
});

export const getInputSet = defineOperation({
  id: 'getInputSet',
  method: 'GET',
  path: '/v1/applications/{application_id}/experiments/inputsets/{input_set_id}',
  tag: 'input-sets',
  summary: 'Get an input set',
  description: 'Answers the input set, with a URL to read each of its inputs by.',
  right: 'read',
  params: InputSetParams,
  responses: { 200: { description: 'The input set.', schema: InputSet, example } },
  errors: [404],
});

export const updateInputSet = defineOperation({
  id: 'updateInputSet',
  method: 'PUT',
  path: '/v1/applications/{application_id}/experiments/inputsets/{input_set_id}',
  tag: 'input-sets',
  summary: 'Update an input set',
  description:
    'Changes name and description, and with `inputs` what is in the set: what it has already stays as it is held, also where the run or managed input is deleted or changed by now; what else is named is taken from the managed inputs. Other fields are ignored, so the whole object can be sent back and changes nothing. Experiments that were made of the set keep what they were made of.',
  right: 'experiment',
  params: InputSetParams,
  body: {
    bytesMax: LARGE_BODY_BYTES_MAX,
    schema: InputSetUpdate,
    example: {
      name: 'Days at their peak, and one before',
      inputs: [{ id: 'monday-peak' }, { id: 'tuesday-peak' }, { id: 'sunday' }],
    },
  },
  responses: { 200: { description: 'The input set as it is now.', schema: InputSet, example } },
  errors: [404],
});

export const deleteInputSet = defineOperation({
  id: 'deleteInputSet',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/experiments/inputsets/{input_set_id}',
  tag: 'input-sets',
  summary: 'Delete an input set',
  description: describeDeletion(
    'Deletes the input set.',
    [
      [
        'Experiments made of it, also those that have not ended',
        'Stay whole: each holds what it runs on by itself, and goes on naming the set.',
      ],
      ['The runs and managed inputs it was made of', 'Stay as they are.'],
      ['Download URLs of its inputs', 'Stop working.'],
    ],
    'Nothing new can name it, and the id can be taken again.',
  ),
  right: 'experiment',
  params: InputSetParams,
  responses: { 204: { description: 'It is gone.' } },
  errors: [404],
});
