/** What an acceptance test compares, and which runs belong to each side. Pure; threads load it. */

import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import type { InstanceId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { Metric } from '../statistics/acceptance-metrics.ts';

/** One side of a test: runs of an instance, and of one version where it names one. */
export interface AcceptanceSide {
  instance_id: InstanceId;
  /** Empty: whatever version the instance had. */
  version_id: VersionId;
}

/** What a test decides, as it is kept. */
export interface AcceptanceDefinition {
  control: AcceptanceSide;
  candidate: AcceptanceSide;
  metrics: Metric[];
}

/** Whether a run of this instance and version belongs to the side. `latest` has two names. */
export function belongsToSide(
  side: AcceptanceSide,
  run: { instance_id: string; version_id: string },
): boolean {
  return (
    isSameInstance(side.instance_id, run.instance_id) &&
    (side.version_id === '' || side.version_id === run.version_id)
  );
}

export function isSameInstance(one: string, other: string): boolean {
  return one === other || (isLatest(one) && isLatest(other));
}
