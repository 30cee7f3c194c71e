/**
 * Resolves the options of a run: those of the run override those of the instance, which override the defaults of the
 * version. Values are always text. The rules in the manifest of the app decide which values are valid.
 */
import { OPTIONS_CHARS_MAX } from '../limits.ts';
import { formatNameList } from '../name-list.ts';
import type { ExecutableOptions } from './executables.ts';
import { findOptionValueError, formatMissingOption, formatOptionValue } from './option-rules.ts';

/** An option with its value as text, and where the value is from. */
export interface ResolvedOption {
  name: string;
  value: string;
  source: 'version' | 'instance' | 'run';
}

export interface OptionSources {
  definitions: ExecutableOptions | null | undefined;
  instance: Record<string, string>;
  run: Record<string, string>;
}

/** Lists every option that the app gets, with the source of its value: the defined options first, then the others. */
export function summarizeOptions({ definitions, instance, run }: OptionSources): ResolvedOption[] {
  const summary = new Map<string, ResolvedOption>();
  for (const item of definitions?.items ?? []) {
    if (item.default === undefined || item.default === null) continue;
    summary.set(item.name, { name: item.name, value: formatOptionValue(item.default), source: 'version' });
  }
  for (const [name, value] of Object.entries(instance))
    summary.set(name, { name, value, source: 'instance' });
  for (const [name, value] of Object.entries(run)) summary.set(name, { name, value, source: 'run' });
  return [...summary.values()];
}

/** Returns the length of the options as JSON text, in characters. */
export function countOptionChars(summary: readonly ResolvedOption[]): number {
  return JSON.stringify(Object.fromEntries(summary.map(({ name, value }) => [name, value]))).length;
}

/** Returns the error message for options that are too long together, or null. Each source alone was checked before. */
export function findOptionsSizeError(summary: readonly ResolvedOption[]): string | null {
  const chars = countOptionChars(summary);
  if (chars <= OPTIONS_CHARS_MAX) return null;
  return `The options of the run, those of its instance and its version included, are ${chars} characters long, written as JSON; together they may have ${OPTIONS_CHARS_MAX}.`;
}

/** Returns the error message for the first option that breaks a rule of the manifest, or null. It names no hidden option. */
export function findDefinedOptionError(
  summary: readonly ResolvedOption[],
  definitions: ExecutableOptions,
  hidden: ReadonlySet<string> = new Set(),
): string | null {
  const items = definitions.items ?? [];
  if (definitions.strict) {
    const names = items.map((item) => item.name);
    const unknown = summary.find(({ name }) => !names.includes(name));
    if (unknown && hidden.has(unknown.name)) return HIDDEN_OPTION_ERROR;
    if (unknown)
      return `options.${unknown.name} is not an option of this app, which allows only ${formatNameList(names.filter((name) => !hidden.has(name))) || 'none'}.`;
  }
  if (definitions.validation?.enforce !== 'all') return null;
  for (const item of items) {
    const option = summary.find(({ name }) => name === item.name);
    const error = option
      ? findOptionValueError(item, option.value)
      : item.required
        ? formatMissingOption(item)
        : null;
    if (error === null) continue;
    return hidden.has(item.name) ? HIDDEN_OPTION_ERROR : error;
  }
  return null;
}

const HIDDEN_OPTION_ERROR =
  'The run breaks a rule for an option that is hidden from some roles. Ask a member who can see the option.';

const DEFAULT_TEMPLATE = ['-{{name}}', '{{value}}'];

/** Returns the command-line arguments of the app: the template of its manifest, filled in for each option. */
export function buildArguments(
  summary: readonly ResolvedOption[],
  definitions: ExecutableOptions | null | undefined,
): string[] {
  const manifestTemplate = definitions?.format?.template;
  const template = manifestTemplate && manifestTemplate.length > 0 ? manifestTemplate : DEFAULT_TEMPLATE;
  return summary.flatMap((option) =>
    template.map((part) =>
      part.replaceAll(/\{\{(name|value)\}\}/g, (_placeholder, key: string) =>
        key === 'name' ? option.name : option.value,
      ),
    ),
  );
}
