/**
 * A run is one execution of an instance on one input. This file is what can be done with runs: how they are made, listed,
 * read, changed and canceled. Their shapes are in run-schemas.ts, their logs in run-logs.ts, their states in states.ts.
 */

import Type from 'typebox';
import { EXECUTION_CLASS_DEFAULT } from '../execution-classes.ts';
import { REQUEST_BODY_BYTES_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import { stringEnum } from '../schemas/field-schemas.ts';
import { type InstanceId, idReferenceSchema, idSchema, type RunId } from '../schemas/ids.ts';
import { PageQuery, runsPage, WindowQuery } from '../schemas/paging.ts';
import {
  Run,
  RunCreate,
  RunCreated,
  RunInformation,
  RunOutput,
  RunResult,
  RunUpdate,
} from './run-schemas.ts';

export const RunParams = Type.Object({
  ...ApplicationParams.properties,
  run_id: idSchema<RunId>('Id of the run.'),
});

const FormatQuery = Type.Object({
  format: Type.Optional(stringEnum(['json', 'url'], 'url: answer a download URL in place of the content.')),
});

const infoExample = {
  id: 'run-01jd3v7k9mq2z5x8',
  user_email: 'planner@example.com',
  name: '',
  description: '',
  status: 'succeeded',
  status_v2: 'succeeded',
  created_at: '2026-11-20T08:00:00.000Z',
  application_id: 'routing',
  application_instance_id: 'latest',
  application_version_id: '',
  run_type: { type: 'standard', definition_id: null, reference_id: null },
  execution_class: EXECUTION_CLASS_DEFAULT,
  runtime: 'node:26',
  queuing_priority: 6,
  queuing_disabled: false,
  statistics: { status: 'success', error: '', indicators: [{ name: 'result.value', value: 1040.6 }] },
};
const measuresExample = {
  duration: 2210,
  execution_duration: 2105,
  input_size: 4821,
  output_size: 9120,
  error: '',
};
const informationExample = {
  ...infoExample,
  ...measuresExample,
  createdAt: infoExample.created_at,
  secrets_collection_id: '',
  metadata: {
    application_id: 'routing',
    application_instance_id: 'latest',
    application_version_id: '',
    created_at: infoExample.created_at,
    initiated_at: '2026-11-20T08:00:00.104Z',
    finished_at: '2026-11-20T08:00:02.209Z',
    status: 'succeeded',
    status_v2: 'succeeded',
    ...measuresExample,
    execution_class: EXECUTION_CLASS_DEFAULT,
    format: { input: { type: 'json' }, output: { type: 'json' } },
    queuing_disabled: false,
    queuing_priority: 6,
    run_type: infoExample.run_type,
    runtime: 'node:26',
    options: {
      active_options: { duration: '2' },
      options_summary: [{ name: 'duration', value: '2', source: 'run' }],
      request_options: { duration: '2' },
    },
    attempt: 1,
    containment: 'sandbox',
    limits: { cores: 2, memory_bytes: 9_500_000_000, duration_ms: 870_000 },
  },
};
const outputExample = { solution: { vehicles: [] }, statistics: { schema: 'v1', result: { value: 1040.6 } } };

export const createRun = defineOperation({
  id: 'createRun',
  method: 'POST',
  path: '/v1/applications/{application_id}/runs',
  tag: 'runs',
  summary: 'Create a run',
  description:
    'Queues a run of the instance on the input and answers its id once it is durably kept. Without `instance_id` the default instance of the application runs, or `latest` when it has none. The input is one of `input`, `upload_id` and `input_id`. A run of the type external is not executed: it keeps the `result` of a run that was executed somewhere else, and its status is none until it has one.',
  right: 'run',
  params: ApplicationParams,
  query: Type.Object({
    instance_id: Type.Optional(
      idReferenceSchema<InstanceId>('The instance to run; `latest` runs the executable pushed last.'),
    ),
  }),
  body: {
    bytesMax: REQUEST_BODY_BYTES_MAX,
    schema: RunCreate,
    example: { input: { stops: [], vehicles: [] }, options: { duration: '2' } },
  },
  responses: {
    202: {
      description: 'The run is kept, and queued unless it is external.',
      schema: RunCreated,
      example: { run_id: infoExample.id },
    },
  },
  errors: [404],
});

export const listRuns = defineOperation({
  id: 'listRuns',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs',
  tag: 'runs',
  summary: 'List runs',
  description:
    'Lists the runs of the application made in a window of time, in pages: at most 50 at once, whether or not a page is asked for.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object({ ...WindowQuery, ...PageQuery }),
  responses: {
    200: { description: 'The runs, newest first.', schema: runsPage(Run), example: { runs: [infoExample] } },
  },
  errors: [404],
});

export const getRun = defineOperation({
  id: 'getRun',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}',
  tag: 'runs',
  summary: 'Get a run with its output',
  description:
    'Answers the run and, once it has ended, its output. An output above 5 MB and an archive are read with `format=url`; without it the answer is 400.',
  right: 'read',
  params: RunParams,
  query: FormatQuery,
  responses: {
    200: {
      description: 'The run with its output.',
      schema: RunResult,
      example: { ...informationExample, output: outputExample },
    },
  },
  errors: [404],
});

export const getRunMetadata = defineOperation({
  id: 'getRunMetadata',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/metadata',
  tag: 'runs',
  summary: 'Get the metadata of a run',
  description: 'Answers the status of the run and everything about it but its content. Poll this one.',
  right: 'read',
  params: RunParams,
  responses: {
    200: { description: 'The run without its content.', schema: RunInformation, example: informationExample },
  },
  errors: [404],
});

export const getRunInput = defineOperation({
  id: 'getRunInput',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/input',
  tag: 'runs',
  summary: 'Get the input of a run',
  description:
    'Answers the input as it was given: JSON as it is, text as a JSON string. Inputs above 5 MB, archives, and uploads that are no JSON though the format says so are read with `format=url`.',
  right: 'read',
  params: RunParams,
  query: FormatQuery,
  responses: {
    200: {
      description: 'The input, or with `format=url` where to get it.',
      schema: Type.Unsafe<unknown>({ description: 'Any JSON value.' }),
      example: { stops: [], vehicles: [] },
    },
  },
  errors: [404],
});

export const getRunOutput = defineOperation({
  id: 'getRunOutput',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/output',
  tag: 'runs',
  summary: 'Get the output of a run',
  description:
    'Answers what the run left: its output, or what is known of its failure. A run that has not ended has neither. An output above 5 MB and an archive are read with `format=url`, which answers a download URL in place of the content.',
  right: 'read',
  params: RunParams,
  query: FormatQuery,
  responses: {
    200: { description: 'What the run left.', schema: RunOutput, example: { output: outputExample } },
  },
  errors: [404],
});

export const updateRun = defineOperation({
  id: 'updateRun',
  method: 'PUT',
  path: '/v1/applications/{application_id}/runs/{run_id}',
  tag: 'runs',
  summary: 'Update a run',
  description:
    'Changes name and description, the priority of a run that is queued, and gives an external run without a result its `result`, once. Other fields are ignored, so the whole object can be sent back.',
  right: 'run',
  params: RunParams,
  body: { schema: RunUpdate, example: { name: 'Monday’s plan' } },
  responses: {
    200: { description: 'The run as it is now.', schema: RunInformation, example: informationExample },
  },
  errors: [404],
});

export const deleteRun = defineOperation({
  id: 'deleteRun',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/runs/{run_id}',
  tag: 'runs',
  summary: 'Delete a run',
  description: describeDeletion(
    'Deletes the run with its input, output, assets and logs.',
    [
      ['One that is queued', 'Is never started.'],
      [
        'One that is running',
        'Its app is stopped as by a cancel, its slot is free again, and its result is not kept.',
      ],
      [
        'One of the type `ensemble`',
        'The runs it consists of go with it, stopped where they run. One of them alone can be deleted: the ensemble goes on without it.',
      ],
      ['The version and the instance it was made on', 'Stay.'],
      ['Managed inputs and input sets made of it', 'Stay: each holds the content by itself.'],
      ['The executable', 'Removed with the last run of it, once it is not active and no version has it.'],
      ['Download URLs of its content', 'Stop working.'],
      ['What happened to it and when, kept for webhooks', 'Forgotten a week after it happened.'],
    ],
    'Other runs are not touched.',
  ),
  right: 'run',
  params: RunParams,
  responses: { 204: { description: 'It is gone.' } },
  errors: [404],
});

export const cancelRun = defineOperation({
  id: 'cancelRun',
  method: 'PATCH',
  path: '/v1/applications/{application_id}/runs/{run_id}/cancel',
  tag: 'runs',
  summary: 'Cancel a run',
  description:
    'A queued run is canceled at once, and so is an external one without a result. A running app gets SIGTERM and five seconds to print what it has before it is killed with everything it started. Canceling a run of the type `ensemble` cancels the runs it consists of. A run that has ended stays as it is.',
  right: 'run',
  params: RunParams,
  body: { schema: Type.Object({}), example: {}, required: false },
  responses: { 204: { description: 'The run is canceled or about to be.' } },
  errors: [404],
});
