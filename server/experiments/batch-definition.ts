/** What is kept of a batch experiment beside its row, and how it is shown. Pure. */
import type { BatchExperimentInfo } from '@switchyard/contract/batch-experiments.ts';
import type { Objective } from '@switchyard/contract/experiment-results.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { rfc3339 } from '../clock.ts';
import type { ExperimentCounts } from '../runs/experiment-runs.ts';
import { type AcceptanceSide, isSameInstance } from './acceptance-sides.ts';
import type { Question } from './analyse.ts';
import { progressBody, shownBody } from './bodies.ts';
import type { ExperimentsTable } from './schema.ts';

/** The `definition` of a batch experiment: what all its runs have in common. */
export interface BatchDefinition {
  input_set_id: string;
  instance_ids: string[];
  option_sets: Record<string, Record<string, string>>;
  objectives: Record<string, Objective> | null;
  /** What comes first in the answers, each in the order in which it was asked for. */
  order: Question['order'];
  /** The version that each instance had when the experiment was made. */
  versions: Record<string, string>;
  /** By option, the roles that may not see it. */
  hidden: Record<string, Role[]>;
}

export function definitionOf({ definition }: Pick<ExperimentsTable, 'definition'>): BatchDefinition {
  return JSON.parse(definition) as BatchDefinition;
}

/** What the experiment asks of its runs. */
export function questionOf(experiment: ExperimentsTable): Question {
  const { order, objectives } = definitionOf(experiment);
  return { order, objectives: objectives ?? {}, seed: experiment.id };
}

/** The definition with the runs of the control first, so that everything else is compared with them. */
export function withControlFirst(
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

export function infoBody(
  experiment: ExperimentsTable,
  counts: ExperimentCounts,
  role: Role,
): BatchExperimentInfo {
  const { input_set_id, instance_ids, option_sets, objectives, hidden } = definitionOf(experiment);
  const shownOptions = (options: Record<string, string>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(options).filter(
        ([name]) => !(Object.hasOwn(hidden, name) && hidden[name]?.includes(role)),
      ),
    );
  return {
    ...shownBody(experiment),
    type: experiment.type === 'scenario' ? 'scenario' : 'batch',
    input_set_id,
    instance_ids,
    option_sets: Object.fromEntries(
      Object.entries(option_sets).map(([key, options]) => [key, shownOptions(options)]),
    ),
    ...(objectives === null ? {} : { objectives }),
    ...(experiment.completed_at === null ? {} : { completed_at: rfc3339(experiment.completed_at) }),
    ...progressBody(experiment, counts),
  };
}
