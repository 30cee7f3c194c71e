/** The operations on instances. */

import type { Instance } from '@switchyard/contract/applications/instances.ts';
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import { NAME_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type {
  ApplicationId,
  InstanceId,
  SecretsCollectionId,
  VersionId,
} from '@switchyard/contract/schemas/ids.ts';
import { findExecutable } from '../applications/executables-store.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { getApplication, lockApplication, updateApplication } from '../applications/store.ts';
import { type Clock, formatRfc3339 } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import { badRequest, notFound, orThrow, quoteValue } from '../http/errors/problem.ts';
import type { Caller, HandlersFor } from '../http/handlers/handler.ts';
import { respondWithList } from '../http/lists/list-responses.ts';
import type { PageTokens } from '../http/lists/pagination.ts';
import { validateName } from '../http/requests/resource-names.ts';
import { makeId, type Random } from '../random.ts';
import { findVersion, lockVersion } from '../versions/store.ts';
import { lookUpVersions, omitHiddenOptions, restoreHiddenOptions, type VersionInfo } from './hidden.ts';
import {
  completeConfiguration,
  isReservedInstanceId,
  NO_DECLARED_OPTIONS,
  type RequestedConfiguration,
  readDeclaredOptions,
  secretsCollectionId,
  validateOptionNames,
  validateOptions,
} from './rules.ts';
import type { InstancesTable } from './schema.ts';
import { deleteInstance, findInstance, insertInstance, listInstances, updateInstance } from './store.ts';

interface Parts {
  database: Database;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
  /** Whether the application has the secrets collection, which then stays until the transaction is over. */
  lockSecretsCollection(tx: Writer, applicationUid: string, id: SecretsCollectionId): Promise<boolean>;
}

export function instanceHandlers(
  parts: Parts,
): HandlersFor<'createInstance' | 'listInstances' | 'getInstance' | 'updateInstance' | 'deleteInstance'> {
  const { database, pageTokens, clock, random } = parts;

  const missing = (application: ApplicationsTable, id: InstanceId) =>
    notFound(`There is no instance ${quoteValue(id)} of application ${quoteValue(application.id)}.`);
  const find = async (caller: Caller, params: { application_id: ApplicationId; instance_id: InstanceId }) => {
    const application = await getApplication(database.read, caller.account, params.application_id);
    if (isLatest(params.instance_id)) {
      throw badRequest(
        `The instance ${quoteValue(params.instance_id)} always runs the executable pushed last; it cannot be changed or deleted.`,
      );
    }
    const instance = await findInstance(database.read, application.uid, params.instance_id);
    if (!instance) throw missing(application, params.instance_id);
    return { application, instance };
  };
  const checkVersion = async (tx: Writer, application: ApplicationsTable, id: VersionId): Promise<void> => {
    const wanted = { applicationUid: application.uid, id, change: false };
    if (await lockVersion(tx, wanted)) return;
    throw badRequest(
      `version_id is ${quoteValue(id)}; it must be a version of the application ${quoteValue(application.id)}.`,
    );
  };
  /** Refuses options that the executable of the version cannot be given; `hidden` must not be named to the caller either. */
  const checkOptions = async (
    tx: Writer,
    caller: Caller,
    instance: Pick<InstancesTable, 'id' | 'application_uid' | 'version_id'>,
    options: RequestedConfiguration['options'],
    hidden: ReadonlySet<string>,
  ): Promise<void> => {
    const field = 'configuration.options';
    const broken = validateOptions(options, field);
    if (broken) throw badRequest(broken);
    const version = await findVersion(tx, instance.application_uid, instance.version_id);
    const executable = version && (await findExecutable(tx, version.executable_id));
    const declared = executable ? readDeclaredOptions(executable, caller.role) : NO_DECLARED_OPTIONS;
    const misnamed = validateOptionNames(Object.keys(options ?? {}), field, {
      names: declared.names,
      hiddenNames: new Set([...declared.hiddenNames, ...hidden]),
    });
    if (!misnamed) return;
    const { id, version_id } = instance;
    throw badRequest(
      executable
        ? `For the version ${quoteValue(version_id)}: ${misnamed}`
        : `The version ${quoteValue(version_id)} of the instance ${quoteValue(id)} was deleted; give the instance another version. ${misnamed}`,
    );
  };
  const checkSecrets = async (
    tx: Writer,
    application: ApplicationsTable,
    id: SecretsCollectionId | null | undefined,
  ): Promise<void> => {
    if (!id || (await parts.lockSecretsCollection(tx, application.uid, id))) return;
    throw badRequest(
      `configuration.secrets_collection_id is ${quoteValue(id)}; it must be a secrets collection of the application ${quoteValue(application.id)}.`,
    );
  };

  const versionOf = async (caller: Caller, row: InstancesTable) => {
    const { application_uid, version_id } = row;
    return (await lookUpVersions(database.read, application_uid, [version_id], caller.role))(version_id);
  };
  const shownTo = async (caller: Caller, application: ApplicationsTable, row: InstancesTable) =>
    instanceBody(application, row, await versionOf(caller, row));

  return {
    async createInstance({ caller, params, body, remember }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      const id = body.id ?? makeId<InstanceId>(random, 'instance');
      if (isReservedInstanceId(id))
        throw badRequest(`id is ${quoteValue(id)}, which every application has already; choose another.`);
      validateName(body.name, id);
      const now = clock.now();
      const row: InstancesTable = {
        application_uid: application.uid,
        id,
        version_id: body.version_id,
        name: body.name ?? `Instance ${id}`.slice(0, NAME_CHARS_MAX),
        description: body.description ?? '',
        configuration: JSON.stringify(body.configuration ?? {}),
        secrets_collection_id: secretsCollectionId(body.configuration ?? {}),
        created_at: now,
        updated_at: now,
      };
      // Who makes it has named every option of it.
      const answer = {
        status: 201 as const,
        body: instanceBody(application, row, { hiddenOptions: new Set(), isDeleted: false }),
      };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await lockApplication(tx, application);
        await checkVersion(tx, application, row.version_id);
        await checkOptions(tx, caller, row, body.configuration?.options, new Set());
        await checkSecrets(tx, application, row.secrets_collection_id);
        if (!(await insertInstance(tx, row))) {
          throw badRequest(
            `id is ${quoteValue(id)}, which another instance of the application has; choose another.`,
          );
        }
      });
      return answer;
    },

    async listInstances({ caller, params, query }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      return respondWithList(pageTokens, {
        tokenScope: `instances ${application.uid}`,
        query,
        queryRows: (page) => listInstances(database.read, application.uid, page),
        async formatBodies(rows) {
          const versions = rows.map((row) => row.version_id);
          const found = await lookUpVersions(database.read, application.uid, versions, caller.role);
          return rows.map((row) => instanceBody(application, row, found(row.version_id)));
        },
      });
    },

    async getInstance({ caller, params }) {
      if (isLatest(params.instance_id)) {
        const application = await getApplication(database.read, caller.account, params.application_id);
        return { status: 200, body: latestBody(application, params.instance_id) };
      }
      const { application, instance } = await find(caller, params);
      return { status: 200, body: await shownTo(caller, application, instance) };
    },

    async updateInstance({ caller, params, body }) {
      const { application, instance } = await find(caller, params);
      validateName(body.name, instance.id);
      const { hiddenOptions: hidden } = await versionOf(caller, instance);
      const before = JSON.parse(instance.configuration) as RequestedConfiguration;
      const configuration = body.configuration && restoreHiddenOptions(body.configuration, before, hidden);
      const changes = {
        ...(typeof body.name === 'string' ? { name: body.name } : {}),
        ...(typeof body.description === 'string' ? { description: body.description } : {}),
        ...(typeof body.version_id === 'string' ? { version_id: body.version_id } : {}),
        ...(configuration
          ? {
              configuration: JSON.stringify(configuration),
              secrets_collection_id: secretsCollectionId(configuration),
            }
          : {}),
        updated_at: clock.now(),
      };
      const changed = await database.transact(async (tx) => {
        if (changes.version_id !== undefined) await checkVersion(tx, application, changes.version_id);
        if (changes.version_id !== undefined || configuration)
          await checkOptions(
            tx,
            caller,
            { ...instance, ...changes },
            (configuration ?? before).options,
            hidden,
          );
        await checkSecrets(tx, application, changes.secrets_collection_id);
        return orThrow(await updateInstance(tx, instance, changes), () => missing(application, instance.id));
      });
      return { status: 200, body: await shownTo(caller, application, changed) };
    },

    async deleteInstance({ caller, params }) {
      const { application, instance } = await find(caller, params);
      await database.transact(async (tx) => {
        const held = await lockApplication(tx, application);
        if (held.default_instance === instance.id) {
          throw badRequest(
            `The instance ${quoteValue(instance.id)} is the default instance of the application; set default_instance to another or to "latest" first.`,
          );
        }
        if (held.default_experiment_instance === instance.id)
          await updateApplication(tx, held.uid, { default_experiment_instance: '' });
        await deleteInstance(tx, instance);
      });
      return { status: 204 };
    },
  };
}

function instanceBody(
  application: ApplicationsTable,
  row: InstancesTable,
  { hiddenOptions: hidden, isDeleted }: VersionInfo,
): Instance {
  const configuration = JSON.parse(row.configuration) as RequestedConfiguration;
  return {
    id: row.id,
    application_id: application.id,
    version_id: row.version_id,
    ...(isDeleted ? { version_deleted: true } : {}),
    name: row.name,
    description: row.description,
    configuration: completeConfiguration(omitHiddenOptions(configuration, hidden)),
    locked: false,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
  };
}

function latestBody(application: ApplicationsTable, id: InstanceId): Instance {
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
