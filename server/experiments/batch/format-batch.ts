/** Formats the response body of a batch experiment, without its results. */
import type { BatchExperimentInfo } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { ExperimentCounts } from '../../runs/store/experiment-runs.ts';
import { formatRunSettings } from '../operations/build-run-plan.ts';
import { formatExperiment, formatProgress } from '../operations/format-experiment.ts';
import { formatRace } from '../racing/format-race.ts';
import { type BatchDefinition, parseBatchDefinition } from '../store/batch-definition.ts';
import type { ExperimentsTable } from '../store/schema.ts';

/** Returns the experiment without the options that are hidden from the role. */
export function formatBatch(
  experiment: ExperimentsTable,
  counts: ExperimentCounts,
  role: Role,
): BatchExperimentInfo {
  const { input_set_id, instance_ids, option_sets, objectives, primary, guardrails, hidden, ...plan } =
    parseBatchDefinition(experiment);
  const isHidden = (name: string): boolean =>
    Object.hasOwn(hidden, name) && (hidden[name]?.includes(role) ?? false);
  const omitHidden = (options: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(options).filter(([name]) => !isHidden(name)));
  return {
    ...formatExperiment(experiment),
    type: experiment.type === 'scenario' ? 'scenario' : 'batch',
    input_set_id,
    instance_ids,
    option_sets: Object.fromEntries(
      Object.entries(option_sets).map(([key, options]) => [key, omitHidden(options)]),
    ),
    ...formatSeeds(plan, isHidden(plan.seed_option ?? '')),
    run_order: plan.run_order,
    ...(objectives === null ? {} : { objectives }),
    ...(primary === undefined ? {} : { primary }),
    ...(guardrails === undefined ? {} : { guardrails }),
    ...(plan.cluster_by === undefined ? {} : { cluster_by: plan.cluster_by }),
    ...(plan.features === undefined ? {} : { features: plan.features }),
    ...(plan.racing === undefined ? {} : { racing: formatRace(plan.racing) }),
    ...formatRunSettings(plan),
    ...(plan.warnings === undefined ? {} : { warnings: plan.warnings }),
    ...(experiment.completed_at === null ? {} : { completed_at: formatRfc3339(experiment.completed_at) }),
    ...formatProgress(experiment, counts),
  };
}

/** Returns the seeds, unless their option is hidden from the role. */
function formatSeeds(
  { seeds, seed_option }: Pick<BatchDefinition, 'seeds' | 'seed_option'>,
  isHidden: boolean,
): Pick<BatchExperimentInfo, 'seeds' | 'seed_option'> {
  return seeds === undefined || seed_option === undefined || isHidden ? {} : { seeds, seed_option };
}
