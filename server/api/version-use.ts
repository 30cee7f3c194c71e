/** What keeps a version from being deleted: instances that work with it, and experiments that run it. */
import type { VersionId } from '@switchyard/contract/ids.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import type { Writer } from '../database/database.ts';
import { placesOf } from '../experiments/places.ts';
import { listStarted } from '../experiments/store.ts';
import { shown } from '../http/problem.ts';
import { listInstancesOfVersion } from '../instances/store.ts';
import { findPlannedInstanceOf } from '../runs/plan.ts';
import { findUnendedRunOf } from '../runs/store.ts';

/**
 * Why the version cannot be deleted, as a sentence that says by whom it is used and what to do; null when it can. An
 * instance that is in use by nothing does not keep it. The application is locked: nothing begins to use the version.
 */
export async function versionUse(
  tx: Writer,
  application: ApplicationsTable,
  version: VersionId,
): Promise<string | null> {
  const { uid } = application;
  const instances = new Set<string>(await listInstancesOfVersion(tx, uid, version));
  const used = (instance: string, how: string): string =>
    `The version ${shown(version)} is used by the instance ${shown(instance)}, which ${how}`;
  if (instances.has(application.default_instance))
    return used(
      application.default_instance,
      'is the default instance of the application; set default_instance to another or to "latest" first.',
    );
  for (const experiment of await listStarted(tx, ['batch', 'shadow', 'switchback'], uid)) {
    const places = placesOf(experiment);
    const test = `the ${experiment.type} ${experiment.kind === 'batch' ? 'experiment' : 'test'} ${shown(experiment.id)}`;
    const instance = places.instances.find((id) => instances.has(id));
    if (instance !== undefined)
      return used(instance, `takes part in ${test}, which has started; end that first.`);
    if (places.versions.includes(version))
      return `The version ${shown(version)} is used by ${test}, which has started; end that first.`;
  }
  if (instances.size === 0) return null;
  const run = await findUnendedRunOf(tx, uid, version);
  if (run)
    return used(
      run.instance_id,
      `has the ${run.status} run ${shown(run.id)}; cancel it, or wait for its end.`,
    );
  const planned = await findPlannedInstanceOf(tx, uid, version);
  return planned === undefined
    ? null
    : used(planned, 'has runs that are still to be submitted; wait for their end.');
}
