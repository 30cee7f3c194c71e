/** From an instance id to what will run: instance → version → executable, with the configuration that holds. */
import type { ExecutableId, InstanceId, VersionId } from '@switchyard/contract/ids.ts';
import { requirementsOf } from '../applications/executable.ts';
import type { ApplicationsTable, ExecutablesTable } from '../applications/schema.ts';
import { findExecutable } from '../applications/store.ts';
import type { Reader } from '../database/database.ts';
import { badRequest, notFound, shown } from '../http/problem.ts';
import { type GivenConfiguration, isLatest } from '../instances/rules.ts';
import { findInstance } from '../instances/store.ts';
import { findVersion } from '../versions/store.ts';

export interface Resolved {
  instanceId: string;
  /** Empty for `latest`. */
  versionId: VersionId | '';
  executable: ExecutablesTable;
  requirements: ReturnType<typeof requirementsOf>;
  configuration: GivenConfiguration;
}

/** `instanceId` as the request has it; absent, empty or `default` is the default instance of the application. */
export async function resolveInstance(
  db: Reader,
  application: ApplicationsTable,
  instanceId: string | undefined,
): Promise<Resolved> {
  const usesDefault = instanceId === undefined || instanceId === '' || instanceId === 'default';
  const id = usesDefault ? application.default_instance || 'latest' : instanceId;
  if (isLatest(id)) {
    if (application.active_executable_id === null) {
      throw badRequest(`The application ${shown(application.id)} has no executable yet; push one first.`);
    }
    return made(db, id, '', application.active_executable_id, {});
  }
  const instance = await findInstance(db, application.uid, id as InstanceId);
  if (!instance) {
    if (usesDefault)
      throw badRequest(
        `The default instance ${shown(id)} of the application ${shown(application.id)} does not exist; set default_instance.`,
      );
    throw notFound(`There is no instance ${shown(id)} of application ${shown(application.id)}.`);
  }
  const version = await findVersion(db, application.uid, instance.version_id);
  if (!version)
    throw badRequest(
      `The version ${shown(instance.version_id)} of the instance ${shown(id)} does not exist; give the instance another.`,
    );
  return made(
    db,
    id,
    version.id,
    version.executable_id,
    JSON.parse(instance.configuration) as GivenConfiguration,
  );
}

async function made(
  db: Reader,
  instanceId: string,
  versionId: VersionId | '',
  executableId: ExecutableId,
  configuration: GivenConfiguration,
): Promise<Resolved> {
  const executable = await findExecutable(db, executableId);
  if (!executable) throw notFound(`The executable ${shown(executableId)} is gone.`);
  return { instanceId, versionId, executable, requirements: requirementsOf(executable), configuration };
}
