/** Explains how many runs of each side of an acceptance test have no value, and why. Pure, because worker threads load it. */
import type { RunFailure } from '../../runs/store/failures.ts';
import { findReportedValue, type Observation, toUsableNumber } from '../statistics/observations.ts';
import { type AcceptanceSide, belongsToSide, describeSide } from '../store/acceptance-definition.ts';

export type SideName = 'control' | 'candidate';

/** A side with its runs and the errors of its failed runs. */
export interface SideRuns {
  name: SideName;
  side: AcceptanceSide;
  runs: readonly Observation[];
  failures: readonly RunFailure[];
}

/** Joins the side with its runs, and with those failures that belong to it. */
export function collectSideRuns(
  name: SideName,
  side: AcceptanceSide,
  runs: readonly Observation[],
  failures: readonly RunFailure[],
): SideRuns {
  return { name, side, runs, failures: failures.filter((failure) => belongsToSide(side, failure)) };
}

/** Explains the failed runs of the side, with the first error, and the canceled ones. Returns one text for each status. */
export function explainLostRuns(side: SideRuns): string[] {
  return [explainFailedRuns(side), explainCanceledRuns(side)].filter((text) => text !== null);
}

function explainCanceledRuns({ name, side, runs }: SideRuns): string | null {
  const canceled = runs.filter((run) => run.status === 'canceled').length;
  if (canceled === 0) return null;
  return `${formatShare(canceled, runs.length)} of the ${name} (${describeSide(side)}) ${canceled === 1 ? 'was' : 'were'} canceled.`;
}

/** Counts the failed runs of the side and quotes the first error; returns null when no run failed. */
function explainFailedRuns({ name, side, runs, failures }: SideRuns): string | null {
  const failed = runs.filter((run) => run.status === 'failed').length;
  if (failed === 0) return null;
  const [first] = failures;
  const firstError =
    first === undefined
      ? ''
      : ` The first error, ${first.number_of_runs === 1 ? 'of one run' : `the same in ${first.number_of_runs} runs`}: ${JSON.stringify(truncateError(first.error))} (${first.run_id ?? 'the runs could not be submitted'}).`;
  return `${formatShare(failed, runs.length)} of the ${name} (${describeSide(side)}) failed.${firstError}`;
}

/** Explains that no succeeded run of the side reported the indicator. Returns null when one did, or when none succeeded. */
export function explainMissingValues({ name, side, runs }: SideRuns, indicator: string): string | null {
  const succeeded = runs.filter((run) => run.status === 'succeeded');
  const hasValue = succeeded.some((run) => toUsableNumber(findReportedValue(run, indicator)) !== null);
  if (succeeded.length === 0 || hasValue) return null;
  return `${formatShare(succeeded.length, runs.length)} of the ${name} (${describeSide(side)}) succeeded, and none reported a number as ${indicator}.`;
}

function formatShare(part: number, total: number): string {
  if (part < total) return `${part} of ${total} runs`;
  return total === 1 ? 'The only run' : `All ${total} runs`;
}

const ERROR_CHARS_MAX = 300;

function truncateError(error: string): string {
  return error.length > ERROR_CHARS_MAX ? `${error.slice(0, ERROR_CHARS_MAX).toWellFormed()}…` : error;
}
