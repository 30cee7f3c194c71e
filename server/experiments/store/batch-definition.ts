/** The `definition` column of a batch experiment. Pure. */
import { ROLES } from '@switchyard/contract/roles.ts';
import Type, { type Static } from 'typebox';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { RacePlan } from '../statistics/racing/race-plan.ts';
import { type AcceptanceSide, isSameInstance } from './acceptance-definition.ts';
import { ComparisonSettings, RunSettings } from './comparison-settings.ts';

const Names = Type.Unsafe<readonly string[]>(Type.Array(Type.String()));

/**
 * The order of groups in the results: the values that come first, for each property of a run. Other values follow in the
 * order of the runs. The first group is the control.
 */
const GroupOrder = Type.Object({
  instances: Names,
  versions: Names,
  option_sets: Names,
  scenarios: Names,
  inputs: Names,
  /** Absent in an experiment without ensembles; an empty id stands for the runs of instances and versions. */
  ensembles: Type.Optional(Names),
});
export type GroupOrder = Readonly<Static<typeof GroupOrder>>;

/** The `definition` of a batch experiment: what all its runs have in common. */
const BatchDefinition = Type.Object({
  ...ComparisonSettings.properties,
  ...RunSettings.properties,
  input_set_id: Type.String(),
  instance_ids: Type.Array(Type.String()),
  option_sets: Type.Record(Type.String(), Type.Record(Type.String(), Type.String())),
  /** The order of the request, which the results keep. */
  order: GroupOrder,
  /** The version that each instance had at the creation of the experiment. */
  versions: Type.Record(Type.String(), Type.String()),
  /** The instances of the run groups of its ensembles; absent without any. */
  ensemble_instances: Type.Optional(Type.Array(Type.String())),
  /** The roles from which each option is hidden. */
  hidden: Type.Record(Type.String(), Type.Array(Type.Enum([...ROLES]))),
  /** The seeds by repetition, and the option that gets them. */
  seeds: Type.Optional(Type.Array(Type.String())),
  seed_option: Type.Optional(Type.String()),
  run_order: Type.Object({ design: Type.Literal('randomized-blocks'), seed: Type.String() }),
  /** The race of a scenario test. */
  racing: Type.Optional(RacePlan),
  /** True when the inputs are those of the runs of a period, in its order. Absent otherwise. */
  inputs_in_time_order: Type.Optional(Type.Boolean()),
  /** Reasons why the plan cannot give some verdicts. */
  warnings: Type.Optional(Type.Array(Type.String())),
});
export type BatchDefinition = Static<typeof BatchDefinition>;

export const parseBatchDefinition = parseColumn('experiments', 'uid', 'definition', BatchDefinition);

/** Returns the definition with the runs of the control first, so that every other group is compared with them. */
export function orderControlFirst(
  definition: BatchDefinition,
  { instance_id, version_id, ensemble_id }: AcceptanceSide,
): BatchDefinition {
  const { order } = definition;
  const first = <Name>(names: readonly Name[], isFirst: (name: Name) => boolean): Name[] => [
    ...names.filter(isFirst),
    ...names.filter((name) => !isFirst(name)),
  ];
  return {
    ...definition,
    order: {
      ...order,
      instances: first(order.instances, (id) => isSameInstance(id, instance_id)),
      ...(order.ensembles ? { ensembles: first(order.ensembles, (id) => id === (ensemble_id ?? '')) } : {}),
      versions:
        version_id === ''
          ? order.versions
          : [version_id, ...order.versions.filter((id) => id !== version_id)],
    },
  };
}
