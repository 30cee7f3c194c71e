/** What an instance stands for, and the rules of options. Pure. */

import type { InstanceConfiguration } from '@switchyard/contract/applications/instances.ts';
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import { EXECUTION_CLASS_DEFAULT, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import {
  OPTION_NAME_CHARS_MAX,
  OPTION_VALUE_CHARS_MAX,
  OPTIONS_CHARS_MAX,
  OPTIONS_MAX,
  PRIORITY_DEFAULT,
} from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { SecretsCollectionId } from '@switchyard/contract/schemas/ids.ts';
import { closest, distance } from 'fastest-levenshtein';
import { listHiddenOptions, listOptionNames, parseRequirements } from '../applications/executable.ts';
import type { ExecutablesTable } from '../applications/schema.ts';
import { formatNameList, quoteValue, truncate } from '../http/errors/problem.ts';

/** A configuration as callers give it: anything may be left out or null. */
export interface RequestedConfiguration {
  execution_class?: ExecutionClass | null;
  options?: Record<string, string | number | boolean> | null;
  secrets_collection_id?: string | null;
  queuing?: { priority?: number; disabled?: boolean } | null;
  format?: { input?: { type: FormatType }; output?: { type: FormatType } } | null;
  network?: boolean | null;
}

/** Ids that cannot be taken: `default` is what an absent instance id stands for. */
export function isReservedInstanceId(instanceId: string): boolean {
  return isLatest(instanceId) || instanceId === 'default';
}

/** What is wrong with the options but for their names, as a sentence, or null. `field` is where they were given. */
export function validateOptions(
  options: Record<string, unknown> | null | undefined,
  field: string,
): string | null {
  const entries = Object.entries(options ?? {});
  if (entries.length > OPTIONS_MAX)
    return `${field} has ${entries.length} options; it may have ${OPTIONS_MAX}.`;
  for (const [name, value] of entries) {
    if (name.length > OPTION_NAME_CHARS_MAX)
      return `${field} has the option ${quoteValue(name)}, ${name.length} characters long; a name may have ${OPTION_NAME_CHARS_MAX}.`;
    const text = String(value);
    if (text.length > OPTION_VALUE_CHARS_MAX)
      return `${field}.${name} is ${text.length} characters long; a value may have ${OPTION_VALUE_CHARS_MAX}.`;
    if (text.includes('\0'))
      return `${field}.${name} contains a NUL character, which no program can be given.`;
  }
  const chars = JSON.stringify(
    stringifyOptions(Object.fromEntries(entries) as Record<string, string>),
  ).length;
  return chars > OPTIONS_CHARS_MAX
    ? `${field} is ${chars} characters long, written as JSON; all options together may have ${OPTIONS_CHARS_MAX}.`
    : null;
}

/** Option names of an app, as one role may read of them. */
export interface DeclaredOptions {
  /** Names that the manifest declares. */
  names: ReadonlySet<string>;
  /** Names that no message to the role may hold. */
  hiddenNames: ReadonlySet<string>;
}

/** The options of an app that is not known, or has no manifest. */
export const NO_DECLARED_OPTIONS: DeclaredOptions = { names: new Set(), hiddenNames: new Set() };

/** Options that the executable declares, for a message to the role. */
export function readDeclaredOptions(executable: ExecutablesTable, role: Role): DeclaredOptions {
  return {
    names: listOptionNames(parseRequirements(executable).options),
    hiddenNames: listHiddenOptions(executable, role),
  };
}

/**
 * Why a name is refused, as a sentence, or null. A name that the manifest declares is taken as it stands there; any other
 * has letters, digits and periods.
 */
export function validateOptionNames(
  names: readonly string[],
  field: string,
  declared: DeclaredOptions,
): string | null {
  const wrong = names.find((name) => !SIMPLE_NAME.test(name) && !declared.names.has(name));
  if (wrong === undefined) return null;
  const given = declared.hiddenNames.has(wrong)
    ? 'an option that is hidden from you'
    : `the option ${quoteValue(wrong)}`;
  return `${field} has ${given}, which the app does not declare; undeclared names of options may contain letters, digits and periods. ${namesTold(wrong, declared)}`;
}

const SIMPLE_NAME = /^[A-Za-z0-9.]+$/;

function namesTold(wrong: string, { names, hiddenNames: hidden }: DeclaredOptions): string {
  const known = [...names].filter((name) => !hidden.has(name));
  if (known.length === 0) return 'The app declares no options.';
  const near = closest(wrong, known.slice(0, NAMES_COMPARED_MAX));
  const isNear = distance(wrong, near) <= Math.ceil(wrong.length / 3);
  return `${isNear ? `Did you mean ${quoteValue(near)}? ` : ''}The app declares ${formatNameList(known.map(truncate))}.`;
}

/** More would take longer to compare than a refusal is worth. */
const NAMES_COMPARED_MAX = 1000;

/** Options as text, which is how apps get them. */
export function stringifyOptions(
  options: Record<string, string | number | boolean> | null | undefined,
): Record<string, string> {
  return Object.fromEntries(Object.entries(options ?? {}).map(([name, value]) => [name, String(value)]));
}

/** The secrets collection the configuration names; clients send an empty id for none. */
export function secretsCollectionId(given: RequestedConfiguration): SecretsCollectionId | null {
  return (given.secrets_collection_id || null) as SecretsCollectionId | null;
}

/** The configuration with its defaults filled in, as the API shows it. */
export function completeConfiguration(given: RequestedConfiguration): InstanceConfiguration {
  return {
    execution_class: given.execution_class ?? EXECUTION_CLASS_DEFAULT,
    options: stringifyOptions(given.options),
    secrets_collection_id: given.secrets_collection_id ?? '',
    queuing: {
      priority: given.queuing?.priority ?? PRIORITY_DEFAULT,
      disabled: given.queuing?.disabled ?? false,
    },
    ...(given.format ? { format: given.format } : {}),
    network: given.network ?? false,
  };
}
