/** Resolves an instance id to its version and executable, with the configuration of the instance. */
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import type { ExecutableId, InstanceId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { parseRequirements } from '../../apps/applications/executable.ts';
import { findExecutable } from '../../apps/applications/executables-store.ts';
import type { ApplicationsTable, ExecutablesTable } from '../../apps/applications/schema.ts';
import { parseConfiguration, type RequestedConfiguration } from '../../apps/instances/rules.ts';
import { findInstance } from '../../apps/instances/store.ts';
import { findVersion } from '../../apps/versions/store.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, notFound, quoteValue, reportMissing } from '../../platform/http/errors/problem.ts';

/** The executable id of a run without one: an ensemble run, or an external run of an application without an executable. */
export const NO_EXECUTABLE = '' as ExecutableId;

/** The instance, version and executable of a run. */
export interface RunTarget {
  instanceId: string;
  /** Empty for `latest`. */
  versionId: VersionId | '';
  executableId: ExecutableId;
  /** Absent for a run without an executable. */
  executable?: ExecutablesTable;
  requirements: ReturnType<typeof parseRequirements> | null;
  configuration: RequestedConfiguration;
}

export interface ExecutableTarget extends RunTarget {
  executable: ExecutablesTable;
  requirements: ReturnType<typeof parseRequirements>;
}

/**
 * Resolves the instance id of a request; absent, empty or `default` is the default instance of the application. Throws a
 * 404 for a missing instance, and a 400 for one without a version or executable.
 */
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
    return loadTarget(db, {
      instanceId: id,
      versionId: '',
      executableId: application.active_executable_id,
      configuration: {},
    });
  }
  const instance = await findInstance(db, application.uid, id as InstanceId);
  if (!instance) {
    if (usesDefault(instanceId))
      throw badRequest(
        `The default instance ${quoteValue(id)} of the application ${quoteValue(application.id)} does not exist; set default_instance.`,
      );
    throw reportMissing('instance', id, application);
  }
  const version = await findVersion(db, application.uid, instance.version_id);
  if (!version)
    throw badRequest(
      `The version ${quoteValue(instance.version_id)} of the instance ${quoteValue(id)} was deleted; give the instance another version.`,
    );
  return loadTarget(db, {
    instanceId: id,
    versionId: version.id,
    executableId: version.executable_id,
    configuration: parseConfiguration(instance),
  });
}

/**
 * Resolves the instance and version of a planned run. A version overrides that of the instance. A version without an
 * instance has an empty configuration. Throws a 4xx when either does not exist.
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
  return loadTarget(db, {
    instanceId,
    versionId: version.id,
    executableId: version.executable_id,
    configuration,
  });
}

/** Resolves the instance of a run that is executed elsewhere; its application may have no executable. Throws a 4xx as above. */
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

/** Returns the id of the instance that a request means. */
export function resolveInstanceId(application: ApplicationsTable, instanceId: string | undefined): string {
  return usesDefault(instanceId) ? application.default_instance || 'latest' : instanceId;
}

async function loadTarget(
  db: Reader,
  target: Omit<ExecutableTarget, 'executable' | 'requirements'>,
): Promise<ExecutableTarget> {
  const executable = await findExecutable(db, target.executableId);
  if (!executable)
    throw notFound(
      `The executable ${quoteValue(target.executableId)} was removed after a push replaced it. Send the request again.`,
    );
  return { ...target, executable, requirements: parseRequirements(executable) };
}
