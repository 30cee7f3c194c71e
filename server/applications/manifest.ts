/**
 * Reads `app.yaml`. What the activation call says of the requirements wins; the manifest fills in what it leaves out,
 * because early clients send only type and runtime.
 */
import {
  ExecutableOptions,
  type IoConfiguration,
  type Requirements,
} from '@switchyard/contract/executables.ts';
import { Ajv } from 'ajv';
import { parse } from 'yaml';

type Fields = Record<string, unknown>;

const validateOptions = new Ajv({ strict: false }).compile(
  JSON.parse(JSON.stringify(ExecutableOptions)) as object,
);

/** What a manifest says, or the sentence that says what is wrong with it. */
export function completeRequirements(
  given: Requirements,
  manifestText: string,
): { requirements: Requirements } | { error: string } {
  let manifest: unknown;
  try {
    manifest = parse(manifestText, { maxAliasCount: 100 });
  } catch (error) {
    return {
      error: `app.yaml is not valid YAML: ${error instanceof Error ? error.message.split('\n')[0] : ''}`,
    };
  }
  const root = object(manifest);
  if (!root) return { error: 'app.yaml must be a map of fields.' };
  const execution = object(root.execution);
  const configuration = object(root.configuration);
  const options = given.options ?? optionsOf(configuration);
  if (options && !validateOptions(options)) {
    const error = validateOptions.errors?.[0];
    return {
      error: `configuration.options of app.yaml is not right: ${error?.instancePath ?? ''} ${error?.message ?? ''}.`,
    };
  }
  return {
    requirements: {
      ...given,
      options,
      io_configuration: given.io_configuration ?? contentOf(configuration),
      entrypoint: given.entrypoint || text(execution?.entrypoint),
      working_directory: given.working_directory || text(execution?.cwd),
    },
  };
}

function optionsOf(configuration: Fields | undefined): Requirements['options'] {
  const options = object(configuration?.options);
  if (!options) return undefined;
  const items = Array.isArray(options.items) ? options.items.map(optionItem) : undefined;
  const template = Array.isArray(options.format) ? options.format : object(options.format)?.template;
  return {
    strict: options.strict as boolean | undefined,
    validation: object(options.validation),
    items,
    format: template ? { template: template as string[] } : undefined,
  };
}

/** Manifests say `type` where the API says `option_type`. */
function optionItem(item: unknown): { name: string; option_type: string } {
  const fields = object(item) ?? {};
  const { type, ...rest } = fields;
  return {
    ...rest,
    name: fields.name as string,
    option_type: (fields.option_type ?? type ?? 'string') as string,
  };
}

function contentOf(configuration: Fields | undefined): IoConfiguration | undefined {
  const content = object(configuration?.content);
  if (!content) return undefined;
  const multiFile = object(content['multi-file']);
  const output = object(multiFile?.output);
  return {
    format: text(content.format) as IoConfiguration['format'],
    multi_file: multiFile && {
      input_path: text(object(multiFile.input)?.path),
      output_configuration: output && {
        statistics_path: text(output.statistics),
        metrics_path: text(output.metrics),
        assets_path: text(output.assets),
        solutions_path: text(output.solutions),
      },
    },
  };
}

function object(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
