/** The operations on instances. */
import type { ApplicationId, InstanceId, SecretsCollectionId, VersionId } from '@switchyard/contract/ids.ts';
import type { Instance } from '@switchyard/contract/instances.ts';
import { NAME_CHARS_MAX } from '@switchyard/contract/limits.ts';
import { isLatest } from '@switchyard/contract/reserved-instances.ts';
import { findExecutable } from '../applications/executables-store.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { getApplication, holdApplication, updateApplication } from '../applications/store.ts';
import { type Clock, rfc3339 } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import type { Caller, HandlersOf } from '../http/handler.ts';
import { answerList } from '../http/lists.ts';
import { checkName } from '../http/names.ts';
import type { PageTokens } from '../http/paging.ts';
import { badRequest, notFound, present, shown } from '../http/problem.ts';
import { makeId, type Random } from '../random.ts';
import { findVersion, holdVersion } from '../versions/store.ts';
import { lookUpVersions, type OfVersion, withHidden, withoutHidden } from './hidden.ts';
import {
  declaredOptions,
  fullConfiguration,
  type GivenConfiguration,
  isReserved,
  NO_DECLARED_OPTIONS,
  optionNameError,
  optionsError,
  secretsOf,
} from './rules.ts';
import type { InstancesTable } from './schema.ts';
import { deleteInstance, findInstance, insertInstance, listInstances, updateInstance } from './store.ts';

interface Parts {
  database: Database;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
  /** Whether the application has the secrets collection, which then stays until the transaction is over. */
  holdSecrets(tx: Writer, applicationUid: string, id: SecretsCollectionId): Promise<boolean>;
}

export function instanceHandlers(
  parts: Parts,
): HandlersOf<'createInstance' | 'listInstances' | 'getInstance' | 'updateInstance' | 'deleteInstance'> {
  const { database, pageTokens, clock, random } = parts;

  const missing = (application: ApplicationsTable, id: InstanceId) =>
    notFound(`There is no instance ${shown(id)} of application ${shown(application.id)}.`);
  const find = async (caller: Caller, params: { application_id: ApplicationId; instance_id: InstanceId }) => {
    const application = await getApplication(database.read, caller.account, params.application_id);
    if (isLatest(params.instance_id)) {
      throw badRequest(
        `The instance ${shown(params.instance_id)} always runs the executable pushed last; it cannot be changed or deleted.`,
      );
    }
    const instance = await findInstance(database.read, application.uid, params.instance_id);
    if (!instance) throw missing(application, params.instance_id);
    return { application, instance };
  };
  const checkVersion = async (tx: Writer, application: ApplicationsTable, id: VersionId): Promise<void> => {
    const wanted = { applicationUid: application.uid, id, change: false };
    if (await holdVersion(tx, wanted)) return;
    throw badRequest(
      `version_id is ${shown(id)}; it must be a version of the application ${shown(application.id)}.`,
    );
  };
  /** Refuses options that the executable of the version cannot be given; `hidden` must not be named to the caller either. */
  const checkOptions = async (
    tx: Writer,
    caller: Caller,
    instance: Pick<InstancesTable, 'id' | 'application_uid' | 'version_id'>,
    options: GivenConfiguration['options'],
    hidden: ReadonlySet<string>,
  ): Promise<void> => {
    const field = 'configuration.options';
    const broken = optionsError(options, field);
    if (broken) throw badRequest(broken);
    const version = await findVersion(tx, instance.application_uid, instance.version_id);
    const executable = version && (await findExecutable(tx, version.executable_id));
    const declared = executable ? declaredOptions(executable, caller.role) : NO_DECLARED_OPTIONS;
    const misnamed = optionNameError(Object.keys(options ?? {}), field, {
      names: declared.names,
      hidden: new Set([...declared.hidden, ...hidden]),
    });
    if (!misnamed) return;
    const { id, version_id } = instance;
    throw badRequest(
      executable
        ? `For the version ${shown(version_id)}: ${misnamed}`
        : `The version ${shown(version_id)} of the instance ${shown(id)} was deleted; give the instance another version. ${misnamed}`,
    );
  };
  const checkSecrets = async (
    tx: Writer,
    application: ApplicationsTable,
    id: SecretsCollectionId | null | undefined,
  ): Promise<void> => {
    if (!id || (await parts.holdSecrets(tx, application.uid, id))) return;
    throw badRequest(
      `configuration.secrets_collection_id is ${shown(id)}; it must be a secrets collection of the application ${shown(application.id)}.`,
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
      if (isReserved(id))
        throw badRequest(`id is ${shown(id)}, which every application has already; choose another.`);
      checkName(body.name, id);
      const now = clock.now();
      const row: InstancesTable = {
        application_uid: application.uid,
        id,
        version_id: body.version_id,
        name: body.name ?? `Instance ${id}`.slice(0, NAME_CHARS_MAX),
        description: body.description ?? '',
        configuration: JSON.stringify(body.configuration ?? {}),
        secrets_collection_id: secretsOf(body.configuration ?? {}),
        created_at: now,
        updated_at: now,
      };
      // Who makes it has named every option of it.
      const answer = {
        status: 201 as const,
        body: instanceBody(application, row, { hidden: new Set(), isDeleted: false }),
      };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await holdApplication(tx, application);
        await checkVersion(tx, application, row.version_id);
        await checkOptions(tx, caller, row, body.configuration?.options, new Set());
        await checkSecrets(tx, application, row.secrets_collection_id);
        if (!(await insertInstance(tx, row))) {
          throw badRequest(
            `id is ${shown(id)}, which another instance of the application has; choose another.`,
          );
        }
      });
      return answer;
    },

    async listInstances({ caller, params, query }) {
      const application = await getApplication(database.read, caller.account, params.application_id);
      return answerList(pageTokens, {
        list: `instances ${application.uid}`,
        query,
        rows: (page) => listInstances(database.read, application.uid, page),
        async bodies(rows) {
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
      checkName(body.name, instance.id);
      const { hidden } = await versionOf(caller, instance);
      const before = JSON.parse(instance.configuration) as GivenConfiguration;
      const configuration = body.configuration && withHidden(body.configuration, before, hidden);
      const changes = {
        ...(typeof body.name === 'string' ? { name: body.name } : {}),
        ...(typeof body.description === 'string' ? { description: body.description } : {}),
        ...(typeof body.version_id === 'string' ? { version_id: body.version_id } : {}),
        ...(configuration
          ? {
              configuration: JSON.stringify(configuration),
              secrets_collection_id: secretsOf(configuration),
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
        return present(await updateInstance(tx, instance, changes), () => missing(application, instance.id));
      });
      return { status: 200, body: await shownTo(caller, application, changed) };
    },

    async deleteInstance({ caller, params }) {
      const { application, instance } = await find(caller, params);
      await database.transact(async (tx) => {
        const held = await holdApplication(tx, application);
        if (held.default_instance === instance.id) {
          throw badRequest(
            `The instance ${shown(instance.id)} is the default instance of the application; set default_instance to another or to "latest" first.`,
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
  { hidden, isDeleted }: OfVersion,
): Instance {
  const configuration = JSON.parse(row.configuration) as GivenConfiguration;
  return {
    id: row.id,
    application_id: application.id,
    version_id: row.version_id,
    ...(isDeleted ? { version_deleted: true } : {}),
    name: row.name,
    description: row.description,
    configuration: fullConfiguration(withoutHidden(configuration, hidden)),
    locked: false,
    created_at: rfc3339(row.created_at),
    updated_at: rfc3339(row.updated_at),
  };
}

function latestBody(application: ApplicationsTable, id: InstanceId): Instance {
  return {
    id,
    application_id: application.id,
    version_id: '',
    name: 'Latest executable',
    description: 'Runs the executable pushed last.',
    configuration: fullConfiguration({}),
    locked: true,
    created_at: rfc3339(application.created_at),
    updated_at: rfc3339(application.updated_at),
  };
}
