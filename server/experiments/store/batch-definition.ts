/** The `definition` column of a batch experiment. Pure. */
import type { Role } from '@switchyard/contract/roles.ts';
import type { RacePlan } from '../statistics/racing/race-plan.ts';
import { type AcceptanceSide, isSameInstance } from './acceptance-definition.ts';
import type { ComparisonSettings } from './comparison-settings.ts';
import type { ExperimentsTable } from './schema.ts';

/**
 * The order of groups in the results: the values that come first, for each property of a run. Other values follow in the
 * order of the runs. The first group is the control.
 */
export type GroupOrder = Readonly<
  Record<'instances' | 'versions' | 'option_sets' | 'scenarios' | 'inputs', readonly string[]>
> & {
  /** Absent in an experiment without ensembles; an empty id stands for the runs of instances and versions. */
  readonly ensembles?: readonly string[];
};

/** The `definition` of a batch experiment: what all its runs have in common. */
export interface BatchDefinition extends ComparisonSettings {
  input_set_id: string;
  instance_ids: string[];
  option_sets: Record<string, Record<string, string>>;
  /** The order of the request, which the results keep. */
  order: GroupOrder;
  /** The version that each instance had at the creation of the experiment. */
  versions: Record<string, string>;
  /** The instances of the run groups of its ensembles; absent without any. */
  ensemble_instances?: string[];
  /** The roles from which each option is hidden. */
  hidden: Record<string, Role[]>;
  /** The seeds by repetition, and the option that gets them. */
  seeds?: string[];
  seed_option?: string;
  /** Absent in an experiment of an older release, which ran all runs of the control first. */
  run_order?: { design: 'randomized-blocks'; seed: string };
  /** The race of a scenario test. */
  racing?: RacePlan;
  /** True when the inputs are those of the runs of a period, in its order. Absent otherwise, and in an older release. */
  inputs_in_time_order?: boolean;
  /** Reasons why the plan cannot give some verdicts. */
  warnings?: string[];
}

/** Parses the definition column of a batch experiment. */
export function parseBatchDefinition({ definition }: Pick<ExperimentsTable, 'definition'>): BatchDefinition {
  return JSON.parse(definition) as BatchDefinition;
}

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
