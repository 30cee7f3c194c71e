/** Sums up the latest runs of an application. */
import type { UsageRow } from '@switchyard/contract/account/usage.ts';
import { RECENT_RUNS_MAX } from '@switchyard/contract/limits.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import type { JudgedIndicator } from './indicator-meaning.ts';
import { formatJudged, readIndicator } from './judged-values.ts';

/** The runs of the track of an application. */
export const TRACK_RUNS = RECENT_RUNS_MAX;
const VALUES_MIN = 2;
const FAILURES_MIN = 2;
/** Failures are over once as many runs in a row have succeeded. */
const CURRENT_RUNS = 3;
const BAD_SHARE = 0.4;
const WARNING_SHARE = 0.2;

export type ListedRun = Pick<
  Run,
  'id' | 'status_v2' | 'created_at' | 'statistics' | 'application_version_id'
>;

/** A row of values, oldest first, with the sentence for readers who do not see it. */
interface Trend {
  values: (number | undefined)[];
  label: string;
}

/** The failures among the latest runs. */
export interface Failures {
  failed: number;
  /** The runs that have succeeded or failed. */
  counted: number;
  /** How bad that is; absent for few failures, and for those that are over. */
  tone?: 'bad' | 'warning';
  newest?: ListedRun;
  oldest?: ListedRun;
  /** The version with which the failures began; absent unless the run before them had another one. */
  version?: string;
}

/** Counts the failures. The runs are newest first. */
export function countFailures(runs: readonly ListedRun[]): Failures {
  const counted = runs.filter(({ status_v2 }) => status_v2 === 'failed' || status_v2 === 'succeeded');
  const failed = counted.filter(({ status_v2 }) => status_v2 === 'failed');
  const share = failed.length / Math.max(counted.length, 1);
  const [newest] = failed;
  const oldest = failed.at(-1);
  const isOver = !newest || counted.indexOf(newest) >= CURRENT_RUNS;
  if (isOver || !oldest || failed.length < FAILURES_MIN || share < WARNING_SHARE)
    return { failed: failed.length, counted: counted.length };
  const before = counted[counted.indexOf(oldest) + 1];
  const version = oldest.application_version_id;
  return {
    failed: failed.length,
    counted: counted.length,
    tone: share < BAD_SHARE ? 'warning' : 'bad',
    newest,
    oldest,
    ...(before && version !== '' && before.application_version_id !== version && { version }),
  };
}

/** Returns the latest value of the objective, and its values in the runs that have ended if there are two different ones. */
export function summarizeObjective(
  runs: readonly ListedRun[],
  objective: JudgedIndicator,
): { last?: number; trend?: Trend } {
  const ended = runs.filter(({ status_v2 }) => isTerminal(status_v2)).toReversed();
  const values = ended.map((run) => readIndicator(run, objective.name));
  const known = values.filter((value) => value !== undefined);
  const [first] = known;
  const last = known.at(-1);
  if (first === undefined || last === undefined) return {};
  if (new Set(known).size < VALUES_MIN) return { last };
  const range = `from ${formatJudged(first, objective.unit)} to ${formatJudged(last, objective.unit)}`;
  return { last, trend: { values, label: `${objective.label} of ${known.length} runs: ${range}` } };
}

/** Returns the applications in which runs failed lately, most failures first. */
export function listFailing(rows: readonly UsageRow[]): string[] {
  const failed = new Map<string, number>();
  for (const { application_id: id = '', failed_runs } of rows)
    if (failed_runs >= FAILURES_MIN) failed.set(id, (failed.get(id) ?? 0) + failed_runs);
  return [...failed].toSorted((one, other) => other[1] - one[1]).map(([id]) => id);
}
