/**
 * What an executable requires. What the activation call says of the requirements wins; the manifest fills in what it leaves out,
 * because early clients send only type and runtime.
 */
import { type IoConfiguration, Requirements } from '@switchyard/contract/applications/executables.ts';
import { MANIFEST_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { compileSchema } from '../http/requests/validation.ts';
import { formatValidationError } from '../http/requests/validation-messages.ts';

type Fields = Record<string, unknown>;

const validate = compileSchema(Requirements);
/** Deeper than any definition of an option goes; what is read back and shown must not be too deep to be written. */
const LEVELS_MAX = 64;

/** What was given, completed by the manifest, or the sentence that says what is wrong with it. */
export function completeRequirements(
  given: Requirements,
  manifest: unknown,
): { requirements: Requirements } | { error: string } {
  const root = object(manifest);
  if (!root) return { error: 'app.yaml must be a map of fields.' };
  const execution = object(root.execution);
  const configuration = object(root.configuration);
  const requirements = {
    executable_type: given.executable_type,
    runtime: given.runtime,
    options: given.options ?? optionsOf(configuration),
    io_configuration: given.io_configuration ?? contentOf(configuration),
    entrypoint: given.entrypoint || text(execution?.entrypoint),
    working_directory: given.working_directory || text(execution?.cwd),
  };
  if (isDeeper(requirements, LEVELS_MAX))
    return { error: `The requirements are nested deeper than ${LEVELS_MAX} levels.` };
  const written = JSON.stringify(requirements);
  if (Buffer.byteLength(written) > MANIFEST_BYTES_MAX)
    return { error: `The requirements are longer than ${MANIFEST_BYTES_MAX} bytes.` };
  // As it will be read back: what is left out is not the same as undefined.
  const read = JSON.parse(written) as Requirements;
  if (!validate(read))
    return {
      error: `configuration of app.yaml is not right: ${formatValidationError(validate.errors ?? [], 'body')}`,
    };
  return { requirements: read };
}

/** Whether anything lies below the given number of levels. A loop, because that is what it guards against. */
function isDeeper(value: unknown, levels: number): boolean {
  let layer: unknown[] = [value];
  for (let level = 0; layer.length > 0; level += 1) {
    if (level > levels) return true;
    layer = layer.flatMap((one) =>
      typeof one === 'object' && one !== null
        ? Object.values(one).filter((inner) => typeof inner === 'object')
        : [],
    );
  }
  return false;
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
