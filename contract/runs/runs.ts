/**
 * A run is one execution of an instance on one input. This file declares the operations on runs. Their schemas are in
 * run-schemas.ts, their logs in run-logs.ts, and their statuses in states.ts.
 */
import Type from 'typebox';
import { EXECUTION_CLASS_DEFAULT } from '../execution-classes.ts';
import { REQUEST_BODY_BYTES_MAX, RUN_WAIT_SECONDS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { describeDeletion } from '../schemas/describe-deletion.ts';
import { stringEnum } from '../schemas/field-schemas.ts';
import { type InstanceId, idReferenceSchema, idSchema, type RunId } from '../schemas/ids.ts';
import { PageQuery, runsPage, WindowQuery } from '../schemas/paging.ts';
import { FILTER_LIMITS, ProductionQuery, RunFilterQuery } from './run-filters.ts';
import { RunOutput, RunResult } from './run-output.ts';
import { Run, RunCreate, RunCreated, RunInformation, RunUpdate } from './run-schemas.ts';

export const RunParams = Type.Object({
  ...ApplicationParams.properties,
  run_id: idSchema<RunId>('Id of the run.'),
});

const FormatQuery = Type.Object({
  format: Type.Optional(stringEnum(['json', 'url'], 'url: return a download URL instead of the content.')),
});

const WaitQuery = Type.Object({
  wait_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: RUN_WAIT_SECONDS_MAX,
      description:
        'Wait up to this long for the end of the run. The response then has the run as it is; repeat the request while it has not ended.',
    }),
  ),
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
    'Enqueues a run of the instance on the input, and returns its id once it is durably stored. Without `instance_id`, the default instance of the application runs, or `latest` without a default. Give one of `input`, `upload_id` and `input_id`. With `previous_run_id` the app also gets the output of an earlier run, from which it can start; the run keeps that output, so that a later deletion does not matter. The server does not execute an external run: it stores the `result` of an execution elsewhere, and the status is none until then.',
  right: 'run',
  params: ApplicationParams,
  query: Type.Object({
    instance_id: Type.Optional(
      idReferenceSchema<InstanceId>('The instance to run; `latest` runs the newest executable.'),
    ),
  }),
  body: {
    bytesMax: REQUEST_BODY_BYTES_MAX,
    rawField: 'input',
    schema: RunCreate,
    example: { input: { stops: [], vehicles: [] }, options: { duration: '2' } },
  },
  responses: respond(202, 'The run is stored, and queued unless it is external.', RunCreated, {
    run_id: infoExample.id,
  }),
});

export const listRuns = defineOperation({
  id: 'listRuns',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs',
  tag: 'runs',
  summary: 'List runs',
  description: `Lists the runs of the application in a time window, filtered and sorted. A page has at most 50 runs, even without \`pagereturn\`. With \`format=csv\` the response is a table of all these runs instead, for spreadsheets and pandas. ${FILTER_LIMITS}`,
  right: 'read',
  params: ApplicationParams,
  query: Type.Object({
    ...WindowQuery,
    ...PageQuery,
    ...RunFilterQuery,
    ...ProductionQuery,
    format: Type.Optional(
      stringEnum(
        ['json', 'csv'],
        'csv: all runs as a table, without pages. Its columns are the fields of a run, `option.NAME` and `indicator.NAME`. A text that a spreadsheet would evaluate has an apostrophe before it.',
      ),
    ),
  }),
  responses: {
    200: {
      description: 'The runs, newest first unless sorted.',
      schema: runsPage(Run),
      example: { runs: [infoExample] },
      alternative: {
        contentType: 'text/csv',
        description: 'A header and one line for each run, by RFC 4180.',
        example:
          'id,name,status_v2,option.duration,indicator.result.value\r\nrun-01jd3v7k9mq2z5x8,Monday,succeeded,2,1040.6\r\n',
      },
    },
  },
});

export const getRun = defineOperation({
  id: 'getRun',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}',
  tag: 'runs',
  summary: 'Get a run with its output',
  description:
    'Returns the run and, once it has ended, its output. With `wait_seconds` the response comes when the run ends. Read an archive, or an output above 5 MB, with `format=url`; otherwise the response is 400.',
  right: 'read',
  params: RunParams,
  query: Type.Object({ ...FormatQuery.properties, ...WaitQuery.properties }),
  responses: respond(200, 'The run with its output.', RunResult, {
    ...informationExample,
    output: outputExample,
  }),
});

export const getRunMetadata = defineOperation({
  id: 'getRunMetadata',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/metadata',
  tag: 'runs',
  summary: 'Get the metadata of a run',
  description:
    'Returns the status of the run and all details except its content. Poll this operation, or let it wait for the end of the run with `wait_seconds`.',
  right: 'read',
  params: RunParams,
  query: WaitQuery,
  responses: respond(200, 'The run without its content.', RunInformation, informationExample),
});

export const getRunInput = defineOperation({
  id: 'getRunInput',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/input',
  tag: 'runs',
  summary: 'Get the input of a run',
  description:
    'Returns the input as given: JSON unchanged, text as a JSON string. Use `format=url` for archives, for inputs above 5 MB, and for uploads in JSON format that are not valid JSON.',
  right: 'read',
  params: RunParams,
  query: FormatQuery,
  responses: respond(
    200,
    'The input, or its download URL with `format=url`.',
    Type.Unsafe<unknown>({ description: 'Any JSON value.' }),
    { stops: [], vehicles: [] },
  ),
});

export const getRunOutput = defineOperation({
  id: 'getRunOutput',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/output',
  tag: 'runs',
  summary: 'Get the output of a run',
  description:
    'Returns the output of the run, or the details of its failure. An unfinished run has neither. Read an archive, or an output above 5 MB, with `format=url`, which returns a download URL instead of the content. A run of files that ended without any has `url`, the URL of an empty archive, and no `output`.',
  right: 'read',
  params: RunParams,
  query: FormatQuery,
  responses: respond(200, 'The output or the error of the run.', RunOutput, { output: outputExample }),
});

export const updateRun = defineOperation({
  id: 'updateRun',
  method: 'PUT',
  path: '/v1/applications/{application_id}/runs/{run_id}',
  tag: 'runs',
  summary: 'Update a run',
  description:
    'Changes name and description, and the priority of a queued run. It also sets the `result` of an external run, once. You can send back the whole object. Another value of a field that this request cannot change returns 400.',
  right: 'run',
  refusesCopies: true,
  params: RunParams,
  body: { schema: RunUpdate, example: { name: 'Monday’s plan' } },
  responses: respond(200, 'The updated run.', RunInformation, informationExample),
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
      ['A queued run', 'Never starts.'],
      [
        'A running run',
        'Its app is stopped as by a cancel, its slot becomes free, and its result is discarded.',
      ],
      [
        'An ensemble run',
        'Its child runs are stopped and deleted. You can delete one child run alone: the ensemble continues without it.',
      ],
      ['Its version and instance', 'Stay.'],
      ['Managed inputs and input sets from it', 'Unaffected: each stores the content.'],
      ['The executable', 'Deleted with its last run, if it is not active and no version uses it.'],
      ['Download URLs of its content', 'Stop working.'],
      ['Its events, stored for webhooks', 'Deleted a week after each event.'],
    ],
    'Other runs are unaffected.',
  ),
  right: 'run',
  params: RunParams,
  responses: { 204: { description: 'The run is deleted.' } },
});

export const cancelRun = defineOperation({
  id: 'cancelRun',
  method: 'PATCH',
  path: '/v1/applications/{application_id}/runs/{run_id}/cancel',
  tag: 'runs',
  summary: 'Cancel a run',
  description:
    'Cancels a queued run, or an external run without a result, at once. A running app gets SIGTERM and five seconds to print its output. Then the server kills it with all its processes. Canceling an ensemble run cancels its child runs. A run that has ended stays unchanged.',
  right: 'run',
  params: RunParams,
  body: { schema: Type.Object({}), example: {}, required: false },
  responses: { 204: { description: 'The run is canceled or about to be.' } },
});
