/**
 * A run is one execution of an instance on one input. This file is what a run looks like from outside: how it is made,
 * how it is listed, read, changed and canceled. Its logs are in run-logs.ts, its states in states.ts.
 */
import Type, { type Static } from 'typebox';
import { ApplicationParams } from './application-params.ts';
import { EXECUTION_CLASS_DEFAULT } from './execution-classes.ts';
import { type RunId, someId, type UploadId } from './ids.ts';
import { RUN_DESCRIPTION_CHARS_MAX, RUN_NAME_CHARS_MAX } from './limits.ts';
import { operation } from './operation.ts';
import { PageQuery, runsPage, WindowQuery } from './paging.ts';
import {
  anyObject,
  ExecutionClassName,
  FORMAT_TYPES,
  Format,
  maybe,
  nullable,
  Options,
  oneOf,
  Queuing,
  StringOptions,
  text,
  timestamp,
} from './shapes.ts';
import { RUN_STATUSES_V1, RUN_STATUSES_V2 } from './states.ts';

/** Kinds of run this server makes. */
export const RUN_TYPES = ['standard'] as const;
export type RunTypeName = (typeof RUN_TYPES)[number];

const RunType = Type.Object(
  {
    type: Type.String({ description: 'Kind of run: standard.' }),
    definition_id: nullable(Type.String({ description: 'The ensemble definition it ran; null for none.' })),
    reference_id: nullable(Type.String({ description: 'What it was made for; null for nothing.' })),
  },
  { $id: 'RunType', description: 'Kind of the run.' },
);

const RunConfiguration = Type.Object(
  {
    execution_class: maybe(ExecutionClassName),
    format: maybe(Format),
    run_type: maybe(
      Type.Object(
        {
          type: maybe(oneOf([...RUN_TYPES, ''], 'Kind of run; standard when nothing is said.')),
          definition_id: maybe(text('Only for kinds of run that have a definition.', { max: 64 })),
          reference_id: maybe(text('Kept and shown as given.', { max: 256 })),
        },
        { description: 'Kind of the run.' },
      ),
    ),
    queuing: maybe(Queuing),
    integration_id: maybe(text('Accepted for existing clients and ignored.', { max: 256 })),
  },
  {
    $id: 'RunConfiguration',
    additionalProperties: false,
    description: 'What this run needs, in place of what the instance says.',
  },
);

export const RunCreate = Type.Object(
  {
    input: Type.Optional(
      Type.Unknown({ description: 'The input itself: a JSON value of at most 5 MB. A string for text.' }),
    ),
    upload_id: maybe(someId<UploadId>('An upload that holds the input, instead of `input`.')),
    name: maybe(text('Name of the run.', { max: RUN_NAME_CHARS_MAX })),
    description: maybe(text('Description of the run.', { max: RUN_DESCRIPTION_CHARS_MAX })),
    options: maybe(Options),
    configuration: maybe(RunConfiguration),
  },
  { $id: 'RunCreate', additionalProperties: false, description: 'What to run.' },
);
export type RunCreate = Static<typeof RunCreate>;

export const RunCreated = Type.Object(
  { run_id: someId<RunId>('Id of the run.') },
  { $id: 'RunCreated', description: 'The run is queued.' },
);

export const RunUpdate = Type.Object(
  {
    name: maybe(text('Name of the run.', { max: RUN_NAME_CHARS_MAX })),
    description: maybe(text('Description of the run.', { max: RUN_DESCRIPTION_CHARS_MAX })),
  },
  { $id: 'RunUpdate', description: 'What can be changed; other fields are ignored.' },
);

const Indicator = Type.Object(
  {
    name: Type.String({ description: 'Dotted path inside the statistics, such as `result.value`.' }),
    value: Type.Unsafe<number | string | boolean>({
      anyOf: [{ type: 'number' }, { type: 'string' }, { type: 'boolean' }],
      description: 'Its value.',
    }),
  },
  { $id: 'Indicator', description: 'One number, text or flag the run reported.' },
);
export type Indicator = Static<typeof Indicator>;

export const STATISTICS_STATUSES = ['none', 'success', 'error'] as const;

export const RunStatistics = Type.Object(
  {
    status: oneOf(STATISTICS_STATUSES, 'none: the output has no statistics; error: they do not conform.'),
    error: Type.String({ description: 'Why they do not conform, else empty.' }),
    indicators: Type.Array(Indicator, { description: 'What the run reported.' }),
  },
  { $id: 'RunStatistics', description: 'Indicators of the run.' },
);
export type RunStatistics = Static<typeof RunStatistics>;

const OptionSummary = Type.Object(
  {
    name: Type.String({ description: 'Name of the option.' }),
    value: Type.String({ description: 'Its value as the app got it.' }),
    source: oneOf(
      ['version', 'instance', 'run'],
      'Where the value comes from: the run wins over the instance over the version.',
    ),
  },
  { $id: 'OptionSummary', description: 'An option as the app got it.' },
);
export type OptionSummary = Static<typeof OptionSummary>;

const statusV1 = oneOf(RUN_STATUSES_V1, 'The older status with three values.');
const statusV2 = oneOf(RUN_STATUSES_V2, 'The status of the run.');

const info = {
  id: someId<RunId>('Id of the run.'),
  user_email: Type.String({ description: 'Who made it.' }),
  name: Type.String({ description: 'Name of the run, empty when none was given.' }),
  description: Type.String({ description: 'Description, empty when none was given.' }),
  status: statusV1,
  status_v2: statusV2,
  created_at: timestamp('When it was made'),
  application_id: Type.String({ description: 'Its application.' }),
  application_instance_id: Type.String({ description: 'The instance it was made on.' }),
  application_version_id: Type.String({ description: 'The version it ran; empty for `latest`.' }),
  run_type: RunType,
  execution_class: Type.String({ description: 'Its execution class.' }),
  runtime: Type.String({ description: 'Runtime of the executable, as it was pushed.' }),
  queuing_priority: Type.Integer({ description: 'Its priority, 1 first.' }),
  queuing_disabled: Type.Boolean({ description: 'Whether it refused to wait.' }),
  statistics: RunStatistics,
};

export const Run = Type.Object(
  {
    ...info,
    options: Type.Optional(StringOptions),
    request_options: Type.Optional(StringOptions),
    options_summary: Type.Optional(
      Type.Array(OptionSummary, { description: 'Every option the app got, with its source.' }),
    ),
  },
  { $id: 'Run', description: 'A run in a list.' },
);
export type Run = Static<typeof Run>;

const EffectiveLimits = Type.Object(
  {
    cores: Type.Number({ description: 'Cores the run may use.' }),
    memory_bytes: Type.Integer({ description: 'Memory the run may use.' }),
    duration_ms: Type.Integer({ description: 'Time the run may take.' }),
  },
  { $id: 'EffectiveLimits', description: 'The limits of the execution class, capped to the host.' },
);

const measures = {
  duration: Type.Number({ description: 'Milliseconds from when it was made until it ended, or until now.' }),
  execution_duration: Type.Number({ description: 'Milliseconds the app ran.' }),
  input_size: Type.Number({ description: 'Bytes of the input.' }),
  output_size: Type.Number({ description: 'Bytes of the output.' }),
  error: Type.String({ description: 'Why it failed, else empty.' }),
};

const anyFormat = Type.Object(
  { type: oneOf(FORMAT_TYPES, 'Format of the content.') },
  { description: 'Format of one side.' },
);

export const RunMetadata = Type.Object(
  {
    application_id: Type.String({ description: 'Its application.' }),
    application_instance_id: Type.String({ description: 'The instance it was made on.' }),
    application_version_id: Type.String({ description: 'The version it ran; empty for `latest`.' }),
    created_at: timestamp('When it was made'),
    initiated_at: Type.Optional(timestamp('When the app started')),
    finished_at: Type.Optional(timestamp('When it ended')),
    status: statusV1,
    status_v2: statusV2,
    ...measures,
    execution_class: Type.String({ description: 'Its execution class.' }),
    format: Type.Object(
      { input: anyFormat, output: anyFormat },
      { description: 'Formats of input and output.' },
    ),
    queuing_disabled: Type.Boolean({ description: 'Whether it refused to wait.' }),
    queuing_priority: Type.Integer({ description: 'Its priority, 1 first.' }),
    run_type: RunType,
    runtime: Type.String({ description: 'Runtime of the executable, as it was pushed.' }),
    options: Type.Object(
      {
        active_options: StringOptions,
        options_summary: Type.Array(OptionSummary, {
          description: 'Every option the app got, with its source.',
        }),
        request_options: StringOptions,
      },
      { description: 'Options of the run.' },
    ),
    statistics: Type.Optional(anyObject('The statistics block of the output.')),
    metrics: Type.Optional(anyObject('The metrics block of the output.')),
    secrets_collection_id: Type.Optional(Type.String({ description: 'Secrets it was given.' })),
    attempt: Type.Integer({ description: 'How often it was started; above 1 after a worker died.' }),
    containment: oneOf(['', 'sandbox', 'limits'], 'How the app was contained; empty before it started.'),
    limits: Type.Optional(EffectiveLimits),
    peak_memory_bytes: Type.Optional(
      Type.Integer({ description: 'Most memory the app held, where the host can tell.' }),
    ),
  },
  { $id: 'RunMetadata', description: 'Everything about a run but its content.' },
);

const flat = {
  ...info,
  ...measures,
  createdAt: timestamp('The same as created_at'),
  secrets_collection_id: Type.String({ description: 'Secrets it was given; empty for none.' }),
  metadata: RunMetadata,
};

export const RunInformation = Type.Object(flat, {
  $id: 'RunInformation',
  description: 'A run without its content.',
});
export type RunInformation = Static<typeof RunInformation>;

const ErrorLog = Type.Object(
  {
    error: Type.String({ description: 'Why it failed, else empty.' }),
    stdout: Type.String({
      description: 'What the app printed to stdout, when that is not the output; the last 64 KiB.',
    }),
    stderr: Type.String({ description: 'The end of what the app printed to stderr, at most 64 KiB.' }),
  },
  { $id: 'ErrorLog', description: 'What a failed run left.' },
);

const outputFields = {
  output: Type.Optional(nullable(anyObject('The output; with `format=url` an object with a `url`.'))),
  error_log: Type.Optional(ErrorLog),
};

export const RunResult = Type.Object(
  { ...flat, ...outputFields },
  { $id: 'RunResult', description: 'A run with its output.' },
);
export const RunOutput = Type.Object(outputFields, { $id: 'RunOutput', description: 'What a run left.' });

const Download = Type.Object({
  url: Type.String({ description: 'GET it without a token, within 10 minutes.' }),
});

export const RunParams = Type.Object({
  ...ApplicationParams.properties,
  run_id: someId<RunId>('Id of the run.'),
});

const FormatQuery = Type.Object({
  format: Type.Optional(oneOf(['json', 'url'], 'url: answer a download URL in place of the content.')),
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

export const createRun = operation({
  id: 'createRun',
  method: 'POST',
  path: '/v1/applications/{application_id}/runs',
  tag: 'runs',
  summary: 'Create a run',
  description:
    'Queues a run of the instance on the input and answers its id once it is durably kept. Without `instance_id` the default instance of the application runs, or `latest` when it has none.',
  right: 'run',
  params: ApplicationParams,
  query: Type.Object({
    instance_id: Type.Optional(
      Type.String({ description: 'The instance to run; `latest` runs the executable pushed last.' }),
    ),
  }),
  body: { schema: RunCreate, example: { input: { stops: [], vehicles: [] }, options: { duration: '2' } } },
  answers: {
    202: { description: 'The run is queued.', schema: RunCreated, example: { run_id: infoExample.id } },
  },
  errors: [404],
});

export const listRuns = operation({
  id: 'listRuns',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs',
  tag: 'runs',
  summary: 'List runs',
  description: 'Lists the runs of the application made in a window of time.',
  right: 'read',
  params: ApplicationParams,
  query: Type.Object({ ...WindowQuery, ...PageQuery }),
  answers: {
    200: { description: 'The runs, newest first.', schema: runsPage(Run), example: { runs: [infoExample] } },
  },
  errors: [404],
});

export const getRun = operation({
  id: 'getRun',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}',
  tag: 'runs',
  summary: 'Get a run with its output',
  description:
    'Answers the run and, once it has ended, its output. An output above 5 MB is read with `format=url`; without it the answer is 400.',
  right: 'read',
  params: RunParams,
  query: FormatQuery,
  answers: {
    200: {
      description: 'The run with its output.',
      schema: RunResult,
      example: { ...informationExample, output: outputExample },
    },
  },
  errors: [404],
});

export const getRunMetadata = operation({
  id: 'getRunMetadata',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/metadata',
  tag: 'runs',
  summary: 'Get the metadata of a run',
  description: 'Answers the status of the run and everything about it but its content. Poll this one.',
  right: 'read',
  params: RunParams,
  answers: {
    200: { description: 'The run without its content.', schema: RunInformation, example: informationExample },
  },
  errors: [404],
});

export const getRunInput = operation({
  id: 'getRunInput',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/input',
  tag: 'runs',
  summary: 'Get the input of a run',
  description:
    'Answers the input as it was given: JSON as it is, text as a JSON string. Inputs above 5 MB and archives are read with `format=url`.',
  right: 'read',
  params: RunParams,
  query: FormatQuery,
  answers: {
    200: {
      description: 'The input, or with `format=url` where to get it.',
      schema: Type.Unsafe<unknown>({ description: 'Any JSON value.' }),
      example: { stops: [], vehicles: [] },
    },
  },
  errors: [404],
});

export const getRunOutput = operation({
  id: 'getRunOutput',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/output',
  tag: 'runs',
  summary: 'Get the output of a run',
  description:
    'Answers what the run left: its output, or what is known of its failure. A run that has not ended has neither.',
  right: 'read',
  params: RunParams,
  query: FormatQuery,
  answers: {
    200: { description: 'What the run left.', schema: RunOutput, example: { output: outputExample } },
  },
  errors: [404],
});

export const updateRun = operation({
  id: 'updateRun',
  method: 'PUT',
  path: '/v1/applications/{application_id}/runs/{run_id}',
  tag: 'runs',
  summary: 'Update a run',
  description:
    'Changes name and description. Other fields are ignored, so the whole object can be sent back.',
  right: 'run',
  params: RunParams,
  body: { schema: RunUpdate, example: { name: 'Monday’s plan' } },
  answers: {
    200: { description: 'The run as it is now.', schema: RunInformation, example: informationExample },
  },
  errors: [404],
});

export const deleteRun = operation({
  id: 'deleteRun',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/runs/{run_id}',
  tag: 'runs',
  summary: 'Delete a run',
  description:
    'Deletes the run with its input, output and logs. One that is queued or running is canceled first.',
  right: 'run',
  params: RunParams,
  answers: { 204: { description: 'It is gone.' } },
  errors: [404],
});

export const cancelRun = operation({
  id: 'cancelRun',
  method: 'PATCH',
  path: '/v1/applications/{application_id}/runs/{run_id}/cancel',
  tag: 'runs',
  summary: 'Cancel a run',
  description:
    'A queued run is canceled at once. A running app gets SIGTERM and five seconds to print what it has before it is killed with everything it started. A run that has ended stays as it is.',
  right: 'run',
  params: RunParams,
  body: { schema: Type.Object({}), example: {}, required: false },
  answers: { 204: { description: 'The run is canceled or about to be.' } },
  errors: [404],
});

/** A download URL, as `format=url` answers it. */
export type Download = Static<typeof Download>;
