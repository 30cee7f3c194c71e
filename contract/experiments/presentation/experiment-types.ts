/** The types of experiments, as addresses and people name them. */

export const EXPERIMENT_TYPES = [
  'batch',
  'scenario',
  'acceptance',
  'shadow',
  'switchback',
  'bisect',
] as const;
export type ExperimentType = (typeof EXPERIMENT_TYPES)[number];

/** Name and purpose of each type. */
export const TYPE_TEXTS: Record<ExperimentType, { label: string; purpose: string }> = {
  batch: { label: 'Batch', purpose: 'Compare instances on the same inputs.' },
  scenario: { label: 'Scenario', purpose: 'Find the best of several option sets on the same inputs.' },
  acceptance: { label: 'Acceptance', purpose: 'Decide by fixed rules whether a candidate may go live.' },
  shadow: { label: 'Shadow', purpose: 'Copy live runs to a candidate; callers notice nothing.' },
  switchback: { label: 'Switchback', purpose: 'Let a candidate serve live runs in random time slices.' },
  bisect: { label: 'Bisect', purpose: 'Find the version that made an indicator worse.' },
};

/** Returns whether the server plans the runs. A live test has as many runs as callers request, so no share of it is done. */
export function hasPlannedRuns(type: ExperimentType): boolean {
  return type !== 'shadow' && type !== 'switchback';
}

/** The counts of runs in experiments and their lists. An acceptance test has none: its batch has the runs. */
export interface ExperimentCounts {
  number_of_requested_runs?: number;
  number_of_runs?: number;
  number_of_completed_runs?: number;
  number_of_failed_runs?: number;
}

/** Returns the number of runs of an experiment: the created ones, or before those exist the requested ones. */
export function countRuns({ number_of_runs, number_of_requested_runs }: ExperimentCounts): number {
  return number_of_runs || number_of_requested_runs || 0;
}

/** Returns the type that the text names, or undefined. */
export function parseExperimentType(text: unknown): ExperimentType | undefined {
  return EXPERIMENT_TYPES.find((type) => type === text);
}
