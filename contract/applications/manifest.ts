/** Converts an `app.yaml` to the requirements of the API. Early clients send only type and runtime, and leave the rest to it. */
import type { Requirements } from './executables.ts';

type Fields = Record<string, unknown>;

/**
 * Returns the requirements of an executable, not validated yet: the requested fields, and those of the manifest for absent
 * ones. Returns null for a manifest that is no map.
 */
export function convertManifest(
  manifest: unknown,
  requested: Pick<Requirements, 'executable_type' | 'runtime'> & Partial<Requirements>,
): Fields | null {
  const root = toFields(manifest);
  if (!root) return null;
  const execution = toFields(root.execution);
  const configuration = toFields(root.configuration);
  return {
    executable_type: requested.executable_type,
    runtime: requested.runtime,
    options: requested.options ?? convertOptions(configuration),
    io_configuration: requested.io_configuration ?? convertContent(configuration),
    entrypoint: requested.entrypoint || toText(execution?.entrypoint),
    working_directory: requested.working_directory || toText(execution?.cwd),
  };
}

/** Converts `configuration.options` of the manifest to `options` of the API, not validated yet. */
function convertOptions(configuration: Fields | undefined): Fields | undefined {
  const options = toFields(configuration?.options);
  if (!options) return undefined;
  const items = Array.isArray(options.items) ? options.items.map(convertOptionItem) : undefined;
  const template = Array.isArray(options.format) ? options.format : toFields(options.format)?.template;
  return {
    strict: options.strict,
    validation: toFields(options.validation),
    items,
    format: template ? { template } : undefined,
  };
}

/** Renames `type` of the manifest to `option_type` of the API. */
function convertOptionItem(item: unknown): Fields {
  const { type, ...fields } = toFields(item) ?? {};
  return { ...fields, name: fields.name, option_type: fields.option_type ?? type ?? 'string' };
}

/** Converts `configuration.content` of the manifest to `io_configuration` of the API, not validated yet. */
function convertContent(configuration: Fields | undefined): Fields | undefined {
  const content = toFields(configuration?.content);
  if (!content) return undefined;
  const multiFile = toFields(content['multi-file']);
  const output = toFields(multiFile?.output);
  return {
    format: toText(content.format),
    multi_file: multiFile && {
      input_path: toText(toFields(multiFile.input)?.path),
      output_configuration: output && {
        statistics_path: toText(output.statistics),
        metrics_path: toText(output.metrics),
        assets_path: toText(output.assets),
        solutions_path: toText(output.solutions),
      },
    },
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value when it is a map of fields. */
export function toFields(value: unknown): Fields | undefined {
  return isFields(value) ? value : undefined;
}

/** Returns the value when it is text that is not empty. */
export function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
