/** Checks of an instance and of its references, in the transaction of a change. Each throws a 400 that names the fault. */
import { EXECUTION_CLASS_DEFAULT } from '@switchyard/contract/execution-classes.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { SecretsCollectionId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { findExecutable } from '../applications/executables-store.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { findVersion, lockVersion } from '../versions/store.ts';
import {
  findDurationError,
  NO_DECLARED_OPTIONS,
  type RequestedConfiguration,
  readDeclaredOptions,
  validateOptionNames,
  validateOptions,
  validateRequirements,
} from './rules.ts';
import type { InstancesTable } from './schema.ts';

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
