/**
 * Primal integrals of groups of runs, from the incumbents that the runs reported. On each input every run is followed up to
 * the same time, the end of the longest one, and its gap is to the best value that any run found.
 */

import type { IndicatorProfile } from '@switchyard/contract/experiments/experiment-profiles.ts';
import { mean } from '../numbers.ts';
import { findReportedValue, type Incumbent, type Observation, toUsableNumber } from '../observations.ts';
import { computePrimalGap, createInputKeys, type GroupedRun } from './benchmark.ts';

/** The mean primal integral of a group. */
export type GroupIntegral = NonNullable<IndicatorProfile['groups'][number]['primal_integral']>;

/** Returns the integral of each group; null when no input has the incumbents of all groups. */
export function computeGroupIntegrals(
  runs: readonly GroupedRun[],
  groups: readonly string[],
  maximize: boolean,
): Map<string, GroupIntegral> | null {
  const formatKey = createInputKeys(runs);
  const inputs = [...Map.groupBy(runs, ({ run }) => formatKey(run)).values()].flatMap(
    (own) => integrateInput(own, groups, maximize) ?? [],
  );
  if (inputs.length === 0) return null;
  return new Map(
    groups.map((group) => {
      const own = inputs.map(({ integrals, until }) => ({ seconds: integrals.get(group) ?? 0, until }));
      const integral = {
        inputs: inputs.length,
        seconds: mean(own.map(({ seconds }) => seconds)),
        gap: mean(own.map(({ seconds, until }) => seconds / until)),
      };
      return [group, integral];
    }),
  );
}

/** Returns the mean integral of each group on one input; null when a group has none. */
function integrateInput(
  runs: readonly GroupedRun[],
  groups: readonly string[],
  maximize: boolean,
): { integrals: Map<string, number>; until: number } | null {
  const hasEnded = runs.every(({ run }) => ['succeeded', 'failed', 'canceled'].includes(run.status));
  const until = Math.max(0, ...runs.map(({ run }) => findLastTime(run)));
  const values = runs.flatMap(({ run }) => listValues(run));
  if (!hasEnded || until === 0 || values.length === 0) return null;
  const best = maximize ? Math.max(...values) : Math.min(...values);
  const integrals = new Map<string, number>();
  for (const group of groups) {
    const own = runs.filter((one) => one.group === group && one.run.status !== 'canceled');
    const areas = own.map(({ run }) => {
      if (run.status === 'failed') return until;
      return run.incumbents ? computePrimalIntegral(run.incumbents, best, { until, maximize }) : null;
    });
    const known = areas.filter((area) => area !== null);
    if (known.length === 0 || known.length < areas.length) return null;
    integrals.set(group, mean(known));
  }
  return { integrals, until };
}

function findLastTime(run: Observation): number {
  const duration = toUsableNumber(findReportedValue(run, 'run.duration')) ?? 0;
  return Math.max(duration, ...(run.incumbents ?? []).map(({ seconds }) => seconds));
}

function listValues(run: Observation): number[] {
  if (run.status !== 'succeeded') return [];
  const value = toUsableNumber(findReportedValue(run, 'result.value'));
  const incumbents = (run.incumbents ?? []).map((incumbent) => incumbent.value);
  return value === null ? incumbents : [value, ...incumbents];
}

/**
 * Returns the primal integral in seconds, from 0 to `until`. The incumbents are in any order. Only improvements count, so a
 * worse value later changes nothing.
 *
 * The primal integral (Berthold, Operations Research Letters 2013): the area under the gap of the incumbent to the best known
 * value over the time of a run. It rewards good solutions early; an average gap of 0.1 over 60 s is 6 s.
 */
export function computePrimalIntegral(
  incumbents: readonly Incumbent[],
  reference: number,
  { until, maximize = false }: { until: number; maximize?: boolean },
): number {
  const ordered = [...incumbents].sort((a, b) => a.seconds - b.seconds);
  let best: number | null = null;
  let [area, at] = [0, 0];
  for (const { seconds, value } of ordered) {
    const time = Math.max(0, Math.min(until, seconds));
    area += computePrimalGap(best, reference) * (time - at);
    at = time;
    if (best === null || (maximize ? value > best : value < best)) best = value;
  }
  return area + computePrimalGap(best, reference) * (until - at);
}
