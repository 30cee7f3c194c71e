/** What keeps a version from being deleted: instances that work with it, and experiments that run it. */
import type { VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import type { Writer } from '../database/database.ts';
import { listReferences } from '../experiments/store/experiment-references.ts';
import { listStartedExperiments } from '../experiments/store/experiments.ts';
import { quoteValue } from '../http/errors/problem.ts';
import { listInstancesOfVersion } from '../instances/store.ts';
import { findPlannedInstanceOfVersion } from '../runs/store/planned-runs.ts';
import { findUnfinishedRunOfVersion } from '../runs/store/runs.ts';

/**
 * Why the version cannot be deleted, as a sentence that says by whom it is used and what to do; null when it can. An
 * instance that is in use by nothing does not keep it. The application is locked: nothing begins to use the version.
 */
export async function describeVersionUse(
  tx: Writer,
  application: ApplicationsTable,
  version: VersionId,
): Promise<string | null> {
  const { uid } = application;
  const instances = new Set<string>(await listInstancesOfVersion(tx, uid, version));
  const used = (instance: string, how: string): string =>
    `The version ${quoteValue(version)} is used by the instance ${quoteValue(instance)}, which ${how}`;
  if (instances.has(application.default_instance))
    return used(
      application.default_instance,
      'is the default instance of the application; set default_instance to another or to "latest" first.',
    );
  for (const experiment of await listStartedExperiments(tx, ['batch', 'shadow', 'switchback'], uid)) {
    const places = listReferences(experiment);
    const test = `the ${experiment.type} ${experiment.kind === 'batch' ? 'experiment' : 'test'} ${quoteValue(experiment.id)}`;
    const instance = places.instances.find((id) => instances.has(id));
    if (instance !== undefined)
      return used(instance, `takes part in ${test}, which has started; end that first.`);
    if (places.versions.includes(version))
      return `The version ${quoteValue(version)} is used by ${test}, which has started; end that first.`;
  }
  if (instances.size === 0) return null;
  const run = await findUnfinishedRunOfVersion(tx, uid, version);
  if (run)
    return used(
      run.instance_id,
      `has the ${run.status} run ${quoteValue(run.id)}; cancel it, or wait for its end.`,
    );
  const planned = await findPlannedInstanceOfVersion(tx, uid, version);
  return planned === undefined
    ? null
    : used(planned, 'has runs that are still to be submitted; wait for their end.');
}
