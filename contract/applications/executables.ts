/**
 * An executable is the program of an application: a gzip tar with an `app.yaml` manifest at its root. A push has three
 * steps: get an upload URL, PUT the archive there, and activate it with its requirements.
 */
import Type, { type Static } from 'typebox';
import {
  FILE_TEXT_BYTES_MAX,
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
  ignoredFieldSchema,
  nullable,
  objectSchema,
  optionalNullable,
  stringEnum,
  textSchema,
  timestampSchema,
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

export const OptionItem = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      pattern: NO_NUL_PATTERN,
      description: 'Name of the option. Callers use this name, whatever characters it has.',
    }),
    option_type: optionalNullable(Type.String({ description: 'string, bool, int or float.' })),
    default: Type.Optional(Type.Unknown({ description: 'Value for runs that give none.' })),
    description: optionalNullable(Type.String({ description: 'Description of the option.' })),
    required: optionalNullable(
      Type.Boolean({ description: 'true: a run without a value for it violates the rules.' }),
    ),
    additional_attributes: optionalNullable(
      objectSchema(
        '`min` and `max` bound a number, and `values` lists the allowed values. Other keys are stored only.',
      ),
    ),
    ui: optionalNullable(
      Type.Object(
        {
          control_type: optionalNullable(Type.String({ description: 'input, select, slider or toggle.' })),
          hidden_from: optionalNullable(
            Type.Array(stringEnum(ROLES, 'A role.'), { description: 'Roles to which the option is hidden.' }),
          ),
          display_name: optionalNullable(Type.String({ description: 'Label of the option.' })),
        },
        { description: 'Presentation of the option in a console.' },
      ),
    ),
  },
  { $id: 'OptionItem', description: 'Definition of one option of the app.' },
);
export type OptionItem = Static<typeof OptionItem>;

export const OptionTemplate = Type.Array(
  Type.String({ maxLength: OPTION_TEMPLATE_CHARS_MAX, description: 'One argument.' }),
  {
    maxItems: OPTION_TEMPLATE_PARTS_MAX,
    description: `Arguments of each option, with {{name}} and {{value}}, at most ${OPTION_TEMPLATE_PARTS_MAX}. The default is \`-{{name}} {{value}}\`.`,
  },
);

export const ExecutableOptions = Type.Object(
  {
    strict: optionalNullable(Type.Boolean({ description: 'true: only the listed options are allowed.' })),
    validation: optionalNullable(
      Type.Object(
        {
          enforce: optionalNullable(
            stringEnum(
              ['none', 'all', ''],
              'all: refuse a run that violates the rules of an option. Other values disable the check.',
            ),
          ),
        },
        { description: 'Enforcement of the rules of options.' },
      ),
    ),
    items: optionalNullable(Type.Array(OptionItem, { description: 'The options of the app.' })),
    format: optionalNullable(
      Type.Object(
        { template: optionalNullable(OptionTemplate) },
        { description: 'Mapping of options to arguments of the app.' },
      ),
    ),
  },
  { $id: 'ExecutableOptions', description: 'Options of the app, as its manifest defines them.' },
);
export type ExecutableOptions = Static<typeof ExecutableOptions>;

export const PathInApp = optionalNullable(textSchema('Path in the folder of the app.', { max: 1024 }));

export const IoConfiguration = Type.Object(
  {
    format: optionalNullable(
      stringEnum(['json', 'text', 'csv-archive', 'multi-file', ''], 'Format that the app reads and writes.'),
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
              { description: 'Output paths of a multi-file app.' },
            ),
          ),
        },
        { description: 'Paths of a multi-file app.' },
      ),
    ),
  },
  { $id: 'IoConfiguration', description: 'Input and output of the app.' },
);

export const Requirements = Type.Object(
  {
    executable_type: stringEnum(EXECUTABLE_TYPES, 'Type of the program.'),
    runtime: Type.String({
      minLength: RUNTIME_CHARS_MIN,
      maxLength: RUNTIME_CHARS_MAX,
      pattern: NO_NUL_PATTERN,
      description: 'Name of the runtime. It is stored as given, and every run shows it.',
    }),
    options: optionalNullable(ExecutableOptions),
    io_configuration: optionalNullable(IoConfiguration),
    entrypoint: PathInApp,
    working_directory: PathInApp,
  },
  { $id: 'Requirements', description: 'Requirements of the executable.' },
);
export type Requirements = Static<typeof Requirements>;

export const RuntimeVersion = Type.String({
  description:
    'Version of Node, Python or Java on the host that ran the app, such as 3.11.7, whatever `runtime` requests. Absent before the run has ended, and for compiled programs.',
});

export const Executable = Type.Object(
  {
    id: idSchema<ExecutableId>('Id of the executable.'),
    user_email: Type.String({ description: 'E-mail address of the caller that pushed it.' }),
    uploaded_at: timestampSchema('Upload time'),
    requirements: Requirements,
    warnings: Type.Optional(
      Type.Array(Type.String({ description: 'A sentence.' }), {
        description:
          'Only in the response of the activation: differences between the server and the requirements, such as another version of Python. Absent without differences.',
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
  { $id: 'BinaryUpload', description: 'Upload URL of the archive.' },
);

const Activation = Type.Object(
  {
    requirements: Requirements,
    upload_id: optionalNullable(
      idReferenceSchema<UploadId>('The upload to activate. The default is the one requested last.'),
    ),
    $schema: ignoredFieldSchema(),
  },
  {
    $id: 'Activation',
    additionalProperties: false,
    description: 'The archive to activate, and its requirements.',
  },
);

const ExecutableFile = Type.Object(
  {
    path: Type.String({ description: 'Path in the archive, with `/` between its parts.' }),
    kind: stringEnum(['file', 'link'], 'A file, or a link to another path.'),
    size: Type.Integer({ description: 'Bytes of the content; 0 for a link.' }),
    executable: Type.Boolean({ description: 'true for a file that can be executed.' }),
    sha256: nullable(Type.String({ description: 'SHA-256 of the content in hex.' })),
    target: nullable(Type.String({ description: 'Target of a link.' })),
  },
  { $id: 'ExecutableFile', description: 'A file or link of an executable.' },
);
export type ExecutableFile = Static<typeof ExecutableFile>;

const ExecutableFileText = Type.Object(
  {
    path: Type.String({ description: 'The first path that has this content.' }),
    size: Type.Integer({ description: 'Bytes of the content.' }),
    text: nullable(Type.String({ description: 'The content.' })),
    omitted: Type.Optional(
      stringEnum(
        ['binary', 'large', 'hidden'],
        'Reason of an absent text: it is no UTF-8, it is larger than 1 MiB, or it is a manifest with options that are hidden from your role.',
      ),
    ),
  },
  { $id: 'ExecutableFileText', description: 'The text of a file of an executable.' },
);
export type ExecutableFileText = Static<typeof ExecutableFileText>;

const ExecutableParams = Type.Object({
  ...ApplicationParams.properties,
  executable_id: idSchema<ExecutableId>('Id of the executable.'),
});

const sha256Example = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae';

export const listExecutableFiles = defineOperation({
  id: 'listExecutableFiles',
  method: 'GET',
  path: '/v1/applications/{application_id}/executables/{executable_id}/files',
  tag: 'executables',
  summary: 'List the files of an executable',
  description:
    'Lists the files and links of the archive that was pushed, with their hashes. Compare the lists of two executables to see which files changed. An executable whose archive was deleted returns 404.',
  right: 'write',
  params: ExecutableParams,
  responses: {
    200: {
      description: 'The files, by path.',
      schema: Type.Object(
        { files: Type.Array(ExecutableFile, { description: 'The files and links.' }) },
        { $id: 'ExecutableFileList', description: 'The files of an executable.' },
      ),
      example: {
        files: [
          { path: 'main.mjs', kind: 'file', size: 3, executable: false, sha256: sha256Example, target: null },
        ],
      },
    },
  },
  errors: [404],
});

export const getExecutableFile = defineOperation({
  id: 'getExecutableFile',
  method: 'GET',
  path: '/v1/applications/{application_id}/executables/{executable_id}/files/{sha256}',
  tag: 'executables',
  summary: 'Get the text of a file of an executable',
  description: `Returns the text of the file with this hash. The text of a file is absent if it is binary or larger than ${FILE_TEXT_BYTES_MAX / 1024 ** 2} MiB, or if it is a manifest with options that are hidden from your role.`,
  right: 'write',
  params: Type.Object({
    ...ExecutableParams.properties,
    sha256: Type.String({ description: 'SHA-256 of the file in hex.' }),
  }),
  responses: {
    200: {
      description: 'The file.',
      schema: ExecutableFileText,
      example: { path: 'main.mjs', size: 3, text: 'foo' },
    },
  },
  errors: [404],
});

export const getBinaryUpload = defineOperation({
  id: 'getBinaryUpload',
  method: 'GET',
  path: '/v1/applications/{application_id}/binary',
  tag: 'executables',
  summary: 'Get an upload URL for an executable',
  description:
    'Step one of a push. Returns a signed URL for the archive, valid for 10 minutes. An activation uses the URL requested last by default. The server deletes the upload after 24 hours; an activated executable stays.',
  right: 'write',
  params: ApplicationParams,
  responses: {
    200: { description: 'The upload URL.', schema: BinaryUpload, example: uploadExample },
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
    'Step three of a push. Validates the uploaded archive and makes it the active executable, which the instance `latest` runs at once. An invalid archive is refused as a whole, and the error names the entry. An archive without its entry point or working directory is also invalid, and one whose entry point or Python packages are compiled for another platform. The previous executable stays while a version uses it or one of its runs has not ended. Its archive is deleted an hour later.',
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
