/** Decides how a replay compares with its original. */
import type { ReplayAgreement, ReplayComparison } from '@switchyard/contract/runs/replays.ts';
import { findIndicator } from '../results/indicators.ts';
import { parseIndicators } from '../run-columns.ts';
import type { RunsTable } from '../store/schema.ts';
import type { OutputDifferences } from './compare-outputs.ts';

/** Two values within this share of the larger one are the same objective. */
const RELATIVE_TOLERANCE = 1e-9;

/** The comparison of two outputs. */
export interface ComparedOutputs {
  hasEqualBytes: boolean;
  /** Null when the solutions could not be compared. */
  differences: OutputDifferences | null;
}

type Decision = Omit<ReplayComparison, 'may_differ' | 'compared_at'>;
type ComparedRun = Pick<RunsTable, 'id' | 'status' | 'error' | 'indicators'>;

/** Returns the verdict with its reason and the values of both runs. */
export function decideVerdict(
  original: ComparedRun,
  replay: ComparedRun,
  outputs: ComparedOutputs,
): Decision {
  const { hasEqualBytes, differences } = outputs;
  const values = { original: readObjective(original), replay: readObjective(replay) };
  return {
    ...explainVerdict({ original, replay, outputs, values }),
    original_status: original.status,
    replay_status: replay.status,
    original_value: values.original,
    replay_value: values.replay,
    solution_compared: hasEqualBytes || differences !== null,
    number_of_differences: differences?.total ?? 0,
    differences: differences?.listed ?? [],
  };
}

interface Evidence {
  original: ComparedRun;
  replay: ComparedRun;
  outputs: ComparedOutputs;
  values: { original: number | null; replay: number | null };
}

function explainVerdict({ original, replay, outputs, values }: Evidence): {
  verdict: ReplayAgreement;
  reason: string;
} {
  if (original.status !== replay.status)
    return { verdict: 'different', reason: `The original ${original.status}; the replay ${replay.status}.` };
  if (original.status !== 'succeeded') return compareFailures(original, replay);
  if (outputs.hasEqualBytes) return { verdict: 'bytes_equal', reason: 'The outputs have the same bytes.' };
  const { differences } = outputs;
  if (differences?.inSolution === 0 || differences?.total === 0)
    return {
      verdict: 'same_solution',
      reason:
        differences.total === 0
          ? 'The outputs are equal; only the order of their keys or their format differs.'
          : 'The solutions are equal; the outputs differ beside them, for example in their statistics.',
    };
  const prefix = describeSolutions(differences);
  if (values.original === null || values.replay === null)
    return { verdict: 'different', reason: `${prefix}, and not both runs report result.value.` };
  const quoted = `${values.original} in the original and ${values.replay} in the replay`;
  if (!isNear(values.original, values.replay))
    return { verdict: 'different', reason: `${prefix}, and result.value is ${quoted}.` };
  return {
    verdict: 'same_objective',
    reason:
      values.original === values.replay
        ? `${prefix}, and result.value is ${values.original} in both.`
        : `${prefix}, and result.value is equal within ${RELATIVE_TOLERANCE}: ${quoted}.`,
  };
}

/** Two outputs of statistics alone have no solution that could be the same, so their objective decides. */
function describeSolutions(differences: OutputDifferences | null): string {
  if (differences === null) return 'The solutions could not be compared';
  return differences.inSolution === null ? 'The outputs have no solution' : 'The solutions differ';
}

function compareFailures(
  original: ComparedRun,
  replay: ComparedRun,
): { verdict: ReplayAgreement; reason: string } {
  if (original.status === 'failed' && original.error === replay.error)
    return { verdict: 'same_failure', reason: 'Both runs failed with the same error.' };
  if (original.status === 'failed')
    return { verdict: 'different', reason: 'Both runs failed, with different errors.' };
  return { verdict: 'different', reason: 'Both runs were canceled, so there is nothing to compare.' };
}

/** Returns `result.value`; null when the run reported none, or no number. */
function readObjective(run: Pick<RunsTable, 'id' | 'indicators'>): number | null {
  const reported = parseIndicators(run);
  const value = findIndicator(new Map(reported.map((each) => [each.name, each.value])), 'result.value');
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= RELATIVE_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}
