/** The `definition` column of an acceptance test, and which runs belong to each side. Pure, because worker threads load it. */

import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import type { EnsembleId, InstanceId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { Metric } from '../statistics/acceptance-metrics.ts';

/** One side of a test: the runs of an instance, of one of its versions, or of an ensemble. */
export interface AcceptanceSide {
  instance_id: InstanceId;
  /** Empty for runs of every version. */
  version_id: VersionId;
  /** Absent for an instance, whose id is empty for an ensemble. */
  ensemble_id?: EnsembleId;
}

/** The sides and rules of a test, as the table stores them in JSON. */
export interface AcceptanceDefinition {
  control: AcceptanceSide;
  candidate: AcceptanceSide;
  metrics: Metric[];
  /** Largest share of the inputs that the candidate may lose. Absent: none. */
  failure_margin?: number;
  /** True when the test was created before the first run of its batch ended. Absent in tests of older releases. */
  rules_before_results?: boolean;
}

/** Parses the definition column of an acceptance test. */
export function parseAcceptanceDefinition({ definition }: { definition: string }): AcceptanceDefinition {
  return JSON.parse(definition) as AcceptanceDefinition;
}

/** Returns true when a run of this instance and version, or of this ensemble, belongs to the side. */
export function belongsToSide(
  side: AcceptanceSide,
  run: { instance_id: string; version_id: string; ensemble_id?: string },
): boolean {
  return (
    (side.ensemble_id ?? '') === (run.ensemble_id ?? '') &&
    isSameInstance(side.instance_id, run.instance_id) &&
    (side.version_id === '' || side.version_id === run.version_id)
  );
}

/** Names the instance or the ensemble of a side in a sentence. */
export function describeSide({ instance_id, ensemble_id }: AcceptanceSide): string {
  return ensemble_id === undefined
    ? `instance ${JSON.stringify(instance_id)}`
    : `ensemble ${JSON.stringify(ensemble_id)}`;
}

/** Returns true for equal ids, and for the two ids of the latest instance. */
export function isSameInstance(one: string, other: string): boolean {
  return one === other || (isLatest(one) && isLatest(other));
}
