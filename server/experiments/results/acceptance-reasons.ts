/** Sentences about runs of an acceptance test that give no value: which side, how many, and why. Pure; threads load it. */
import type { RunFailure } from '../../runs/store/failures.ts';
import { findReportedValue, type Observation, toUsableNumber } from '../statistics/observations.ts';
import { type AcceptanceSide, belongsToSide } from '../store/acceptance-definition.ts';

export type SideName = 'control' | 'candidate';

/** A side with its runs and the errors of those that failed. */
export interface SideRuns {
  name: SideName;
  side: AcceptanceSide;
  runs: readonly Observation[];
  failures: readonly RunFailure[];
}

export function collectSideRuns(
  name: SideName,
  side: AcceptanceSide,
  runs: readonly Observation[],
  failures: readonly RunFailure[],
): SideRuns {
  return { name, side, runs, failures: failures.filter((failure) => belongsToSide(side, failure)) };
}

/** What the side lost: runs that failed, with the first error, and runs that were canceled. */
export function explainLostRuns(side: SideRuns): string[] {
  return [explainFailedRuns(side), explainCanceledRuns(side)].filter((sentence) => sentence !== null);
}

function explainCanceledRuns({ name, side, runs }: SideRuns): string | null {
  const canceled = runs.filter((run) => run.status === 'canceled').length;
  if (canceled === 0) return null;
  return `${formatShare(canceled, runs.length)} of the ${name} (instance ${JSON.stringify(side.instance_id)}) ${canceled === 1 ? 'was' : 'were'} canceled.`;
}

/** How many runs of the side failed, with the first error; null when none did. */
function explainFailedRuns({ name, side, runs, failures }: SideRuns): string | null {
  const failed = runs.filter((run) => run.status === 'failed').length;
  if (failed === 0) return null;
  const [first] = failures;
  const why =
    first === undefined
      ? ''
      : ` The first error, ${first.number_of_runs === 1 ? 'of one run' : `the same in ${first.number_of_runs} runs`}: ${JSON.stringify(truncateError(first.error))} (${first.run_id ?? 'the runs could not be submitted'}).`;
  return `${formatShare(failed, runs.length)} of the ${name} (instance ${JSON.stringify(side.instance_id)}) failed.${why}`;
}

/** That runs of the side succeeded, and none reported the indicator; null when one did, or none succeeded. */
export function explainMissingValues({ name, side, runs }: SideRuns, indicator: string): string | null {
  const succeeded = runs.filter((run) => run.status === 'succeeded');
  const reports = succeeded.some((run) => toUsableNumber(findReportedValue(run, indicator)) !== null);
  if (succeeded.length === 0 || reports) return null;
  return `${formatShare(succeeded.length, runs.length)} of the ${name} (instance ${JSON.stringify(side.instance_id)}) succeeded, and none reported a number as ${indicator}.`;
}

function formatShare(some: number, all: number): string {
  if (some < all) return `${some} of ${all} runs`;
  return all === 1 ? 'The only run' : `All ${all} runs`;
}

const ERROR_CHARS_MAX = 300;

function truncateError(error: string): string {
  return error.length > ERROR_CHARS_MAX ? `${error.slice(0, ERROR_CHARS_MAX).toWellFormed()}…` : error;
}
