/** The time and the core hours of runs that share slots, by the durations of past runs. */

const HOUR_MS = 60 * 60 * 1000;

/** Returns the median of the numbers; undefined without any. */
export function findMedian(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

/** The runs that take equally long. */
export interface TimedRuns {
  runs: number;
  durationMs: number;
  /** Reserved cores of the execution class. */
  cores: number;
}

/** Returns the milliseconds until the last run ends, when the slots do nothing else. */
export function estimateTime(work: readonly TimedRuns[], slots: number): number {
  const runs = work.reduce((sum, part) => sum + part.runs, 0);
  if (runs === 0) return 0;
  const total = work.reduce((sum, part) => sum + part.runs * part.durationMs, 0);
  // A slot executes whole runs.
  return Math.ceil(runs / slots) * (total / runs);
}

/** Returns the core hours that the runs reserve, which is what a run costs. */
export function estimateCoreHours(work: readonly TimedRuns[]): number {
  return work.reduce((sum, { runs, durationMs, cores }) => sum + (runs * durationMs * cores) / HOUR_MS, 0);
}
