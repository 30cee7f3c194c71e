/**
 * An input set is the data of an experiment: inputs under one name. They come from named runs, from the runs
 * of an instance in a time window, or from managed inputs. The set stores its own copy of each input, so later changes
 * to the run or the managed input do not affect it.
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
import { conditionFields } from '../schemas/conditional-writes.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import {
  descriptionSchema,
  nameOrIdSchema,
  optionalNullable,
  timestampSchema,
} from '../schemas/field-schemas.ts';
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
    id: Type.String({ description: 'Id of the source run or managed input.' }),
    name: Type.String({ description: 'Name of the source at that time.' }),
    description: Type.String({ description: 'Description of the source at that time.' }),
    run_id: Type.Optional(
      idSchema<RunId>('The source run, which may be deleted; absent for a managed input.'),
    ),
    format: InputFormat,
    download_url: Type.Optional(
      Type.String({
        description: 'URL of the content. GET it without a token, within 10 minutes. Lists omit it.',
      }),
    ),
  },
  { $id: 'InputSetInput', description: 'An input of an input set.' },
);
export type InputSetInput = Static<typeof InputSetInput>;

export const InputSet = Type.Object(
  {
    id: idSchema<InputSetId>('Id of the input set.'),
    app_id: idSchema<ApplicationId>('Id of the application.'),
    name: Type.String({ description: 'Name of the input set.' }),
    description: Type.String({ description: 'Description; empty by default.' }),
    instance_id: Type.Optional(
      idSchema<InstanceId>('The instance whose runs in a time window are the source; absent otherwise.'),
    ),
    input_ids: Type.Array(Type.String(), { description: 'The ids of `inputs`, in the same order.' }),
    inputs: Type.Array(InputSetInput, {
      description: 'The inputs in the order given; runs of an instance are newest first.',
    }),
    created_at: timestampSchema('Creation time'),
    updated_at: timestampSchema('Time of the last change'),
  },
  { $id: 'InputSet', description: 'An input set.' },
);
export type InputSet = Static<typeof InputSet>;

const setName = nameOrIdSchema('input set', { min: INPUT_SET_NAME_CHARS_MIN, max: INPUT_SET_NAME_CHARS_MAX });
const setDescription = descriptionSchema('input set', INPUT_SET_DESCRIPTION_CHARS_MAX);
const someInputs = { minItems: 1, maxItems: INPUT_SET_INPUTS_MAX };

export const InputSetCreate = Type.Object(
  {
    id: optionalNullable(newIdSchema<InputSetId>('input set')),
    name: setName,
    description: optionalNullable(setDescription),
    run_ids: optionalNullable(
      Type.Array(idReferenceSchema<RunId>('A run of the application, with any status.'), {
        ...someInputs,
        description: `The runs whose inputs to use, 1 to ${INPUT_SET_INPUTS_MAX}, without duplicates.`,
      }),
    ),
    instance_id: optionalNullable(
      idReferenceSchema<InstanceId>(
        'The instance whose succeeded runs to use, newest first. `default` is the default instance of the application.',
      ),
    ),
    start_time: optionalNullable(
      timestampSchema(
        'With `instance_id`: only runs created at or after this time; the default is 24 hours ago',
      ),
    ),
    end_time: optionalNullable(
      timestampSchema('With `instance_id`: only runs created before this time; the default is now'),
    ),
    maximum_runs: optionalNullable(
      Type.Integer({
        minimum: 1,
        maximum: INPUT_SET_RUNS_MAX,
        description: `With \`instance_id\`: maximum number of runs; the default is ${INPUT_SET_RUNS_MAX}. It also limits \`run_ids\`, and \`inputs\` given alone.`,
      }),
    ),
    inputs: optionalNullable(
      Type.Array(
        Type.Object(
          { id: idReferenceSchema<InputId>('A managed input of the application.') },
          { description: 'A managed input. Fields other than its id are ignored.' },
        ),
        {
          ...someInputs,
          description: `The managed inputs to use, 1 to ${INPUT_SET_INPUTS_MAX}, without duplicates.`,
        },
      ),
    ),
  },
  {
    $id: 'InputSetCreate',
    additionalProperties: false,
    description:
      'The input set to create. Give `run_ids`, or `instance_id`, or `inputs`, or `inputs` beside one of the others.',
  },
);
export type InputSetCreate = Static<typeof InputSetCreate>;

export const InputSetUpdate = Type.Object(
  {
    name: optionalNullable(setName),
    description: optionalNullable(setDescription),
    ...conditionFields,
    inputs: optionalNullable(
      Type.Array(
        Type.Object(
          {
            id: idReferenceSchema<InputId>(
              'An input of the set, which stays unchanged, or a managed input to add.',
            ),
          },
          { description: 'An input. Fields other than its id are ignored.' },
        ),
        {
          ...someInputs,
          description: `All inputs of the set, 1 to ${INPUT_SET_INPUTS_MAX}, without duplicates. The set drops every other input.`,
        },
      ),
    ),
  },
  { $id: 'InputSetUpdate', description: 'The fields to change. Others may have their present values.' },
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
  description: `Creates a set from the inputs of named runs, from the succeeded runs of an instance in a time window, or from managed inputs. Managed inputs can be added to either kind of runs, up to ${INPUT_SET_INPUTS_MAX} inputs in all. A time window excludes the runs that experiments and ensembles create. A time window without a succeeded run returns 400. The set stores a copy of each input, so deleting the run or the managed input does not affect it.`,
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
  description: 'Lists the input sets of the application, with their inputs.',
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
  description: 'Returns the input set, with a download URL for each input.',
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
    'Changes name and description, and with `inputs` the content. An input that is already in the set stays as stored, even if its source was changed or deleted. The set copies new inputs from the managed inputs. You can send back the whole object. Another value of a field that this request cannot change returns 400. Experiments on the set keep the inputs with which they were created.',
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
  responses: { 200: { description: 'The updated input set.', schema: InputSet, example } },
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
        'Experiments on the set, including unfinished ones',
        'Unaffected: each stores its own inputs, and keeps the id of the set.',
      ],
      ['The source runs and managed inputs', 'Unaffected.'],
      ['Download URLs of its inputs', 'Stop working.'],
    ],
    'New resources cannot refer to it, and you can reuse the id.',
  ),
  right: 'experiment',
  params: InputSetParams,
  responses: { 204: { description: 'The input set is deleted.' } },
  errors: [404],
});
