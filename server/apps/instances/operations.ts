/** Operations on instances. */
import type { Instance } from '@switchyard/contract/applications/instances.ts';
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import { NAME_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { ApplicationId, InstanceId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import {
  badRequest,
  ChangedError,
  orThrow,
  quoteValue,
  reportMissing,
  reportTaken,
} from '../../platform/http/errors/problem.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { pickTexts, validateName } from '../../platform/http/requests/resource-names.ts';
import { makeId } from '../../platform/random.ts';
import { findHiddenOptions } from '../applications/executables-store.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { getApplication, lockApplication, updateApplication } from '../applications/store.ts';
import { findExecutableIds, lockVersion } from '../versions/store.ts';
import { changesInstance, describeLock } from './instance-lock.ts';
import {
  checkOptions,
  checkRequirements,
  checkSecretsCollection,
  checkVersion,
  completeConfiguration,
  findSecretsCollectionId,
  isReservedInstanceId,
  parseConfiguration,
  type RequestedConfiguration,
} from './rules.ts';
import type { InstancesTable } from './schema.ts';
import * as store from './store.ts';

export const createInstance: OperationHandler<'createInstance'> = async (
  context,
  { caller, params, body, commit },
) => {
  const { database, clock, random } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const id = body.id ?? makeId<InstanceId>(random, 'instance');
  if (isReservedInstanceId(id))
    throw badRequest(`id is ${quoteValue(id)}, which every application has already; choose another.`);
  validateName(body.name, id);
  checkRequirements(body.configuration);
  const now = clock.now();
  const row: InstancesTable = {
    application_uid: application.uid,
    id,
    version_id: body.version_id,
    name: body.name ?? `Instance ${id}`.slice(0, NAME_CHARS_MAX),
    description: body.description ?? '',
    configuration: JSON.stringify(body.configuration ?? {}),
    secrets_collection_id: findSecretsCollectionId(body.configuration ?? {}),
    locked_by: null,
    locked_at: null,
    created_at: now,
    updated_at: now,
  };
  const options = body.configuration?.options;
  return commit(async (tx) => {
    await lockApplication(tx, application);
    await checkVersion(tx, application, row.version_id);
    await checkOptions(tx, { instance: row, options, role: caller.role, hiddenNames: new Set() });
    await checkSecretsCollection(context, tx, application, row.secrets_collection_id);
    if (!(await store.insertInstance(tx, row))) throw reportTaken('instance', id);
    // The caller has named every option of the new instance, so none is hidden in the response.
    return {
      status: 201,
      body: formatInstance(application, row, { hiddenOptions: new Set(), isDeleted: false }),
    };
  });
};

export const listInstances: OperationHandler<'listInstances'> = async (
  context,
  { caller, params, query },
) => {
  const application = await getApplication(context.database.read, caller.account, params.application_id);
  return respondWithList(context, {
    tokenScope: `instances ${application.uid}`,
    query,
    queryRows: (page) => store.listInstances(context.database.read, application.uid, page),
    async formatBodies(rows) {
      const versions = rows.map((row) => row.version_id);
      const findInfo = await lookUpVersions(context.database.read, application.uid, versions, caller.role);
      return rows.map((row) => formatInstance(application, row, findInfo(row.version_id)));
    },
  });
};

export const getInstance: OperationHandler<'getInstance'> = async ({ database }, { caller, params }) => {
  if (isLatest(params.instance_id)) {
    const application = await getApplication(database.read, caller.account, params.application_id);
    return { status: 200, body: formatLatestInstance(application, params.instance_id) };
  }
  const { application, instance } = await findInstance(database.read, caller, params);
  const info = await findVersionInfo(database.read, caller, instance);
  return { status: 200, body: formatInstance(application, instance, info) };
};

export const updateInstance: OperationHandler<'updateInstance'> = async (
  context,
  { caller, params, body, commitThen },
) => {
  const { database, clock } = context;
  const { application, instance } = await findInstance(database.read, caller, params);
  validateName(body.name, instance.id);
  checkRequirements(body.configuration);
  const { hiddenOptions } = await findVersionInfo(database.read, caller, instance);
  const stored = parseConfiguration(instance);
  const configuration = body.configuration && restoreHiddenOptions(body.configuration, stored, hiddenOptions);
  const changes = {
    ...pickTexts(body),
    ...(typeof body.version_id === 'string' ? { version_id: body.version_id } : {}),
    ...(configuration
      ? {
          configuration: JSON.stringify(configuration),
          secrets_collection_id: findSecretsCollectionId(configuration),
        }
      : {}),
  };
  const { options } = configuration ?? stored;
  return commitThen(
    async (tx) => {
      const current = requireFound(await store.lockInstance(tx, instance), application, instance.id);
      requireExpected(current, body);
      if (current.locked_at !== null) {
        // The published client sends the whole instance before it unlocks it.
        if (changesInstance(current, { ...changes, configuration })) throw badRequest(describeLock(current));
        return current;
      }
      if (changes.version_id !== undefined) await checkVersion(tx, application, changes.version_id);
      if (changes.version_id !== undefined || configuration)
        await checkOptions(tx, {
          instance: { ...instance, ...changes },
          options,
          role: caller.role,
          hiddenNames: hiddenOptions,
        });
      await checkSecretsCollection(context, tx, application, changes.secrets_collection_id);
      const dated = { ...changes, updated_at: computeUpdateTime(clock.now(), current) };
      return requireFound(await store.updateInstance(tx, instance, dated), application, instance.id);
    },
    async (changed) => ({
      status: 200,
      body: formatInstance(application, changed, await findVersionInfo(database.read, caller, changed)),
    }),
  );
};

/** Throws a 409 when the instance is not as the caller has read it, and a 400 for a change of the lock by the update. */
function requireExpected(
  current: InstancesTable,
  body: {
    expected_version_id?: string | null;
    expected_updated_at?: string | null;
    locked?: boolean | null;
  },
): void {
  const { expected_version_id: expected } = body;
  if (typeof expected === 'string' && expected !== current.version_id)
    throw new ChangedError(
      current.updated_at,
      (who) =>
        `expected_version_id is ${quoteValue(expected)}, and the instance ${quoteValue(current.id)} has the version ${quoteValue(current.version_id)} now: it was changed at ${formatRfc3339(current.updated_at)}${who}. Nothing was changed.`,
    );
  requireUnchanged({ noun: `instance ${quoteValue(current.id)}`, updatedAt: current.updated_at }, body);
  const isLocked = current.locked_at !== null;
  if (typeof body.locked === 'boolean' && body.locked !== isLocked)
    throw badRequest(
      `locked is ${body.locked}, and the instance ${quoteValue(current.id)} is ${isLocked ? 'locked' : 'not locked'}; this request changes no lock. Send {"locked": ${body.locked}} with PUT to the path of the instance with /lock, or leave it out.`,
    );
}

export const setInstanceLock: OperationHandler<'setInstanceLock'> = async (
  { database, clock },
  { caller, params, body, commitThen },
) => {
  const { application, instance } = await findInstance(database.read, caller, params);
  return commitThen(
    async (tx) => {
      // Deletions of versions and of the application lock the application too, so none overlaps with this.
      await lockApplication(tx, application);
      const current = requireFound(await store.lockInstance(tx, instance), application, instance.id);
      if (body.locked === (current.locked_at !== null)) return current;
      const { version_id } = current;
      if (
        body.locked &&
        !(await lockVersion(tx, { applicationUid: application.uid, id: version_id, change: false }))
      )
        throw badRequest(
          `The version ${quoteValue(version_id)} of the instance ${quoteValue(instance.id)} was deleted; give the instance another version before you lock it.`,
        );
      const now = computeUpdateTime(clock.now(), current);
      const lock = body.locked
        ? { locked_by: caller.email, locked_at: now }
        : { locked_by: null, locked_at: null };
      const changed = await store.updateInstance(tx, current, { ...lock, updated_at: now });
      return requireFound(changed, application, instance.id);
    },
    async (changed) => ({
      status: 200,
      body: formatInstance(application, changed, await findVersionInfo(database.read, caller, changed)),
    }),
  );
};

export const deleteInstance: OperationHandler<'deleteInstance'> = async (
  { database },
  { caller, params, commit },
) => {
  const { application, instance } = await findInstance(database.read, caller, params);
  return commit(async (tx) => {
    const locked = await lockApplication(tx, application);
    const current = await store.lockInstance(tx, instance);
    if (current && current.locked_at !== null) throw badRequest(describeLock(current));
    if (locked.default_instance === instance.id)
      throw badRequest(
        `The instance ${quoteValue(instance.id)} is the default instance of the application; set default_instance to another or to "latest" first.`,
      );
    if (locked.default_experiment_instance === instance.id)
      await updateApplication(tx, locked.uid, { default_experiment_instance: '' });
    await store.deleteInstance(tx, instance);
    return { status: 204 };
  });
};

/** Returns the instance. Throws a 404 when there is none with the id. */
function requireFound(
  instance: InstancesTable | undefined,
  application: ApplicationsTable,
  id: InstanceId,
): InstancesTable {
  return orThrow(instance, () => reportMissing('instance', id, application));
}

/** Throws a 404 for an unknown instance, and a 400 for `latest`, which cannot be changed. */
async function findInstance(
  db: Reader,
  caller: Caller,
  params: { application_id: ApplicationId; instance_id: InstanceId },
): Promise<{ application: ApplicationsTable; instance: InstancesTable }> {
  const application = await getApplication(db, caller.account, params.application_id);
  if (isLatest(params.instance_id))
    throw badRequest(
      `The instance ${quoteValue(params.instance_id)} always runs the executable pushed last; it cannot be changed or deleted.`,
    );
  const found = await store.findInstance(db, application.uid, params.instance_id);
  return { application, instance: requireFound(found, application, params.instance_id) };
}

/** Returns the facts about the version of the instance for the role of the caller. */
async function findVersionInfo(
  db: Reader,
  caller: Caller,
  { application_uid, version_id }: InstancesTable,
): Promise<VersionInfo> {
  return (await lookUpVersions(db, application_uid, [version_id], caller.role))(version_id);
}

/** Formats the instance without options that are hidden from the caller's role. */
function formatInstance(
  application: ApplicationsTable,
  row: InstancesTable,
  { hiddenOptions, isDeleted }: VersionInfo,
): Instance {
  const configuration = parseConfiguration(row);
  return {
    id: row.id,
    application_id: application.id,
    version_id: row.version_id,
    ...(isDeleted ? { version_deleted: true } : {}),
    name: row.name,
    description: row.description,
    configuration: completeConfiguration(omitHiddenOptions(configuration, hiddenOptions)),
    locked: row.locked_at !== null,
    ...(row.locked_by === null ? {} : { locked_by: row.locked_by }),
    ...(row.locked_at === null ? {} : { locked_at: formatRfc3339(row.locked_at) }),
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}

/** Formats a reserved instance such as `latest`, which every application has without a row. */
function formatLatestInstance(application: ApplicationsTable, id: InstanceId): Instance {
  return {
    id,
    application_id: application.id,
    version_id: '',
    name: 'Latest executable',
    description: 'Runs the executable pushed last.',
    configuration: completeConfiguration({}),
    locked: true,
    created_at: formatRfc3339(application.created_at),
    updated_at: formatRfc3339(application.updated_at),
  };
}

/** Facts about the version of an instance, for one role. */
interface VersionInfo {
  /** Names of the options that the version hides from the role. */
  hiddenOptions: ReadonlySet<string>;
  isDeleted: boolean;
}

/**
 * Returns a function from the id of a version to its facts for the role. Responses omit hidden options, and an update by that
 * role, which cannot send them, restores them.
 */
async function lookUpVersions(
  db: Reader,
  applicationUid: string,
  versions: readonly VersionId[],
  role: Role,
): Promise<(version: VersionId) => VersionInfo> {
  const executables = await findExecutableIds(db, applicationUid, [...new Set(versions)]);
  const listHidden = await findHiddenOptions(db, [...executables.values()], role);
  return (version) => {
    const executable = executables.get(version);
    return {
      hiddenOptions: executable === undefined ? new Set() : listHidden(executable),
      isDeleted: executable === undefined,
    };
  };
}

/** Returns the configuration without the hidden options. */
function omitHiddenOptions(
  configuration: RequestedConfiguration,
  hidden: ReadonlySet<string>,
): RequestedConfiguration {
  if (!configuration.options || hidden.size === 0) return configuration;
  const visible = Object.entries(configuration.options).filter(([name]) => !hidden.has(name));
  return { ...configuration, options: Object.fromEntries(visible) };
}

/** Returns the updated configuration with the hidden options of the stored one. */
function restoreHiddenOptions(
  updated: RequestedConfiguration,
  stored: RequestedConfiguration,
  hidden: ReadonlySet<string>,
): RequestedConfiguration {
  const restored = Object.entries(stored.options ?? {}).filter(([name]) => hidden.has(name));
  if (restored.length === 0) return updated;
  return { ...updated, options: { ...Object.fromEntries(restored), ...updated.options } };
}
