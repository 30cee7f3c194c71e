/** From an instance id to what will run: instance → version → executable, with the configuration that holds. */

import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import type { ExecutableId, InstanceId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { parseRequirements } from '../../applications/executable.ts';
import { findExecutable } from '../../applications/executables-store.ts';
import type { ApplicationsTable, ExecutablesTable } from '../../applications/schema.ts';
import type { Reader } from '../../database/database.ts';
import { badRequest, notFound, quoteValue } from '../../http/errors/problem.ts';
import type { RequestedConfiguration } from '../../instances/rules.ts';
import { findInstance } from '../../instances/store.ts';
import { findVersion } from '../../versions/store.ts';

/** What a run has for an executable that executes none: that of an ensemble, an external one of an empty application. */
export const NO_EXECUTABLE = '' as ExecutableId;

/** What a run belongs to. */
export interface RunTarget {
  instanceId: string;
  /** Empty for `latest`. */
  versionId: VersionId | '';
  executableId: ExecutableId;
  /** Absent where there is nothing to execute. */
  executable?: ExecutablesTable;
  requirements: ReturnType<typeof parseRequirements> | null;
  configuration: RequestedConfiguration;
}

/** A place with something to execute. */
export interface ExecutableTarget extends RunTarget {
  executable: ExecutablesTable;
  requirements: ReturnType<typeof parseRequirements>;
}

/** `instanceId` as the request has it; absent, empty or `default` is the default instance of the application. */
export async function resolveInstance(
  db: Reader,
  application: ApplicationsTable,
  instanceId: string | undefined,
): Promise<ExecutableTarget> {
  const id = resolveInstanceId(application, instanceId);
  if (isLatest(id)) {
    if (application.active_executable_id === null) {
      throw badRequest(
        `The application ${quoteValue(application.id)} has no executable yet; push one first.`,
      );
    }
    return made(db, id, '', application.active_executable_id, {});
  }
  const instance = await findInstance(db, application.uid, id as InstanceId);
  if (!instance) {
    if (usesDefault(instanceId))
      throw badRequest(
        `The default instance ${quoteValue(id)} of the application ${quoteValue(application.id)} does not exist; set default_instance.`,
      );
    throw notFound(`There is no instance ${quoteValue(id)} of application ${quoteValue(application.id)}.`);
  }
  const version = await findVersion(db, application.uid, instance.version_id);
  if (!version)
    throw badRequest(
      `The version ${quoteValue(instance.version_id)} of the instance ${quoteValue(id)} was deleted; give the instance another version.`,
    );
  return made(
    db,
    id,
    version.id,
    version.executable_id,
    JSON.parse(instance.configuration) as RequestedConfiguration,
  );
}

/**
 * What a planned run will execute: the version in place of the one of the instance where it names one; the version alone,
 * with nothing configured, where it names no instance.
 */
export async function resolvePlannedRun(
  db: Reader,
  application: ApplicationsTable,
  instanceId: string,
  versionId: string,
): Promise<ExecutableTarget> {
  if (versionId === '') return resolveInstance(db, application, instanceId);
  const version = await findVersion(db, application.uid, versionId as VersionId);
  if (!version)
    throw badRequest(
      `There is no version ${quoteValue(versionId)} of application ${quoteValue(application.id)}.`,
    );
  const configuration =
    instanceId === '' ? {} : (await resolveInstance(db, application, instanceId)).configuration;
  return made(db, instanceId, version.id, version.executable_id, configuration);
}

/** The same for a run that is not executed here, whose application may have nothing to execute. */
export async function resolveTarget(
  db: Reader,
  application: ApplicationsTable,
  instanceId: string | undefined,
): Promise<RunTarget> {
  const id = resolveInstanceId(application, instanceId);
  if (!isLatest(id) || application.active_executable_id !== null)
    return resolveInstance(db, application, instanceId);
  return {
    instanceId: id,
    versionId: '',
    executableId: NO_EXECUTABLE,
    requirements: null,
    configuration: {},
  };
}

function usesDefault(instanceId: string | undefined): instanceId is undefined {
  return instanceId === undefined || instanceId === '' || instanceId === 'default';
}

/** The instance that a request means. */
export function resolveInstanceId(application: ApplicationsTable, instanceId: string | undefined): string {
  return usesDefault(instanceId) ? application.default_instance || 'latest' : instanceId;
}

async function made(
  db: Reader,
  instanceId: string,
  versionId: VersionId | '',
  executableId: ExecutableId,
  configuration: RequestedConfiguration,
): Promise<ExecutableTarget> {
  const executable = await findExecutable(db, executableId);
  if (!executable) throw notFound(`The executable ${quoteValue(executableId)} is gone.`);
  const requirements = parseRequirements(executable);
  return { instanceId, versionId, executableId, executable, requirements, configuration };
}
