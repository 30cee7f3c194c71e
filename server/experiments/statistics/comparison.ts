/**
 * The paired comparison of a candidate with a control for one indicator. A difference is candidate minus control, of the
 * means over the repetitions of an input, so that every input counts once. The comparison leaves out pairs without a
 * usable number on both sides, and counts them. The result does not depend on the order of the runs; the resampling is
 * seeded.
 *
 * Without a usable input, means, difference and ratio are null and the verdict is undecided. There is no interval below
 * five inputs, no p-value below ten that differ, and no ratio to a control that is 0 or changes its sign.
 */
import {
  computeMeanRatio,
  estimateMeanInterval,
  estimateRatioInterval,
  type Interval,
  RESAMPLE_COUNT,
  Resampler,
  type Resampling,
} from './bootstrap.ts';
import { listWarnings } from './comparison-warnings.ts';
import { clampToFinite, computeScale, mean, type Scale, standardDeviation } from './numbers.ts';
import { countMissing, countRuns, type Observation, type RunCounts } from './observations.ts';
import { type PairedInput, pairInputs } from './pairs.ts';
import {
  decideVerdict,
  type Evidence,
  estimateMoreUnits,
  formatCount,
  type Objective,
  type ObservedEffect,
  type Verdict,
} from './verdict.ts';
import { adjustHolm, TEST_PAIRS_MIN, testSignedRanks, type WilcoxonResult } from './wilcoxon.ts';

/** How far apart two numbers may be and still count as one. */
export interface Tolerance {
  /** `relative` is a share of the magnitude of the control's mean. */
  type: 'absolute' | 'relative';
  value: number;
}

/** The settings of a comparison; all but the objective have defaults. */
export interface ComparisonSettings {
  objective: Objective;
  /** The largest difference that counts as equivalent; 1 % of the control's mean by default. */
  tolerance?: Tolerance;
  /** The share of the larger magnitude up to which two values tie; 1e-9 by default. */
  tie_tolerance?: number;
  resamples?: number;
  seed?: string;
  /** Shares the resamples of several comparisons with equal `resamples` and `seed`. */
  resampler?: Resampler;
}

/** Wins are the candidate's. `total` counts those that either side ran, `usable` those with a number on both sides. */
export interface Tally {
  total: number;
  usable: number;
  wins: number;
  ties: number;
  losses: number;
}

/** A side's runs, and its mean over the usable inputs. */
export interface ComparisonSide {
  runs: RunCounts;
  /** Runs that succeeded without a usable number of the indicator. */
  missing: number;
  mean: number | null;
}

/** An estimate with its interval. */
export interface Estimate {
  value: number;
  /** 95 %; null when the data are too few for one. */
  interval: Interval | null;
}

/** The result of comparing two sides for one indicator. */
export interface Comparison {
  indicator: string;
  objective: Objective;
  verdict: Verdict;
  /** About how many more inputs would decide; null unless undecided, and when there is no estimate. */
  more_inputs: number | null;
  reasons: string[];
  warnings: string[];
  inputs: Tally;
  pairs: Tally;
  control: ComparisonSide;
  candidate: ComparisonSide;
  mean_difference: Estimate | null;
  ratio: Estimate | null;
  /** `p_value_holm` is adjusted for all indicators compared together. */
  wilcoxon: WilcoxonResult & { p_value_holm: number | null };
  tolerance: Tolerance;
  tie_tolerance: number;
  bootstrap: Resampling & { confidence: 0.95; method: 'studentized' };
}

/** The tolerance of a comparison without one. */
export const DEFAULT_TOLERANCE: Tolerance = { type: 'relative', value: 0.01 };
const DEFAULT_TIE_TOLERANCE = 1e-9;

/** Returns the comparison of two sides for one indicator; see the head of this file. */
export function compareIndicator(
  control: readonly Observation[],
  candidate: readonly Observation[],
  indicator: string,
  settings: ComparisonSettings,
): Comparison {
  const tie = settings.tie_tolerance ?? DEFAULT_TIE_TOLERANCE;
  const inputs = pairInputs(control, candidate, indicator);
  const scale = computeScale(
    inputs.flatMap(({ pairs }) => pairs.flatMap((pair) => [pair.control ?? 0, pair.candidate ?? 0])),
  );
  const scaled = inputs.map((input) => scaleInput(input, scale, tie));
  const usable = scaled.filter((input) => input !== null);
  const controls = Float64Array.from(usable, (input) => input.control);
  const candidates = Float64Array.from(usable, (input) => input.candidate);
  const differences = Float64Array.from(usable, (input) => input.difference);
  const resampling = resolveResampling(settings);
  const resampler = settings.resampler ?? createResampler(settings);
  const test = testSignedRanks(differences);
  const tolerance = settings.tolerance ?? DEFAULT_TOLERANCE;
  const interval = estimateMeanInterval(differences, resampler);
  const evidence: Evidence = {
    unit: 'input',
    usable: usable.length,
    difference: usable.length === 0 ? 0 : mean(differences),
    interval,
    test: describeSignedRanks(test),
    all_equal: differences.every((difference) => difference === 0),
    margin: computeMargin(tolerance, controls, scale),
    margin_in_words: formatMargin(tolerance),
    objective: settings.objective,
  };
  const { verdict, reasons } = decideVerdict(evidence);
  const better = settings.objective === 'minimize' ? -1 : 1;
  const sides = {
    control: summarizeSide(control, indicator, controls, scale),
    candidate: summarizeSide(candidate, indicator, candidates, scale),
  };
  const tallies = {
    inputs: countOutcomes(inputs.length, differences, better),
    pairs: countOutcomes(
      inputs.reduce((total, { pairs }) => total + pairs.length, 0),
      usable.flatMap((input) => input.pairDifferences),
      better,
    ),
  };
  const names = {
    control: describeSide('control', control),
    candidate: describeSide('candidate', candidate),
  };
  const ratio = usable.length === 0 ? null : computeMeanRatio(controls, candidates);
  return {
    indicator,
    objective: settings.objective,
    verdict,
    more_inputs:
      verdict === 'undecided' ? estimateMoreUnits(observeEffect(evidence, differences, test)) : null,
    reasons,
    warnings: listWarnings({ indicator, paired: inputs, ...tallies, ...sides, names }),
    ...tallies,
    ...sides,
    mean_difference: usable.length === 0 ? null : restoreScale(evidence.difference, interval, scale.inverse),
    ratio:
      ratio === null ? null : restoreScale(ratio, estimateRatioInterval(controls, candidates, resampler), 1),
    wilcoxon: { ...test, p_value_holm: test.p_value },
    tolerance,
    tie_tolerance: tie,
    bootstrap: { ...resampling, confidence: 0.95, method: 'studentized' },
  };
}

function describeSignedRanks({ n, p_value, w_plus, w_minus }: WilcoxonResult): Evidence['test'] {
  return {
    name: "Wilcoxon's test",
    p_value,
    needs: `at least ${TEST_PAIRS_MIN} inputs that differ, and ${formatCount(n, 'input')} ${n === 1 ? 'does' : 'do'}`,
    direction: w_plus - w_minus,
  };
}

/** Returns the comparisons for several indicators, each with its objective; the p-values are adjusted for all of them. */
export function compareIndicators(
  control: readonly Observation[],
  candidate: readonly Observation[],
  objectives: ReadonlyMap<string, Objective>,
  settings: Omit<ComparisonSettings, 'objective'> = {},
): Comparison[] {
  const resampler = settings.resampler ?? createResampler(settings);
  const comparisons = [...objectives].map(([indicator, objective]) =>
    compareIndicator(control, candidate, indicator, { ...settings, objective, resampler }),
  );
  const adjusted = adjustHolm(comparisons.map(({ wilcoxon }) => wilcoxon.p_value));
  return comparisons.map((comparison, index) => ({
    ...comparison,
    wilcoxon: { ...comparison.wilcoxon, p_value_holm: adjusted[index] ?? null },
  }));
}

/** Returns a resampler for several comparisons with these settings, which then share their resamples. */
export function createResampler(settings: Pick<ComparisonSettings, 'resamples' | 'seed'>): Resampler {
  return new Resampler(resolveResampling(settings));
}

function resolveResampling({ resamples, seed }: Pick<ComparisonSettings, 'resamples' | 'seed'>): Resampling {
  return { resamples: resamples ?? RESAMPLE_COUNT, seed: seed ?? 'switchyard' };
}

/** An input with at least one usable pair. */
interface UsableInput {
  control: number;
  candidate: number;
  /** 0 when all pairs tie, or the means do. */
  difference: number;
  pairDifferences: number[];
}

function scaleInput(input: PairedInput, scale: Scale, tie: number): UsableInput | null {
  const pairs = input.pairs.flatMap(({ control, candidate }) =>
    control === null || candidate === null
      ? []
      : [[control * scale.factor, candidate * scale.factor] as const],
  );
  if (pairs.length === 0) return null;
  const pairDifferences = pairs.map(([control, candidate]) => computeDifference(control, candidate, tie));
  const control = mean(pairs.map(([value]) => value));
  const candidate = mean(pairs.map(([, value]) => value));
  const allTie = pairDifferences.every((difference) => difference === 0);
  return {
    control,
    candidate,
    difference: allTie ? 0 : computeDifference(control, candidate, tie),
    pairDifferences,
  };
}

/** Returns candidate minus control, and 0 when they tie. */
function computeDifference(control: number, candidate: number, tie: number): number {
  const difference = candidate - control;
  return Math.abs(difference) <= tie * Math.max(Math.abs(control), Math.abs(candidate)) ? 0 : difference;
}

/** Returns the name of a side in a warning, with the identifiers that all of its runs have in common. */
function describeSide(name: string, runs: readonly Observation[]): string {
  const findCommon = (field: 'instance_id' | 'version_id' | 'option_set' | 'scenario_id') => {
    const value = runs[0]?.[field];
    return value && runs.every((run) => run[field] === value) ? JSON.stringify(value) : null;
  };
  const instance = findCommon('instance_id');
  const parts = [
    instance ? `instance ${instance}` : null,
    findCommon('version_id') && `version ${findCommon('version_id')}`,
    findCommon('option_set') && `option set ${findCommon('option_set')}`,
    findCommon('scenario_id') && `scenario ${findCommon('scenario_id')}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? name : `${name} (${parts.join(', ')})`;
}

/** Returns the tolerance as the reasons of a verdict name it. */
export function formatMargin({ type, value }: Tolerance): string {
  return type === 'absolute'
    ? `${value}`
    : `${Number((100 * value).toPrecision(12))} % of the control’s mean`;
}

/** Returns the largest difference that counts as equivalent, in the scaled measure; 0 without controls. */
export function computeMargin(tolerance: Tolerance, controls: Float64Array, scale: Scale): number {
  if (tolerance.type === 'absolute') return tolerance.value * scale.factor;
  return controls.length === 0 ? 0 : tolerance.value * Math.abs(mean(controls));
}

function countOutcomes(total: number, differences: ArrayLike<number>, better: number): Tally {
  const signs = Array.from(differences, (difference) => Math.sign(difference) * better);
  return {
    total,
    usable: signs.length,
    wins: signs.filter((sign) => sign > 0).length,
    ties: signs.filter((sign) => sign === 0).length,
    losses: signs.filter((sign) => sign < 0).length,
  };
}

function summarizeSide(
  runs: readonly Observation[],
  indicator: string,
  scaled: Float64Array,
  scale: Scale,
): ComparisonSide {
  return {
    runs: countRuns(runs),
    missing: countMissing(runs, indicator),
    mean: scaled.length === 0 ? null : clampToFinite(mean(scaled) * scale.inverse),
  };
}

/** Returns the estimate in its own measure. The interval contains the estimate in spite of rounding. */
function restoreScale(value: number, interval: Interval | null, inverse: number): Estimate {
  const restored = clampToFinite(value * inverse);
  if (interval === null) return { value: restored, interval: null };
  const low = Math.min(restored, clampToFinite(interval.low * inverse));
  const high = Math.max(restored, clampToFinite(interval.high * inverse));
  return { value: restored, interval: { low, high } };
}

function observeEffect(evidence: Evidence, differences: Float64Array, test: WilcoxonResult): ObservedEffect {
  const nonzero = test.n / Math.max(1, evidence.usable);
  return {
    usable: evidence.usable,
    difference: evidence.difference,
    spread: standardDeviation(differences),
    margin: evidence.margin,
    score: test.score,
    least: nonzero === 0 ? 0 : TEST_PAIRS_MIN / nonzero,
  };
}
