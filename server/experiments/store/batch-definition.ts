/** The `definition` column of a batch experiment. Pure. */
import type { Objective } from '@switchyard/contract/experiments/experiment-results.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { type AcceptanceSide, isSameInstance } from './acceptance-definition.ts';
import type { ExperimentsTable } from './schema.ts';

/**
 * The values that come first in the results, for each property of a run. Other values follow in the order of the runs. The
 * first group is the control.
 */
export type GroupOrder = Readonly<
  Record<'instances' | 'versions' | 'option_sets' | 'scenarios' | 'inputs', readonly string[]>
>;

/** The `definition` of a batch experiment: what all its runs have in common. */
export interface BatchDefinition {
  input_set_id: string;
  instance_ids: string[];
  option_sets: Record<string, Record<string, string>>;
  objectives: Record<string, Objective> | null;
  /** The order that the request gave, which the results keep. */
  order: GroupOrder;
  /** The version that each instance had when the experiment was made. */
  versions: Record<string, string>;
  /** By option, the roles that may not see it. */
  hidden: Record<string, Role[]>;
}

export function parseBatchDefinition({ definition }: Pick<ExperimentsTable, 'definition'>): BatchDefinition {
  return JSON.parse(definition) as BatchDefinition;
}

/** The definition with the runs of the control first, so that everything else is compared with them. */
export function orderControlFirst(
  definition: BatchDefinition,
  { instance_id, version_id }: AcceptanceSide,
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
      versions:
        version_id === ''
          ? order.versions
          : [version_id, ...order.versions.filter((id) => id !== version_id)],
    },
  };
}
