/**
 * What a run looks like from outside: how it is asked for, how lists show it, and everything about it once it is read. Its
 * operations are in runs.ts, its logs in run-logs.ts, its states in states.ts.
 */
import Type, { type Static } from 'typebox';
import { RuntimeVersion } from '../applications/executables.ts';
import { PRIORITY_MAX, PRIORITY_MIN, RUN_DESCRIPTION_CHARS_MAX, RUN_NAME_CHARS_MAX } from '../limits.ts';
import {
  anyObject,
  ExecutionClassName,
  FORMAT_TYPES,
  Format,
  nullable,
  Options,
  optionalNullable,
  Queuing,
  StringOptions,
  stringEnum,
  text,
  timestamp,
} from '../schemas/field-schemas.ts';
import {
  type ExperimentId,
  type InputId,
  idReferenceSchema,
  idSchema,
  type RunId,
  type UploadId,
} from '../schemas/ids.ts';
import { EXPERIMENT_TYPES, RUN_STATUSES_V1, RUN_STATUSES_V2 } from '../states.ts';
import { ExternalResult } from './external-runs.ts';
import { RunMetrics, RunStatistics } from './run-reports.ts';
import { Waiting } from './waiting.ts';

/** Kinds of run. */
const RUN_TYPES = ['standard', 'external', 'ensemble'] as const;
export type RunTypeName = (typeof RUN_TYPES)[number];

const RunType = Type.Object(
  {
    type: stringEnum(RUN_TYPES, 'Kind of run.'),
    definition_id: nullable(Type.String({ description: 'The ensemble definition it ran; null for none.' })),
    reference_id: nullable(
      Type.String({
        description:
          'What it was made for: as the request gave it, the run of an ensemble that it is a part of, or the run that it is the shadow of; null for nothing.',
      }),
    ),
  },
  { $id: 'RunType', description: 'Kind of the run.' },
);

const RunConfiguration = Type.Object(
  {
    execution_class: optionalNullable(ExecutionClassName),
    format: optionalNullable(Format),
    run_type: optionalNullable(
      Type.Object(
        {
          type: optionalNullable(
            stringEnum(
              [...RUN_TYPES, ''],
              'standard: executed here; external: executed somewhere else and kept here; ensemble: the best of several runs, made as `definition_id` says. When nothing is said: external with a `result`, else standard.',
            ),
          ),
          definition_id: optionalNullable(
            text('The ensemble definition to run; only for the type ensemble.', { max: 64 }),
          ),
          reference_id: optionalNullable(text('Kept and shown as given.', { max: 256 })),
        },
        { description: 'Kind of the run.' },
      ),
    ),
    secrets_collection_id: optionalNullable(
      text('Secrets that this run is given, in place of those of the instance.', { max: 64 }),
    ),
    queuing: optionalNullable(Queuing),
    integration_id: optionalNullable(text('Accepted for existing clients and ignored.', { max: 256 })),
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
    upload_id: optionalNullable(
      idReferenceSchema<UploadId>('An upload that holds the input, instead of `input`.'),
    ),
    input_id: optionalNullable(
      idReferenceSchema<InputId>('A managed input of the application, instead of `input`.'),
    ),
    name: optionalNullable(text('Name of the run.', { max: RUN_NAME_CHARS_MAX })),
    description: optionalNullable(text('Description of the run.', { max: RUN_DESCRIPTION_CHARS_MAX })),
    options: optionalNullable(Options),
    configuration: optionalNullable(RunConfiguration),
    batch_experiment_id: optionalNullable(
      idReferenceSchema<ExperimentId>(
        'A batch experiment of the application that has not ended: the run joins it.',
      ),
    ),
    result: optionalNullable(ExternalResult),
    tracking: optionalNullable(
      Type.Object(
        {
          cloned_run_id: optionalNullable(
            text('The run that this one repeats; kept and shown as given.', { max: 64 }),
          ),
        },
        { description: 'Where the run comes from.' },
      ),
    ),
  },
  { $id: 'RunCreate', additionalProperties: false, description: 'What to run.' },
);
export type RunCreate = Static<typeof RunCreate>;

export const RunCreated = Type.Object(
  { run_id: idSchema<RunId>('Id of the run.') },
  { $id: 'RunCreated', description: 'The run is kept.' },
);

export const RunUpdate = Type.Object(
  {
    name: optionalNullable(text('Name of the run.', { max: RUN_NAME_CHARS_MAX })),
    description: optionalNullable(text('Description of the run.', { max: RUN_DESCRIPTION_CHARS_MAX })),
    queuing_priority: optionalNullable(
      Type.Integer({
        minimum: PRIORITY_MIN,
        maximum: PRIORITY_MAX,
        description: `Priority in the queue, ${PRIORITY_MIN} first; it can be changed while the run is queued.`,
      }),
    ),
    result: optionalNullable(ExternalResult),
  },
  { $id: 'RunUpdate', description: 'What can be changed; other fields are ignored.' },
);

const OptionSummary = Type.Object(
  {
    name: Type.String({ description: 'Name of the option.' }),
    value: Type.String({ description: 'Its value as the app got it.' }),
    source: stringEnum(
      ['version', 'instance', 'run'],
      'Where the value comes from: the run wins over the instance over the version, whose manifest has defaults.',
    ),
  },
  { $id: 'OptionSummary', description: 'An option as the app got it.' },
);
export type OptionSummary = Static<typeof OptionSummary>;

const statusV1 = stringEnum(RUN_STATUSES_V1, 'The older status with three values.');
const statusV2 = stringEnum(RUN_STATUSES_V2, 'The status of the run.');

const info = {
  id: idSchema<RunId>('Id of the run.'),
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
  runtime: Type.String({
    description: 'Runtime of the executable, as it was pushed; empty for an external run without one.',
  }),
  queuing_priority: Type.Integer({ description: 'Its priority, 1 first.' }),
  queuing_disabled: Type.Boolean({ description: 'Whether it refused to wait.' }),
  statistics: RunStatistics,
  metrics: Type.Optional(RunMetrics),
};

/** Of a run that belongs to an experiment. */
const experiment = {
  experiment_id: Type.Optional(Type.String({ description: 'The experiment it belongs to.' })),
  experiment_type: Type.Optional(stringEnum(EXPERIMENT_TYPES, 'Kind of that experiment.')),
  plan_unit_index: Type.Optional(
    Type.Integer({ description: 'The unit of a switchback test in which it was made, from 0.' }),
  ),
};

export const Run = Type.Object(
  {
    ...info,
    ...experiment,
    input_id: Type.Optional(
      Type.String({
        description: 'The managed input it ran on; in an experiment the input of its input set.',
      }),
    ),
    options: Type.Optional(StringOptions),
    request_options: Type.Optional(StringOptions),
    options_summary: Type.Optional(
      Type.Array(OptionSummary, { description: 'Every option the app got, with its source.' }),
    ),
  },
  { $id: 'Run', description: 'A run in a list.' },
);
export type Run = Static<typeof Run>;

export const ActiveRun = Type.Object(
  {
    id: info.id,
    user_email: info.user_email,
    name: info.name,
    description: info.description,
    status: info.status,
    status_v2: stringEnum(['queued', 'running'], 'The status of the run.'),
    created_at: info.created_at,
    initiated_at: Type.Optional(timestamp('When it was started; absent while it is queued')),
    application_id: info.application_id,
    application_instance_id: info.application_instance_id,
    application_version_id: info.application_version_id,
    execution_class: info.execution_class,
    queuing_priority: info.queuing_priority,
    queuing_disabled: info.queuing_disabled,
    attempt: Type.Integer({
      description: 'How often it was started; above 1, or above 0 while queued, after it was cut short.',
    }),
    waiting: Type.Optional(Waiting),
  },
  { $id: 'ActiveRun', description: 'A run that is queued or running.' },
);
export type ActiveRun = Static<typeof ActiveRun>;

const EffectiveLimits = Type.Object(
  {
    cores: Type.Number({ description: 'Cores the run may use.' }),
    memory_bytes: Type.Integer({ description: 'Memory the run may use.' }),
    duration_ms: Type.Integer({ description: 'Time the run may take.' }),
  },
  { $id: 'EffectiveLimits', description: 'The limits of the execution class, capped to the host.' },
);

const measures = {
  duration: Type.Integer({
    description:
      'Milliseconds from when it was made until it ended, or until now; of an external run its execution_duration.',
  }),
  execution_duration: Type.Integer({
    description: 'Whole milliseconds the app ran; of an external run as its result says, 0 without one.',
  }),
  input_size: Type.Number({ description: 'Bytes of the input.' }),
  output_size: Type.Number({ description: 'Bytes of the output.' }),
  error: Type.String({ description: 'Why it failed or was canceled, else empty.' }),
};

const anyFormat = Type.Object(
  { type: stringEnum(FORMAT_TYPES, 'Format of the content.') },
  { description: 'Format of one side.' },
);

const RunMetadata = Type.Object(
  {
    application_id: Type.String({ description: 'Its application.' }),
    application_instance_id: Type.String({ description: 'The instance it was made on.' }),
    application_version_id: Type.String({ description: 'The version it ran; empty for `latest`.' }),
    created_at: timestamp('When it was made'),
    initiated_at: Type.Optional(timestamp('When the app started; absent while it is queued')),
    finished_at: Type.Optional(timestamp('When it ended; absent before')),
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
    ...experiment,
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
    metrics: Type.Optional(
      anyObject(
        'The metrics block of the output; left out when it has more than 1,048,576 characters or more than 64 levels.',
      ),
    ),
    assets_error: Type.Optional(Type.String({ description: 'Why assets of the output were left out.' })),
    secrets_collection_id: Type.Optional(Type.String({ description: 'Secrets it was given.' })),
    tracking: Type.Optional(
      Type.Object(
        {
          cloned_run_id: Type.Optional(Type.String({ description: 'The run that this one repeats.' })),
          input_id: Type.Optional(Type.String({ description: 'The managed input it ran on.' })),
        },
        { description: 'Where the run comes from.' },
      ),
    ),
    attempt: Type.Integer({
      description: 'How often it was started: 0 before the first time, above 1 after it was cut short.',
    }),
    waiting: Type.Optional(Waiting),
    containment: stringEnum(
      ['', 'sandbox', 'limits'],
      'How the app was contained; empty before it started, for external runs and for those of ensembles. `limits` on a server that is not root: with all rights of its user.',
    ),
    limits: Type.Optional(EffectiveLimits),
    runtime_version: Type.Optional(RuntimeVersion),
    peak_memory_bytes: Type.Optional(
      Type.Integer({
        description:
          'Most memory all processes of the app held together, as samples found it; absent when it ran too shortly for one.',
      }),
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
    error: Type.String({ description: 'Why it failed or was canceled.' }),
    stdout: Type.String({
      description: 'What the app printed to stdout, when that is not the output; the last 64 KiB.',
    }),
    stderr: Type.String({ description: 'The end of the log, at most 64 KiB.' }),
  },
  { $id: 'ErrorLog', description: 'What a failed or canceled run left.' },
);

const outputFields = {
  output: Type.Optional(nullable(anyObject('The output; with `format=url` an object with a `url`.'))),
  error_log: Type.Optional(ErrorLog),
};

export const RunResult = Type.Object(
  { ...flat, ...outputFields },
  { $id: 'RunResult', description: 'A run with its output.' },
);
export const RunOutput = Type.Object(
  {
    ...outputFields,
    url: Type.Optional(
      Type.String({ description: 'With `format=url`: GET it without a token, within 10 minutes.' }),
    ),
  },
  { $id: 'RunOutput', description: 'What a run left.' },
);
