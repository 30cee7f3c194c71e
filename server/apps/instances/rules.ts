/** Rules of instances and their options, without a database. */
import {
  type InstanceConfiguration,
  RequestedConfiguration,
} from '@switchyard/contract/applications/instances.ts';
import { completeRequirements, isLicenseName } from '@switchyard/contract/applications/requirements.ts';
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import {
  CLASS_LIMITS,
  EXECUTION_CLASS_DEFAULT,
  type ExecutionClass,
} from '@switchyard/contract/execution-classes.ts';
import {
  LABEL_CHARS_MAX,
  LICENSES_MAX,
  OPTION_NAME_CHARS_MAX,
  OPTION_VALUE_CHARS_MAX,
  OPTIONS_CHARS_MAX,
  OPTIONS_MAX,
  PRIORITY_DEFAULT,
} from '@switchyard/contract/limits.ts';
import { formatNameList } from '@switchyard/contract/name-list.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { SecretsCollectionId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { closest, distance } from 'fastest-levenshtein';
import type { Writer } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { badRequest, quoteValue, truncate } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { listHiddenOptions, listOptionNames, parseRequirements } from '../applications/executable.ts';
import { findExecutable } from '../applications/executables-store.ts';
import type { ApplicationsTable, ExecutablesTable } from '../applications/schema.ts';
import { findVersion, lockVersion } from '../versions/store.ts';
import type { InstancesTable } from './schema.ts';

export type { RequestedConfiguration };

export const parseConfiguration = parseColumn('instances', 'id', 'configuration', RequestedConfiguration);

/** Returns true for ids that no instance can have. `default` means the same as an absent instance id. */
export function isReservedInstanceId(instanceId: string): boolean {
  return isLatest(instanceId) || instanceId === 'default';
}

/**
 * Returns the error message for options that are too many or too long, or null. `field` is their path in the request.
 * validateOptionNames checks the names.
 */
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
      return `${field}.${name} contains a NUL character, which no program argument can contain; remove it.`;
  }
  const chars = JSON.stringify(stringifyOptions(options)).length;
  return chars > OPTIONS_CHARS_MAX
    ? `${field} is ${chars} characters long, written as JSON; all options together may have ${OPTIONS_CHARS_MAX}.`
    : null;
}

/** The option names of an app that error messages need, for one role. */
export interface DeclaredOptions {
  /** Names that the manifest declares. */
  names: ReadonlySet<string>;
  /** Names that no message to the role may contain. */
  hiddenNames: ReadonlySet<string>;
}

/** The options of an app that is unknown or has no manifest. */
export const NO_DECLARED_OPTIONS: DeclaredOptions = { names: new Set(), hiddenNames: new Set() };

/** Returns the options that the executable declares, for a message to the role. */
export function readDeclaredOptions(executable: ExecutablesTable, role: Role): DeclaredOptions {
  return {
    names: listOptionNames(parseRequirements(executable).options),
    hiddenNames: listHiddenOptions(executable, role),
  };
}

/**
 * Returns the error message for the first invalid name, or null. Every name that the manifest declares is valid; any other
 * name consists of letters, digits and periods.
 */
export function validateOptionNames(
  names: readonly string[],
  field: string,
  declared: DeclaredOptions,
): string | null {
  const invalid = names.find((name) => !SIMPLE_NAME.test(name) && !declared.names.has(name));
  if (invalid === undefined) return null;
  const option = declared.hiddenNames.has(invalid)
    ? 'an option that is hidden from you'
    : `the option ${quoteValue(invalid)}`;
  return `${field} has ${option}, which the app does not declare; undeclared names of options may contain letters, digits and periods. ${suggestNames(invalid, declared)}`;
}

const SIMPLE_NAME = /^[A-Za-z0-9.]+$/;

/** Returns a text with the declared names that the role may see, and the closest of them when it is similar. */
function suggestNames(invalid: string, { names, hiddenNames }: DeclaredOptions): string {
  const visible = [...names].filter((name) => !hiddenNames.has(name));
  if (visible.length === 0) return 'The app declares no options.';
  const nearest = closest(invalid, visible.slice(0, NAMES_COMPARED_MAX));
  const isSimilar = distance(invalid, nearest) <= Math.ceil(invalid.length / 3);
  return `${isSimilar ? `Did you mean ${quoteValue(nearest)}? ` : ''}The app declares ${formatNameList(visible.map(truncate))}.`;
}

/** Bounds the time of a refusal: the comparison is linear in the number of names. */
const NAMES_COMPARED_MAX = 1000;

/** Returns the options with their values as text, the form in which apps receive them. */
export function stringifyOptions(
  options: Record<string, unknown> | null | undefined,
): Record<string, string> {
  return Object.fromEntries(Object.entries(options ?? {}).map(([name, value]) => [name, String(value)]));
}

/** Returns the id of the secrets collection in the configuration, or null. Clients send an empty id for none. */
export function findSecretsCollectionId(configuration: RequestedConfiguration): SecretsCollectionId | null {
  return (configuration.secrets_collection_id || null) as SecretsCollectionId | null;
}

function hasRequirements({ requirements }: RequestedConfiguration): boolean {
  const { labels, licenses } = completeRequirements(requirements);
  return labels.length > 0 || Object.keys(licenses).length > 0;
}

/** Returns the error message for licences that are too many or have a name that no licence can have, or null. */
function validateRequirements({ requirements }: RequestedConfiguration): string | null {
  const names = Object.keys(requirements?.licenses ?? {});
  const field = 'configuration.requirements.licenses';
  if (names.length > LICENSES_MAX)
    return `${field} has ${names.length} licences; it may have ${LICENSES_MAX}.`;
  const invalid = names.find((name) => !isLicenseName(name));
  return invalid === undefined
    ? null
    : `${field} has the licence ${quoteValue(invalid)}; a name has 1 to ${LABEL_CHARS_MAX} letters, digits, periods, underscores and hyphens, and begins with a letter or digit.`;
}

/** Returns the error message for a duration, in seconds, that is longer than the execution class allows; null for none. */
export function findDurationError(
  max_duration: number | null | undefined,
  execution_class: ExecutionClass,
): string | null {
  const seconds = CLASS_LIMITS[execution_class].duration_ms / 1000;
  return max_duration && max_duration > seconds
    ? `configuration.max_duration is ${max_duration}, but the execution class ${execution_class} ends a run after ${seconds} seconds; give at most ${seconds}, or another execution class.`
    : null;
}

/** Returns the configuration with its defaults, as the API returns it. */
export function completeConfiguration(configuration: RequestedConfiguration): InstanceConfiguration {
  return {
    execution_class: configuration.execution_class ?? EXECUTION_CLASS_DEFAULT,
    ...(configuration.max_duration ? { max_duration: configuration.max_duration } : {}),
    options: stringifyOptions(configuration.options),
    secrets_collection_id: configuration.secrets_collection_id ?? '',
    queuing: {
      priority: configuration.queuing?.priority ?? PRIORITY_DEFAULT,
      disabled: configuration.queuing?.disabled ?? false,
    },
    ...(configuration.format ? { format: configuration.format } : {}),
    network: configuration.network ?? false,
    ...(configuration.api_access ? { api_access: configuration.api_access } : {}),
    ...(hasRequirements(configuration)
      ? { requirements: completeRequirements(configuration.requirements) }
      : {}),
  };
}

/** Locks the version against deletion until the transaction ends; throws a 400 when it does not exist. */
export async function checkVersion(tx: Writer, application: ApplicationsTable, id: VersionId): Promise<void> {
  if (await lockVersion(tx, { applicationUid: application.uid, id, change: false })) return;
  throw badRequest(
    `version_id is ${quoteValue(id)}; it must be a version of the application ${quoteValue(application.id)}.`,
  );
}

interface OptionsCheck {
  instance: Pick<InstancesTable, 'id' | 'application_uid' | 'version_id'>;
  options: RequestedConfiguration['options'];
  role: Role;
  /** Options that the message must not name, beyond those that the executable hides from the role. */
  hiddenNames: ReadonlySet<string>;
}

/** Throws a 400 for options that are too many or too long, or that the executable of the version does not declare. */
export async function checkOptions(
  tx: Writer,
  { instance, options, role, hiddenNames }: OptionsCheck,
): Promise<void> {
  const field = 'configuration.options';
  const error = validateOptions(options, field);
  if (error) throw badRequest(error);
  const { id, application_uid, version_id } = instance;
  const version = await findVersion(tx, application_uid, version_id);
  const executable = version && (await findExecutable(tx, version.executable_id));
  const declared = executable ? readDeclaredOptions(executable, role) : NO_DECLARED_OPTIONS;
  const nameError = validateOptionNames(Object.keys(options ?? {}), field, {
    names: declared.names,
    hiddenNames: new Set([...declared.hiddenNames, ...hiddenNames]),
  });
  if (!nameError) return;
  throw badRequest(
    executable
      ? `For the version ${quoteValue(version_id)}: ${nameError}`
      : `The version ${quoteValue(version_id)} of the instance ${quoteValue(id)} was deleted; give the instance another version. ${nameError}`,
  );
}

/** Throws a 400 for requirements that no run can have. */
export function checkRequirements(configuration: RequestedConfiguration | null | undefined): void {
  const { max_duration, execution_class } = configuration ?? {};
  const error =
    validateRequirements(configuration ?? {}) ??
    findDurationError(max_duration, execution_class ?? EXECUTION_CLASS_DEFAULT);
  if (error) throw badRequest(error);
}

/** Locks the collection against deletion until the transaction ends; accepts an instance without one. */
export async function checkSecretsCollection(
  { lockSecretsCollection }: Pick<Context, 'lockSecretsCollection'>,
  tx: Writer,
  application: ApplicationsTable,
  id: SecretsCollectionId | null | undefined,
): Promise<void> {
  if (!id || (await lockSecretsCollection(tx, application.uid, id))) return;
  throw badRequest(
    `configuration.secrets_collection_id is ${quoteValue(id)}; it must be a secrets collection of the application ${quoteValue(application.id)}.`,
  );
}
