/**
 * An executable is what an application runs: a gzip tar with an `app.yaml` manifest at its root. It is pushed in three
 * steps: ask for an upload URL, PUT the archive there, activate it with its requirements.
 */
import Type, { type Static } from 'typebox';
import {
  OPTION_TEMPLATE_CHARS_MAX,
  OPTION_TEMPLATE_PARTS_MAX,
  REQUEST_BODY_BYTES_MAX,
  RUNTIME_CHARS_MAX,
  RUNTIME_CHARS_MIN,
} from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ROLES } from '../roles.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import {
  anyObject,
  ignoredField,
  optionalNullable,
  stringEnum,
  text,
  timestamp,
} from '../schemas/field-schemas.ts';
import {
  type ExecutableId,
  idReferenceSchema,
  idSchema,
  NO_NUL_PATTERN,
  type UploadId,
} from '../schemas/ids.ts';
import { Upload, uploadExample } from './uploads.ts';

export const EXECUTABLE_TYPES = ['node', 'python', 'go', 'java', 'binary'] as const;
export type ExecutableType = (typeof EXECUTABLE_TYPES)[number];

const OptionItem = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      pattern: NO_NUL_PATTERN,
      description: 'Name of the option. Callers give the option by this name, whatever characters it has.',
    }),
    option_type: optionalNullable(Type.String({ description: 'string, bool, int or float.' })),
    default: Type.Optional(Type.Unknown({ description: 'Value when the caller gives none.' })),
    description: optionalNullable(Type.String({ description: 'What the option does.' })),
    required: optionalNullable(
      Type.Boolean({ description: 'A run that gets no value for it breaks the rules.' }),
    ),
    additional_attributes: optionalNullable(
      anyObject('`min` and `max` bound a number and `values` lists what is allowed; others are only kept.'),
    ),
    ui: optionalNullable(
      Type.Object(
        {
          control_type: optionalNullable(Type.String({ description: 'input, select, slider or toggle.' })),
          hidden_from: optionalNullable(
            Type.Array(stringEnum(ROLES, 'A role.'), { description: 'Roles that do not see the option.' }),
          ),
          display_name: optionalNullable(Type.String({ description: 'Label of the option.' })),
        },
        { description: 'How a console shows the option.' },
      ),
    ),
  },
  { $id: 'OptionItem', description: 'Definition of one option of the app.' },
);
export type OptionItem = Static<typeof OptionItem>;

export const ExecutableOptions = Type.Object(
  {
    strict: optionalNullable(Type.Boolean({ description: 'Only the listed options are allowed.' })),
    validation: optionalNullable(
      Type.Object(
        {
          enforce: optionalNullable(
            stringEnum(
              ['none', 'all', ''],
              'all: a run that breaks the rules of an option is refused. Else they are not looked at.',
            ),
          ),
        },
        { description: 'Whether the rules of options are enforced.' },
      ),
    ),
    items: optionalNullable(Type.Array(OptionItem, { description: 'The options the app has.' })),
    format: optionalNullable(
      Type.Object(
        {
          template: optionalNullable(
            Type.Array(Type.String({ maxLength: OPTION_TEMPLATE_CHARS_MAX, description: 'One argument.' }), {
              maxItems: OPTION_TEMPLATE_PARTS_MAX,
              description: `Arguments per option, at most ${OPTION_TEMPLATE_PARTS_MAX}, with {{name}} and {{value}}; \`-{{name}} {{value}}\` when absent.`,
            }),
          ),
        },
        { description: 'How options reach the app.' },
      ),
    ),
  },
  { $id: 'ExecutableOptions', description: 'Options of the app, as its manifest defines them.' },
);
export type ExecutableOptions = Static<typeof ExecutableOptions>;

const PathInApp = optionalNullable(text('Path inside the app’s folder.', { max: 1024 }));

export const IoConfiguration = Type.Object(
  {
    format: optionalNullable(
      stringEnum(['json', 'text', 'csv-archive', 'multi-file', ''], 'Format the app reads and writes.'),
    ),
    multi_file: optionalNullable(
      Type.Object(
        {
          input_path: PathInApp,
          output_configuration: optionalNullable(
            Type.Object(
              {
                statistics_path: PathInApp,
                metrics_path: PathInApp,
                assets_path: PathInApp,
                solutions_path: PathInApp,
              },
              { description: 'Where a multi-file app leaves what it made.' },
            ),
          ),
        },
        { description: 'Paths of a multi-file app.' },
      ),
    ),
  },
  { $id: 'IoConfiguration', description: 'How content goes in and out.' },
);
export type IoConfiguration = Static<typeof IoConfiguration>;

export const Requirements = Type.Object(
  {
    executable_type: stringEnum(EXECUTABLE_TYPES, 'What starts the app.'),
    runtime: Type.String({
      minLength: RUNTIME_CHARS_MIN,
      maxLength: RUNTIME_CHARS_MAX,
      pattern: NO_NUL_PATTERN,
      description: 'Name of the runtime, kept as given and shown on every run.',
    }),
    options: optionalNullable(ExecutableOptions),
    io_configuration: optionalNullable(IoConfiguration),
    entrypoint: PathInApp,
    working_directory: PathInApp,
  },
  { $id: 'Requirements', description: 'What the executable needs to run.' },
);
export type Requirements = Static<typeof Requirements>;

export const RuntimeVersion = Type.String({
  description:
    'Version of the Node, Python or Java of the host that ran the app, such as 3.11.7, whatever `runtime` asks for; absent before the run has ended, and for compiled programs.',
});

export const Executable = Type.Object(
  {
    id: idSchema<ExecutableId>('Id of the executable.'),
    user_email: Type.String({ description: 'Who pushed it.' }),
    uploaded_at: timestamp('When it was pushed'),
    requirements: Requirements,
    warnings: Type.Optional(
      Type.Array(Type.String({ description: 'A sentence.' }), {
        description:
          'In the response of the activation: how this server differs from what the executable asks for, such as another version of Python. Absent when it does not.',
      }),
    ),
  },
  { $id: 'Executable', description: 'An executable.' },
);
export type Executable = Static<typeof Executable>;

export const executableExample = {
  id: 'exe-01jd3v7k9m',
  user_email: 'planner@example.com',
  uploaded_at: '2026-11-20T08:00:00.000Z',
  requirements: { executable_type: 'node', runtime: 'node:26' },
};

const BinaryUpload = Type.Object(
  { ...Upload.properties },
  { $id: 'BinaryUpload', description: 'Where to PUT the archive.' },
);

const Activation = Type.Object(
  {
    requirements: Requirements,
    upload_id: optionalNullable(
      idReferenceSchema<UploadId>('The upload to activate; the one asked for last when absent.'),
    ),
    $schema: ignoredField(),
  },
  {
    $id: 'Activation',
    additionalProperties: false,
    description: 'Which archive to activate, and what it needs.',
  },
);

export const getBinaryUpload = defineOperation({
  id: 'getBinaryUpload',
  method: 'GET',
  path: '/v1/applications/{application_id}/binary',
  tag: 'executables',
  summary: 'Get an upload URL for an executable',
  description:
    'Step one of a push: answers a signed URL, good for 10 minutes, to PUT the archive to. The URL asked for last is the one an activation uses. The upload is forgotten after 24 hours; what an activation took from it stays.',
  right: 'write',
  params: ApplicationParams,
  responses: {
    200: { description: 'Where to PUT the archive.', schema: BinaryUpload, example: uploadExample },
  },
  errors: [404],
});

export const activateBinary = defineOperation({
  id: 'activateBinary',
  method: 'PUT',
  path: '/v1/applications/{application_id}/binary',
  tag: 'executables',
  summary: 'Activate a pushed executable',
  description:
    'Step three of a push: checks the uploaded archive and makes it the active executable, which the instance `latest` runs at once. A bad archive is refused whole, with the entry named; so is one whose entry point or Python packages are compiled for a host that is not the one of the server. The executable that was active before is kept while a version has it or a run of it has not ended; an hour after that its archive is removed.',
  right: 'write',
  params: ApplicationParams,
  body: {
    bytesMax: REQUEST_BODY_BYTES_MAX,
    schema: Activation,
    example: { requirements: { executable_type: 'node', runtime: 'node:26' } },
  },
  responses: {
    200: { description: 'The active executable.', schema: Executable, example: executableExample },
  },
  errors: [404],
});
