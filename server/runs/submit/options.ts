/**
 * Options of a run: defaults of the version, over them the instance's, over them the run's. Pure. Values are text, always,
 * and are checked against the app's own definitions as far as those ask for it.
 */
import type { ExecutableOptions, OptionItem } from '@switchyard/contract/applications/executables.ts';
import { OPTIONS_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { OptionSummary } from '@switchyard/contract/runs/run-schemas.ts';
import { listOptionNames } from '../../applications/executable.ts';
import { formatNameList } from '../../http/errors/problem.ts';
import { validateOptionNames } from '../../instances/rules.ts';

export interface OptionSources {
  definitions: ExecutableOptions | null | undefined;
  instance: Record<string, string>;
  run: Record<string, string>;
}

/** Every option the app gets, with where its value comes from, in the order of the definitions, then of the callers. */
export function summarizeOptions({ definitions, instance, run }: OptionSources): OptionSummary[] {
  const summary = new Map<string, OptionSummary>();
  for (const item of definitions?.items ?? []) {
    if (item.default === undefined || item.default === null) continue;
    summary.set(item.name, { name: item.name, value: asText(item.default), source: 'version' });
  }
  for (const [name, value] of Object.entries(instance))
    summary.set(name, { name, value, source: 'instance' });
  for (const [name, value] of Object.entries(run)) summary.set(name, { name, value, source: 'run' });
  return [...summary.values()];
}

/** How long they are, written as JSON. */
export function countOptionChars(summary: readonly OptionSummary[]): number {
  return JSON.stringify(Object.fromEntries(summary.map(({ name, value }) => [name, value]))).length;
}

/** Why the app cannot be given so much, as a sentence, or null. Each source alone was checked when it was given. */
export function findOptionsSizeError(summary: readonly OptionSummary[]): string | null {
  const chars = countOptionChars(summary);
  if (chars <= OPTIONS_CHARS_MAX) return null;
  return `The options of the run, those of its instance and its version included, are ${chars} characters long, written as JSON; together they may have ${OPTIONS_CHARS_MAX}.`;
}

/** What breaks the rules the app states for its options, as a sentence that names none of the hidden ones, or null. */
export function findOptionRuleError(
  summary: readonly OptionSummary[],
  definitions: ExecutableOptions | null | undefined,
  hidden: ReadonlySet<string>,
): string | null {
  const stored = summary.filter((one) => one.source === 'instance').map((one) => one.name);
  const misnamed = validateOptionNames(stored, 'The configuration of the instance', {
    names: listOptionNames(definitions),
    hiddenNames: hidden,
  });
  if (misnamed) return misnamed;
  if (!definitions) return null;
  const items = definitions.items ?? [];
  if (definitions.strict) {
    const names = items.map((item) => item.name);
    const unknown = summary.find((one) => !names.includes(one.name));
    if (unknown && hidden.has(unknown.name)) return HIDDEN;
    if (unknown)
      return `options.${unknown.name} is not an option of this app, which allows only ${formatNameList(names.filter((name) => !hidden.has(name))) || 'none'}.`;
  }
  if (definitions.validation?.enforce !== 'all') return null;
  for (const item of items) {
    const given = summary.find((one) => one.name === item.name);
    const error = given ? valueError(item, given.value) : item.required ? missingError(item) : null;
    if (error === null) continue;
    return hidden.has(item.name) ? HIDDEN : error;
  }
  return null;
}

const HIDDEN =
  'An option of this app that is hidden from some roles breaks its rules; ask somebody who sees it.';

function missingError(item: OptionItem): string {
  return `options.${item.name} is missing; the app requires it.`;
}

function valueError(item: OptionItem, value: string): string | null {
  const field = `options.${item.name} is ${JSON.stringify(value.slice(0, 80))}`;
  const attributes = item.additional_attributes ?? {};
  const values = attributes.values;
  if (Array.isArray(values)) {
    const allowed = values.map(asText);
    if (!allowed.includes(value)) return `${field}; it must be one of ${formatNameList(allowed)}.`;
  }
  switch (item.option_type) {
    case 'bool':
      return /^(?:true|false)$/i.test(value) ? null : `${field}; it must be true or false.`;
    case 'int':
      return /^[+-]?\d+$/.test(value)
        ? boundsError(field, Number(value), attributes)
        : `${field}; it must be a whole number.`;
    case 'float':
      return value.trim() !== '' && Number.isFinite(Number(value))
        ? boundsError(field, Number(value), attributes)
        : `${field}; it must be a number.`;
    default:
      return null;
  }
}

/** A value of the manifest as the option has it; what is an object there is compared in JSON. */
function asText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function boundsError(field: string, value: number, attributes: Record<string, unknown>): string | null {
  const { min, max } = attributes;
  if (typeof min === 'number' && value < min) return `${field}; it must be at least ${min}.`;
  if (typeof max === 'number' && value > max) return `${field}; it must be at most ${max}.`;
  return null;
}

const DEFAULT_TEMPLATE = ['-{{name}}', '{{value}}'];

/** The arguments the app is started with. */
export function buildArguments(
  summary: readonly OptionSummary[],
  definitions: ExecutableOptions | null | undefined,
): string[] {
  const given = definitions?.format?.template;
  const template = given && given.length > 0 ? given : DEFAULT_TEMPLATE;
  return summary.flatMap((option) =>
    template.map((part) =>
      part.replaceAll(/\{\{(name|value)\}\}/g, (_all, key: string) =>
        key === 'name' ? option.name : option.value,
      ),
    ),
  );
}
