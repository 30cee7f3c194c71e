/** Uses that prevent the deletion of a version: instances in use, and started experiments. */
import { EXPERIMENTS, RUN_OWNER_KINDS } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { describeLock } from '../../apps/instances/instance-lock.ts';
import { findLockedInstance, listInstancesOfVersion } from '../../apps/instances/store.ts';
import { findPublishedVersion } from '../../apps/marketplace/store.ts';
import { listReferences } from '../../experiments/store/experiment-references.ts';
import { listStartedExperiments } from '../../experiments/store/experiments.ts';
import type { Writer } from '../../platform/database/database.ts';
import { quoteValue } from '../../platform/http/errors/problem.ts';
import { findPlannedInstanceOfVersion } from '../../runs/store/planned-runs.ts';
import { findUnfinishedRunOfVersion } from '../../runs/store/runs.ts';

/**
 * Returns the message for a version that cannot be deleted, with its user and the remedy; null when it can. An instance
 * without runs and experiments does not prevent the deletion. The caller has locked the application, so no new use begins.
 */
export async function describeVersionUse(
  tx: Writer,
  application: ApplicationsTable,
  version: VersionId,
): Promise<string | null> {
  const { uid } = application;
  const published = await findPublishedVersion(tx, uid, version);
  if (published)
    return `The version ${quoteValue(version)} is published in the marketplace, as version ${quoteValue(published.id)} of ${quoteValue(published.subscription_id)}; it stays as long as the application.`;
  const lockedInstance = await findLockedInstance(tx, uid, version);
  if (lockedInstance)
    return `The version ${quoteValue(version)} cannot be deleted. ${describeLock(lockedInstance)}`;
  const instances = new Set<string>(await listInstancesOfVersion(tx, uid, version));
  const describeUse = (instance: string, how: string): string =>
    `The version ${quoteValue(version)} is used by the instance ${quoteValue(instance)}, which ${how}`;
  if (instances.has(application.default_instance))
    return describeUse(
      application.default_instance,
      'is the default instance of the application; set default_instance to another or to "latest" first.',
    );
  for (const experiment of await listStartedExperiments(tx, RUN_OWNER_KINDS, uid)) {
    const references = listReferences(experiment);
    const test = `the ${EXPERIMENTS[experiment.type].noun} ${quoteValue(experiment.id)}`;
    const instance = references.instances.find((id) => instances.has(id));
    if (instance !== undefined)
      return describeUse(instance, `takes part in ${test}, which has started; end that first.`);
    if (references.versions.includes(version))
      return `The version ${quoteValue(version)} is used by ${test}, which has started; end that first.`;
  }
  if (instances.size === 0) return null;
  const run = await findUnfinishedRunOfVersion(tx, uid, version);
  if (run)
    return describeUse(
      run.instance_id,
      `has the ${run.status} run ${quoteValue(run.id)}; cancel it, or wait for its end.`,
    );
  const planned = await findPlannedInstanceOfVersion(tx, uid, version);
  return planned === undefined
    ? null
    : describeUse(planned, 'has runs that are still to be submitted; wait for their end.');
}
