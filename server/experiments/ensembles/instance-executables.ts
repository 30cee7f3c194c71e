/** The executables that the instances of an ensemble run now, and the options they declare. */
import type { Role } from '@switchyard/contract/roles.ts';
import type { RunGroup } from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { ApplicationsTable, ExecutablesTable } from '../../apps/applications/schema.ts';
import {
  type DeclaredOptions,
  isReservedInstanceId,
  NO_DECLARED_OPTIONS,
  readDeclaredOptions,
} from '../../apps/instances/rules.ts';
import { findInstance } from '../../apps/instances/store.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import { resolveInstance } from '../../runs/submit/resolve-instance.ts';

/**
 * Returns the options that the app of each run group declares, by instance. Throws a 400 for a missing instance. An
 * instance that cannot run declares nothing: the start of an ensemble run checks it.
 */
export async function readDeclaredByInstance(
  db: Reader,
  application: ApplicationsTable,
  groups: readonly Pick<RunGroup, 'instance_id'>[],
  role: Role,
): Promise<Map<string, DeclaredOptions>> {
  const declared = new Map<string, DeclaredOptions>();
  for (const [index, { instance_id }] of groups.entries()) {
    if (declared.has(instance_id)) continue;
    if (!isReservedInstanceId(instance_id) && !(await findInstance(db, application.uid, instance_id)))
      throw badRequest(
        `run_groups.${index}.instance_id is ${quoteValue(instance_id)}; it must be an instance of the application ${quoteValue(application.id)}, or latest.`,
      );
    const executable = await findInstanceExecutable(db, application, instance_id);
    declared.set(instance_id, executable ? readDeclaredOptions(executable, role) : NO_DECLARED_OPTIONS);
  }
  return declared;
}

/** Returns the executable that the instance runs now; null for an instance that cannot run. */
export async function findInstanceExecutable(
  db: Reader,
  application: ApplicationsTable,
  instanceId: string,
): Promise<ExecutablesTable | null> {
  try {
    return (await resolveInstance(db, application, instanceId)).executable;
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}
