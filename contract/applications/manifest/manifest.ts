/**
 * The schema of `app.yaml`, which push, `dev`, the server and the console share, and its conversion to the requirements of the
 * API. `check-manifest.ts` validates.
 */
import Type, { type Static } from 'typebox';
import { stringEnum } from '../../schemas/field-schemas.ts';
import {
  ExecutableOptions,
  IoConfiguration,
  OptionItem,
  OptionTemplate,
  PathInApp,
  Requirements,
} from '../executables.ts';

import { ApplicationIndicators, ApplicationObjective } from '../indicators.ts';

export const MANIFEST_NAME = 'app.yaml';

const optionalText = (description: string) => Type.Optional(Type.String({ description }));

const PipRequirements = Type.Optional(
  Type.Union([Type.String(), Type.Array(Type.String())], {
    description: 'A file, such as requirements.txt, or a list of requirements.',
  }),
);

const Build = Type.Object(
  {
    command: optionalText('The command line of the build.'),
    environment: Type.Optional(
      Type.Unsafe<Record<string, string | number | boolean>>({
        type: 'object',
        additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
        description: 'Variables of the build.',
      }),
    ),
  },
  { description: 'A build before the push.' },
);

const Python = Type.Object(
  {
    'pip-requirements': PipRequirements,
    pip_requirements: PipRequirements,
    arch: Type.Optional(stringEnum(['arm64', 'amd64'], 'Processor of the packages.')),
    version: Type.Optional(
      Type.Union([
        Type.String({ pattern: '^3\\.\\d+$', description: 'a version such as "3.11".' }),
        Type.Number({ minimum: 3, maximum: 3.99 }),
      ]),
    ),
    model: Type.Optional(Type.Unknown({ description: 'The model of an app that is made from one.' })),
  },
  { description: 'Packages of a Python app.' },
);

const Option = Type.Object({
  ...OptionItem.properties,
  type: optionalText('The same as option_type.'),
  local_only: Type.Optional(
    Type.Boolean({ description: 'The published client writes it; it has no effect.' }),
  ),
});

const Options = Type.Object(
  {
    ...ExecutableOptions.properties,
    items: Type.Optional(Type.Array(Option, { description: 'The options of the app.' })),
    format: Type.Optional(
      Type.Union([OptionTemplate, Type.Object({ template: Type.Optional(OptionTemplate) })]),
    ),
  },
  { description: 'Options of the app.' },
);

const MultiFile = Type.Object(
  {
    input: Type.Optional(Type.Object({ path: PathInApp }, { description: 'Folder of the input.' })),
    output: Type.Optional(
      Type.Object(
        { statistics: PathInApp, metrics: PathInApp, assets: PathInApp, solutions: PathInApp },
        { description: 'Files of statistics, metrics and assets, and the folder of the solutions.' },
      ),
    ),
  },
  { description: 'Paths of a multi-file app.' },
);

const Content = Type.Object(
  { format: IoConfiguration.properties.format, 'multi-file': Type.Optional(MultiFile) },
  { description: 'Input and output of the app.' },
);

/** The manifest of an app that is packed. A valid one has valid requirements. */
export const Manifest = Type.Object(
  {
    type: Requirements.properties.executable_type,
    runtime: Requirements.properties.runtime,
    files: Type.Array(Type.String(), {
      minItems: 1,
      description: 'Patterns, applied in order; one that begins with `!` removes files.',
    }),
    name: optionalText('Name of the app.'),
    description: optionalText('Description of the app.'),
    build: Type.Optional(Build),
    'pre-push': optionalText('A command line before the push.'),
    python: Type.Optional(Python),
    configuration: Type.Optional(
      Type.Object(
        { options: Type.Optional(Options), content: Type.Optional(Content) },
        { description: 'Options and formats of the app.' },
      ),
    ),
    objective: Type.Optional(ApplicationObjective),
    indicators: Type.Optional(ApplicationIndicators),
    execution: Type.Optional(
      Type.Object({ entrypoint: PathInApp, cwd: PathInApp }, { description: 'Start of the program.' }),
    ),
  },
  { title: MANIFEST_NAME, description: 'The manifest of a decision app.' },
);
export type Manifest = Static<typeof Manifest>;

/** The manifest of an archive: its files are packed already. */
export const PackedManifest = Type.Object({
  ...Manifest.properties,
  files: Type.Optional(Manifest.properties.files),
});

/** The manifest of an archive that is activated: the activation names type and runtime. */
export const ActivatedManifest = Type.Partial(Manifest);
export type ActivatedManifest = Static<typeof ActivatedManifest>;

/** Returns the file or list of `python.pip-requirements`; undefined when it is absent or empty. */
export function findPipRequirements({ python }: ActivatedManifest): string | string[] | undefined {
  const requirements = python?.['pip-requirements'] ?? python?.pip_requirements;
  return requirements?.length ? requirements : undefined;
}

/** Returns the requirements of an executable: the requested fields, and those of the manifest for absent ones. */
export function convertManifest(
  { execution, configuration }: ActivatedManifest,
  requested: Requirements,
): Requirements {
  return {
    executable_type: requested.executable_type,
    runtime: requested.runtime,
    options: requested.options ?? convertOptions(configuration?.options),
    io_configuration: requested.io_configuration ?? convertContent(configuration?.content),
    entrypoint: requested.entrypoint || execution?.entrypoint || undefined,
    working_directory: requested.working_directory || execution?.cwd || undefined,
  };
}

/** Converts `configuration.options` of the manifest to `options` of the API. */
function convertOptions(options: Static<typeof Options> | undefined): Requirements['options'] {
  if (!options) return undefined;
  const { strict, validation, items, format } = options;
  const template = Array.isArray(format) ? format : format?.template;
  return {
    strict,
    validation,
    // The API has the name `option_type`.
    items: items?.map(({ type, ...item }) => ({
      ...item,
      option_type: item.option_type ?? type ?? 'string',
    })),
    format: template ? { template } : undefined,
  };
}

/** Converts `configuration.content` of the manifest to `io_configuration` of the API. */
function convertContent(content: Static<typeof Content> | undefined): Requirements['io_configuration'] {
  if (!content) return undefined;
  const { format, 'multi-file': multiFile } = content;
  const output = multiFile?.output;
  return {
    format: format || undefined,
    multi_file: multiFile && {
      input_path: multiFile.input?.path || undefined,
      output_configuration: output && {
        statistics_path: output.statistics || undefined,
        metrics_path: output.metrics || undefined,
        assets_path: output.assets || undefined,
        solutions_path: output.solutions || undefined,
      },
    },
  };
}
