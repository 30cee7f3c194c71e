/** A run that is being written: its values, what differs from the original, and which rules it breaks. */
import type { OptionItem } from '@switchyard/contract/applications/executables.ts';
import {
  findOptionValueError,
  formatMissingOption,
  formatOptionValue,
} from '@switchyard/contract/applications/option-rules.ts';
import { type FormatType, isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import type { PresetValue } from '../../ui/options/option-fields.tsx';
import type { NewRunData } from './queries.ts';

/** The source of the input of a new run. */
export type InputSource = 'paste' | 'file' | 'managed' | 'run';

/** The values of the form. An empty text leaves a value to the instance and the app. */
export interface RunDraft {
  name: string;
  description: string;
  priority: string;
  executionClass: string;
  /** In seconds; empty for that of the instance. */
  maxDuration: string;
  secrets: string;
  options: Readonly<Record<string, string>>;
  source: InputSource;
  text: string;
  file: File | null;
  inputId: string;
  runId: string;
}

/** Returns the definitions of the options that the caller may see. */
export function listDefinitions({ executable }: Pick<NewRunData, 'executable'>): readonly OptionItem[] {
  return executable?.requirements.options?.items ?? [];
}

/** Returns the format in which the app reads its input. */
export function findInputFormat({ executable, instance }: NewRunData): FormatType {
  return (
    executable?.requirements.io_configuration?.format ||
    (instance.configuration.format?.input?.type ?? 'json')
  );
}

/** Returns the values with which the form opens: those of the original run, else none. */
export function createDraft(data: NewRunData): RunDraft {
  const { original, instance, inputs } = data;
  const inputId = data.inputId ?? original?.metadata.tracking?.input_id ?? '';
  const usesManaged = inputs.some(({ id }) => id === inputId);
  const { configuration } = instance;
  return {
    name: original?.name ?? '',
    description: original?.description ?? '',
    priority: pickDifferent(original?.queuing_priority, configuration.queuing.priority),
    executionClass: pickDifferent(original?.execution_class, configuration.execution_class),
    maxDuration: pickDifferent(original?.metadata.max_duration, configuration.max_duration ?? ''),
    secrets: pickDifferent(original?.secrets_collection_id, configuration.secrets_collection_id),
    options: original?.metadata.options.request_options ?? {},
    source: usesManaged ? 'managed' : original ? 'run' : isArchive(findInputFormat(data)) ? 'file' : 'paste',
    text: '',
    file: null,
    inputId: usesManaged ? inputId : '',
    runId: original?.id ?? '',
  };
}

/** Returns the value of the original as text, or nothing when the instance gives the same. */
function pickDifferent(value: string | number | undefined, preset: string | number): string {
  return value === undefined || value === preset ? '' : String(value);
}

/** Returns the value of the option that the instance or the app gives; null for none. */
export function findPreset(item: OptionItem, data: NewRunData): PresetValue | null {
  const stored = data.instance.configuration.options[item.name];
  if (stored !== undefined) return { value: stored, source: 'instance' };
  if (item.default === undefined || item.default === null) return null;
  return { value: formatOptionValue(item.default), source: 'default' };
}

/** Returns the options of the draft that have a value. */
export function listSetOptions(draft: RunDraft): Record<string, string> {
  return Object.fromEntries(Object.entries(draft.options).filter(([, value]) => value !== ''));
}

/** Returns the error of each option whose value, or missing value, the server would refuse. */
export function findOptionErrors(draft: RunDraft, data: NewRunData): ReadonlyMap<string, string> {
  const errors = new Map<string, string>();
  if (data.executable?.requirements.options?.validation?.enforce !== 'all') return errors;
  for (const item of listDefinitions(data)) {
    const value = draft.options[item.name] || findPreset(item, data)?.value;
    const error =
      value !== undefined
        ? findOptionValueError(item, value)
        : item.required
          ? formatMissingOption(item)
          : null;
    if (error !== null) errors.set(item.name, error);
  }
  return errors;
}

/** Returns the error of the input, or null. */
export function findInputError(draft: RunDraft, format: FormatType): string | null {
  switch (draft.source) {
    case 'file':
      return draft.file ? null : 'Choose a file.';
    case 'managed':
      return draft.inputId ? null : 'Choose a managed input.';
    case 'run':
      return draft.runId ? null : 'Give the id of the run whose input to use.';
    case 'paste':
      if (isArchive(format)) return `The app reads ${format} archives. Upload a file.`;
      return format === 'text' ? null : findJsonError(draft.text);
  }
}

function findJsonError(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    if (text.trim() === '') return 'The input is empty. Paste a JSON value.';
    return `The input is not valid JSON: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

/** Returns the error that the server reported for an option, by its name; null for any other. */
export function findRefusedOption(reason: string, names: readonly string[]): string | null {
  return names.find((name) => reason.startsWith(`options.${name} `)) ?? null;
}
