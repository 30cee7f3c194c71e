/**
 * Schemas of runs: the request, the entry in a list, and the full details. The output is in run-output.ts, the operations in
 * runs.ts, the logs in run-logs.ts, and the statuses in states.ts.
 */
import Type, { type Static } from 'typebox';
import { RuntimeVersion } from '../applications/executables.ts';
import { Requirements } from '../applications/requirements.ts';
import { PRIORITY_MAX, PRIORITY_MIN, RUN_DESCRIPTION_CHARS_MAX, RUN_NAME_CHARS_MAX } from '../limits.ts';
import {
  ExecutionClassName,
  FORMAT_TYPES,
  Format,
  MaxDuration,
  nameTextSchema,
  nullable,
  Options,
  objectSchema,
  optionalNullable,
  Queuing,
  StringOptions,
  stringEnum,
  textSchema,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import {
  type ExperimentId,
  type InputId,
  idReferenceSchema,
  idSchema,
  type RunId,
  type UploadId,
} from '../schemas/ids.ts';
import { RUN_OWNER_TYPES, RUN_STATUSES_V1, RUN_STATUSES_V2 } from '../states.ts';
import { ExternalResult } from './external-runs.ts';
import { RunMetrics, RunStatistics } from './run-reports.ts';
import { LostAttempts, Waiting } from './waiting.ts';

export const RUN_TYPES = ['standard', 'external', 'ensemble'] as const;
export type RunTypeName = (typeof RUN_TYPES)[number];

const RunType = Type.Object(
  {
    type: stringEnum(RUN_TYPES, 'Type of the run.'),
    definition_id: nullable(
      Type.String({ description: 'The ensemble definition of the run; null for none.' }),
    ),
    reference_id: nullable(
      Type.String({
        description:
          'Purpose of the run: the value in the request, the ensemble run of a child run, or the original of a shadow copy. It is null for none.',
      }),
    ),
  },
  { $id: 'RunType', description: 'Type of the run.' },
);

const RunConfiguration = Type.Object(
  {
    execution_class: optionalNullable(ExecutionClassName),
    max_duration: optionalNullable(MaxDuration),
    format: optionalNullable(Format),
    run_type: optionalNullable(
      Type.Object(
        {
          type: optionalNullable(
            stringEnum(
              [...RUN_TYPES, ''],
              'standard: executed by this server. external: executed elsewhere and stored here. ensemble: the best of several runs, by the rules of `definition_id`. The default is external with a `result`, else standard.',
            ),
          ),
          definition_id: optionalNullable(
            textSchema('The ensemble to run; only for the type ensemble.', { max: 64 }),
          ),
          reference_id: optionalNullable(textSchema('Stored and returned as given.', { max: 256 })),
        },
        { description: 'Type of the run.' },
      ),
    ),
    secrets_collection_id: optionalNullable(
      textSchema('Secrets collection for this run, instead of that of the instance.', { max: 64 }),
    ),
    queuing: optionalNullable(Queuing),
    integration_id: optionalNullable(textSchema('Accepted for compatibility and ignored.', { max: 256 })),
  },
  {
    $id: 'RunConfiguration',
    additionalProperties: false,
    description: 'Requirements of this run, which override those of the instance.',
  },
);

export const RunCreate = Type.Object(
  {
    input: Type.Optional(
      Type.Unknown({ description: 'The input: a JSON value of at most 5 MB. A string for text.' }),
    ),
    upload_id: optionalNullable(idReferenceSchema<UploadId>('An upload with the input, instead of `input`.')),
    input_id: optionalNullable(
      idReferenceSchema<InputId>('A managed input of the application, instead of `input`.'),
    ),
    previous_run_id: optionalNullable(
      idReferenceSchema<RunId>(
        'A run of the application with a stored output. The app finds the output at the path in its environment variable `SWITCHYARD_PREVIOUS`: a file, or a folder for an output of files. Not for an external run.',
      ),
    ),
    name: optionalNullable(nameTextSchema('Name of the run.', { max: RUN_NAME_CHARS_MAX })),
    description: optionalNullable(textSchema('Description of the run.', { max: RUN_DESCRIPTION_CHARS_MAX })),
    options: optionalNullable(Options),
    configuration: optionalNullable(RunConfiguration),
    batch_experiment_id: optionalNullable(
      idReferenceSchema<ExperimentId>(
        'An unfinished batch experiment of the application, which the run joins.',
      ),
    ),
    result: optionalNullable(ExternalResult),
    tracking: optionalNullable(
      Type.Object(
        {
          cloned_run_id: optionalNullable(
            textSchema('The run that this one repeats. Stored and returned as given.', { max: 64 }),
          ),
        },
        { description: 'Origin of the run.' },
      ),
    ),
  },
  { $id: 'RunCreate', additionalProperties: false, description: 'The run to create.' },
);
export type RunCreate = Static<typeof RunCreate>;

export const RunCreated = Type.Object(
  { run_id: idSchema<RunId>('Id of the run.') },
  { $id: 'RunCreated', description: 'The created run.' },
);

export const RunUpdate = Type.Object(
  {
    name: optionalNullable(nameTextSchema('Name of the run.', { max: RUN_NAME_CHARS_MAX })),
    description: optionalNullable(textSchema('Description of the run.', { max: RUN_DESCRIPTION_CHARS_MAX })),
    queuing_priority: optionalNullable(
      Type.Integer({
        minimum: PRIORITY_MIN,
        maximum: PRIORITY_MAX,
        description: `Priority in the queue, ${PRIORITY_MIN} first. You can change it while the run is queued.`,
      }),
    ),
    result: optionalNullable(ExternalResult),
  },
  { $id: 'RunUpdate', description: 'The fields to change. Others may have their present values.' },
);

export const OptionSummary = Type.Object(
  {
    name: Type.String({ description: 'Name of the option.' }),
    value: Type.String({ description: 'Value, as passed to the app.' }),
    source: stringEnum(
      ['version', 'instance', 'run'],
      'Source of the value. The run overrides the instance, which overrides the version with the defaults of its manifest.',
    ),
  },
  { $id: 'OptionSummary', description: 'An option, as passed to the app.' },
);
export type OptionSummary = Static<typeof OptionSummary>;

const statusV1 = stringEnum(RUN_STATUSES_V1, 'The older status with three values.');
const statusV2 = stringEnum(RUN_STATUSES_V2, 'The status of the run.');

const info = {
  id: idSchema<RunId>('Id of the run.'),
  user_email: Type.String({ description: 'E-mail address of the caller that created it.' }),
  name: Type.String({ description: 'Name of the run; empty by default.' }),
  description: Type.String({ description: 'Description; empty by default.' }),
  status: statusV1,
  status_v2: statusV2,
  created_at: timestampSchema('Creation time'),
  application_id: Type.String({ description: 'Id of the application.' }),
  application_instance_id: Type.String({ description: 'Id of the instance.' }),
  application_version_id: Type.String({ description: 'Version of the run; empty for `latest`.' }),
  run_type: RunType,
  execution_class: Type.String({ description: 'Execution class of the run.' }),
  runtime: Type.String({
    description: 'Runtime of the executable, as pushed; empty for an external run without one.',
  }),
  queuing_priority: Type.Integer({ description: 'Priority of the run, 1 first.' }),
  queuing_disabled: Type.Boolean({ description: 'true if queuing was disabled for the run.' }),
  statistics: RunStatistics,
  metrics: Type.Optional(RunMetrics),
};

/** Fields of a run that belongs to an experiment. */
const experiment = {
  experiment_id: Type.Optional(Type.String({ description: 'The experiment of the run.' })),
  experiment_type: Type.Optional(stringEnum(RUN_OWNER_TYPES, 'Type of that experiment.')),
  plan_unit_index: Type.Optional(
    Type.Integer({ description: 'Unit of the switchback test in which the run was created, from 0.' }),
  ),
};

/** Fields of a run that the app of another run created, with its run token. */
const workflow = {
  parent_run_id: Type.Optional(Type.String({ description: 'The run whose app created this one.' })),
  parent_application_id: Type.Optional(Type.String({ description: 'The application of that run.' })),
  workflow_name: Type.Optional(
    Type.String({ description: 'The name of that run, or of its application if it has none.' }),
  ),
};

/** When a run of a list was executed. */
const times = {
  initiated_at: Type.Optional(
    timestampSchema('Start time of the app, or of the first child run of an ensemble; absent before'),
  ),
  finished_at: Type.Optional(timestampSchema('End time; absent before')),
  execution_duration: Type.Optional(
    Type.Integer({
      description:
        'Whole milliseconds of execution, once it has ended. For an external run, the value in its result, or 0.',
    }),
  ),
  lost_attempts: Type.Optional(LostAttempts),
};

export const Run = Type.Object(
  {
    ...info,
    ...experiment,
    ...workflow,
    input_id: Type.Optional(
      Type.String({
        description: 'The managed input of the run; in an experiment, the input of its input set.',
      }),
    ),
    options: Type.Optional(StringOptions),
    request_options: Type.Optional(StringOptions),
    options_summary: Type.Optional(
      Type.Array(OptionSummary, { description: 'All options passed to the app, each with its source.' }),
    ),
    ...times,
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
    initiated_at: Type.Optional(timestampSchema('Start time; absent while it is queued')),
    application_id: info.application_id,
    application_name: Type.String({ description: 'Name of the application.' }),
    application_instance_id: info.application_instance_id,
    application_version_id: info.application_version_id,
    execution_class: info.execution_class,
    max_duration: Type.Optional(MaxDuration),
    queuing_priority: info.queuing_priority,
    queuing_disabled: info.queuing_disabled,
    attempt: Type.Integer({
      description:
        'Number of starts. A value above 1, or above 0 while queued, means that an attempt was interrupted.',
    }),
    waiting: Type.Optional(Waiting),
  },
  { $id: 'ActiveRun', description: 'A run that is queued or running.' },
);
export type ActiveRun = Static<typeof ActiveRun>;

export const EffectiveLimits = Type.Object(
  {
    cores: Type.Number({ description: 'Maximum number of cores.' }),
    memory_bytes: Type.Integer({ description: 'Maximum memory in bytes.' }),
    duration_ms: Type.Integer({ description: 'Maximum duration in milliseconds.' }),
  },
  { $id: 'EffectiveLimits', description: 'The limits of the execution class, capped to the host.' },
);

const measures = {
  duration: Type.Integer({
    description:
      'Milliseconds from creation to the end, or until now. For an external run, its execution_duration.',
  }),
  execution_duration: Type.Integer({
    description: 'Whole milliseconds of execution. For an external run, the value in its result, or 0.',
  }),
  input_size: Type.Number({ description: 'Size of the input in bytes.' }),
  output_size: Type.Number({ description: 'Size of the output in bytes.' }),
  error: Type.String({ description: 'Why it failed or was canceled; empty otherwise.' }),
};

const anyFormat = Type.Object(
  { type: stringEnum(FORMAT_TYPES, 'Format of the content.') },
  { description: 'Format of one side.' },
);

const RunMetadata = Type.Object(
  {
    application_id: Type.String({ description: 'Id of the application.' }),
    application_instance_id: Type.String({ description: 'Id of the instance.' }),
    application_version_id: Type.String({ description: 'Version of the run; empty for `latest`.' }),
    created_at: timestampSchema('Creation time'),
    initiated_at: Type.Optional(
      timestampSchema('Start time of the app, or of the first child run of an ensemble; absent before'),
    ),
    finished_at: Type.Optional(timestampSchema('End time; absent before')),
    status: statusV1,
    status_v2: statusV2,
    ...measures,
    execution_class: Type.String({ description: 'Execution class of the run.' }),
    format: Type.Object(
      { input: anyFormat, output: anyFormat },
      { description: 'Formats of input and output.' },
    ),
    queuing_disabled: Type.Boolean({ description: 'true if queuing was disabled for the run.' }),
    queuing_priority: Type.Integer({ description: 'Priority of the run, 1 first.' }),
    run_type: RunType,
    ...experiment,
    ...workflow,
    runtime: Type.String({ description: 'Runtime of the executable, as pushed.' }),
    options: Type.Object(
      {
        active_options: StringOptions,
        options_summary: Type.Array(OptionSummary, {
          description: 'All options passed to the app, each with its source.',
        }),
        request_options: StringOptions,
      },
      { description: 'Options of the run.' },
    ),
    statistics: Type.Optional(objectSchema('The statistics block of the output.')),
    metrics: Type.Optional(
      objectSchema(
        'The metrics block of the output. Omitted when it has more than 1,048,576 characters or more than 64 levels.',
      ),
    ),
    assets_error: Type.Optional(Type.String({ description: 'Why assets of the output were omitted.' })),
    secrets_collection_id: Type.Optional(Type.String({ description: 'Secrets collection of the run.' })),
    previous_run_id: Type.Optional(
      Type.String({ description: 'The run whose output the app starts from, which may be deleted.' }),
    ),
    tracking: Type.Optional(
      Type.Object(
        {
          cloned_run_id: Type.Optional(Type.String({ description: 'The run that this one repeats.' })),
          input_id: Type.Optional(Type.String({ description: 'The managed input of the run.' })),
        },
        { description: 'Origin of the run.' },
      ),
    ),
    attempt: Type.Integer({
      description: 'Number of starts: 0 before the first, above 1 after an interrupted attempt.',
    }),
    lost_attempts: Type.Optional(LostAttempts),
    waiting: Type.Optional(Waiting),
    containment: stringEnum(
      ['', 'sandbox', 'limits'],
      "Containment of the app. Empty before its start, for external runs and for ensemble runs. `limits` on a server without root rights: the app has all rights of the server's user.",
    ),
    max_duration: Type.Optional(MaxDuration),
    limits: Type.Optional(EffectiveLimits),
    runtime_version: Type.Optional(RuntimeVersion),
    api_access: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Applications that the app can reach with its run token. Absent without `api_access`.',
      }),
    ),
    requirements: Type.Optional(Requirements),
    peak_memory_bytes: Type.Optional(
      Type.Integer({
        description:
          'Peak memory of all processes of the app in bytes, from samples. Absent for runs that are too short for a sample.',
      }),
    ),
  },
  { $id: 'RunMetadata', description: 'All details of a run except its content.' },
);

/** The fields of a run with its metadata. */
export const runFields = {
  ...info,
  ...workflow,
  ...measures,
  createdAt: timestampSchema('The same as created_at'),
  secrets_collection_id: Type.String({ description: 'Secrets collection of the run; empty for none.' }),
  metadata: RunMetadata,
};

export const RunInformation = Type.Object(runFields, {
  $id: 'RunInformation',
  description: 'A run without its content.',
});
export type RunInformation = Static<typeof RunInformation>;
