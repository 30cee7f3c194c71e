/** The `definition` column of an acceptance test, and which runs belong to each side. Pure, because worker threads load it. */

import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import {
  type EnsembleId,
  type InstanceId,
  idSchema,
  type VersionId,
} from '@switchyard/contract/schemas/ids.ts';
import Type, { type Static } from 'typebox';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { Metric } from '../statistics/acceptance-metrics.ts';

/** One side of a test: the runs of an instance, of one of its versions, or of an ensemble. */
const AcceptanceSide = Type.Object({
  instance_id: idSchema<InstanceId>('The instance; empty for an ensemble.'),
  /** Empty for runs of every version. */
  version_id: idSchema<VersionId>('The version.'),
  /** Absent for an instance. */
  ensemble_id: Type.Optional(idSchema<EnsembleId>('The ensemble.')),
});
export type AcceptanceSide = Static<typeof AcceptanceSide>;

/** The sides and rules of a test, as the table stores them in JSON. */
const AcceptanceDefinition = Type.Object({
  control: AcceptanceSide,
  candidate: AcceptanceSide,
  metrics: Type.Array(Metric),
  /** Largest share of the inputs that the candidate may lose. Absent: none. */
  failure_margin: Type.Optional(Type.Number()),
  /** True when the test was created before the first run of its batch ended. */
  rules_before_results: Type.Boolean(),
  /** True when one request created the test and its batch. */
  created_batch: Type.Boolean(),
});
export type AcceptanceDefinition = Static<typeof AcceptanceDefinition>;

export const parseAcceptanceDefinition = parseColumn(
  'acceptance_tests',
  'uid',
  'definition',
  AcceptanceDefinition,
);

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
