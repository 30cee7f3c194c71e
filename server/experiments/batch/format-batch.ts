/** Formats the response body of a batch experiment, without its results. */
import type { BatchExperimentInfo } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { formatRfc3339 } from '../../clock.ts';
import type { ExperimentCounts } from '../../runs/store/experiment-runs.ts';
import { formatExperiment, formatProgress } from '../operations/format-experiment.ts';
import { parseBatchDefinition } from '../store/batch-definition.ts';
import type { ExperimentsTable } from '../store/schema.ts';

/** Returns the experiment without the options that are hidden from the role. */
export function formatBatch(
  experiment: ExperimentsTable,
  counts: ExperimentCounts,
  role: Role,
): BatchExperimentInfo {
  const { input_set_id, instance_ids, option_sets, objectives, primary, guardrails, hidden } =
    parseBatchDefinition(experiment);
  const omitHidden = (options: Record<string, string>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(options).filter(
        ([name]) => !(Object.hasOwn(hidden, name) && hidden[name]?.includes(role)),
      ),
    );
  return {
    ...formatExperiment(experiment),
    type: experiment.type === 'scenario' ? 'scenario' : 'batch',
    input_set_id,
    instance_ids,
    option_sets: Object.fromEntries(
      Object.entries(option_sets).map(([key, options]) => [key, omitHidden(options)]),
    ),
    ...(objectives === null ? {} : { objectives }),
    ...(primary === undefined ? {} : { primary }),
    ...(guardrails === undefined ? {} : { guardrails }),
    ...(experiment.completed_at === null ? {} : { completed_at: formatRfc3339(experiment.completed_at) }),
    ...formatProgress(experiment, counts),
  };
}
