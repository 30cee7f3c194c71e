/** What is kept of a batch experiment beside its row, and how it is shown. Pure. */
import type { BatchExperimentInfo } from '@switchyard/contract/batch-experiments.ts';
import type { Objective } from '@switchyard/contract/experiment-results.ts';
import type { RequestedRun } from '@switchyard/contract/experiment-runs.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { rfc3339 } from '../clock.ts';
import type { Question } from './analyse.ts';
import type { WantedRun } from './batch-rules.ts';
import { type Counts, progressBody, shownBody } from './bodies.ts';
import type { ExperimentsTable } from './schema.ts';

/** The `definition` of a batch experiment. Runs that were named one by one are kept apart, because they can be many. */
export interface BatchDefinition {
  input_set_id: string;
  instance_ids: string[];
  option_sets: Record<string, Record<string, string>>;
  objectives: Record<string, Objective> | null;
  /** How often each run of `instance_ids` is wanted; null when the runs were named one by one. */
  repetitions: number | null;
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

export function infoBody(experiment: ExperimentsTable, counts: Counts, role: Role): BatchExperimentInfo {
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

/** A wanted run as it is shown. */
export function requestedBody(run: WantedRun): RequestedRun {
  return {
    instance_id: run.instance_id,
    version_id: run.version_id,
    input_id: run.input_id,
    input_set_id: run.input_set_id,
    ...(run.option_set === null ? {} : { option_set: run.option_set }),
    ...(run.scenario_id === null ? {} : { scenario_id: run.scenario_id }),
    repetition: run.repetition,
  };
}

/** The runs of an experiment whose runs were not named one by one, in the order in which they were planned. */
export function plannedBodies({ order, ...definition }: BatchDefinition): RequestedRun[] {
  const sets = Object.keys(definition.option_sets);
  const options = sets.length === 0 ? [null] : order.option_sets;
  const repetitions = Array.from({ length: definition.repetitions ?? 1 }, (_, index) => index);
  return order.instances.flatMap((instance_id) =>
    options.flatMap((option_set) =>
      order.inputs.flatMap((input_id) =>
        repetitions.map((repetition) =>
          requestedBody({
            instance_id,
            version_id: '',
            option_set,
            input_set_id: definition.input_set_id,
            input_id,
            scenario_id: null,
            repetition,
          }),
        ),
      ),
    ),
  );
}
