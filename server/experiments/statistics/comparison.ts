/**
 * The paired comparison of a candidate against a control for one indicator. Differences are candidate minus control, of
 * the means over the repetitions of each input, so that every input counts once; whatever has no usable number on both
 * sides is left out and counted. The answer does not depend on the order of the runs, and nothing in it is random: the
 * resampling is seeded.
 *
 * Defined answers: no usable input: means, difference and ratio are null and the verdict is undecided. Fewer than five: no
 * interval. Fewer than ten that differ: no p-value. A control that is 0 or changes its sign: no ratio.
 */
import {
  type Interval,
  meanInterval,
  RESAMPLE_COUNT,
  type Resampling,
  ratioInterval,
  ratioOfMeans,
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
import { adjustHolm, TEST_PAIRS_MIN, type WilcoxonResult, wilcoxonSignedRank } from './wilcoxon.ts';

/** How far apart two numbers may be and still count as one. */
export interface Tolerance {
  /** `relative` is a share of the magnitude of the control's mean. */
  type: 'absolute' | 'relative';
  value: number;
}

export interface ComparisonSettings {
  objective: Objective;
  /** What is equivalent; 1 % of the control's mean by default. */
  tolerance?: Tolerance;
  /** The share of the larger magnitude up to which two values tie; 1e-9 by default. */
  tie_tolerance?: number;
  resamples?: number;
  seed?: string;
}

/** Wins are the candidate's. Total counts what either side ran, usable what has a number on both sides. */
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

export interface Estimate {
  value: number;
  /** 95 %; null when it cannot be told. */
  interval: Interval | null;
}

export interface Comparison {
  indicator: string;
  objective: Objective;
  verdict: Verdict;
  /** About how many more inputs would decide; null unless undecided, and when it cannot be told. */
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

export const DEFAULT_TOLERANCE: Tolerance = { type: 'relative', value: 0.01 };
const DEFAULT_TIE_TOLERANCE = 1e-9;

/** Compares two sides for one indicator; see the head of this file. */
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
  const scaled = inputs.map((input) => scaledInput(input, scale, tie));
  const usable = scaled.filter((input) => input !== null);
  const controls = Float64Array.from(usable, (input) => input.control);
  const candidates = Float64Array.from(usable, (input) => input.candidate);
  const differences = Float64Array.from(usable, (input) => input.difference);
  const resampling = { resamples: settings.resamples ?? RESAMPLE_COUNT, seed: settings.seed ?? 'switchyard' };
  const test = wilcoxonSignedRank(differences);
  const tolerance = settings.tolerance ?? DEFAULT_TOLERANCE;
  const interval = meanInterval(differences, resampling);
  const evidence: Evidence = {
    unit: 'input',
    usable: usable.length,
    difference: usable.length === 0 ? 0 : mean(differences),
    interval,
    test: {
      name: "Wilcoxon's test",
      p_value: test.p_value,
      needs: `at least ${TEST_PAIRS_MIN} inputs that differ, and ${formatCount(test.n, 'input')} ${test.n === 1 ? 'does' : 'do'}`,
      direction: test.w_plus - test.w_minus,
    },
    all_equal: differences.every((difference) => difference === 0),
    margin: marginOf(tolerance, controls, scale),
    margin_in_words: formatMargin(tolerance),
    objective: settings.objective,
  };
  const { verdict, reasons } = decideVerdict(evidence);
  const better = settings.objective === 'minimize' ? -1 : 1;
  const sides = {
    control: sideOf(control, indicator, controls, scale),
    candidate: sideOf(candidate, indicator, candidates, scale),
  };
  const found = {
    inputs: tally(inputs.length, differences, better),
    pairs: tally(
      inputs.reduce((total, { pairs }) => total + pairs.length, 0),
      usable.flatMap((input) => input.pairDifferences),
      better,
    ),
  };
  const names = { control: sideName('control', control), candidate: sideName('candidate', candidate) };
  const ratio = usable.length === 0 ? null : ratioOfMeans(controls, candidates);
  return {
    indicator,
    objective: settings.objective,
    verdict,
    more_inputs: verdict === 'undecided' ? estimateMoreUnits(seenBy(evidence, differences, test)) : null,
    reasons,
    warnings: listWarnings({ indicator, paired: inputs, ...found, ...sides, names }),
    ...found,
    ...sides,
    mean_difference: usable.length === 0 ? null : unscaled(evidence.difference, interval, scale.inverse),
    ratio: ratio === null ? null : unscaled(ratio, ratioInterval(controls, candidates, resampling), 1),
    wilcoxon: { ...test, p_value_holm: test.p_value },
    tolerance,
    tie_tolerance: tie,
    bootstrap: { ...resampling, confidence: 0.95, method: 'studentized' },
  };
}

/** Compares the sides for several indicators, each with its objective, and adjusts the p-values for all of them. */
export function compareIndicators(
  control: readonly Observation[],
  candidate: readonly Observation[],
  objectives: ReadonlyMap<string, Objective>,
  settings: Omit<ComparisonSettings, 'objective'> = {},
): Comparison[] {
  const comparisons = [...objectives].map(([indicator, objective]) =>
    compareIndicator(control, candidate, indicator, { ...settings, objective }),
  );
  const adjusted = adjustHolm(comparisons.map(({ wilcoxon }) => wilcoxon.p_value));
  return comparisons.map((comparison, index) => ({
    ...comparison,
    wilcoxon: { ...comparison.wilcoxon, p_value_holm: adjusted[index] ?? null },
  }));
}

/** An input with at least one usable pair. */
interface UsableInput {
  control: number;
  candidate: number;
  /** 0 when all pairs tie, or the means do. */
  difference: number;
  pairDifferences: number[];
}

function scaledInput(input: PairedInput, scale: Scale, tie: number): UsableInput | null {
  const pairs = input.pairs.flatMap(({ control, candidate }) =>
    control === null || candidate === null
      ? []
      : [[control * scale.factor, candidate * scale.factor] as const],
  );
  if (pairs.length === 0) return null;
  const pairDifferences = pairs.map(([control, candidate]) => tiedDifference(control, candidate, tie));
  const control = mean(pairs.map(([value]) => value));
  const candidate = mean(pairs.map(([, value]) => value));
  const allTie = pairDifferences.every((difference) => difference === 0);
  return {
    control,
    candidate,
    difference: allTie ? 0 : tiedDifference(control, candidate, tie),
    pairDifferences,
  };
}

function tiedDifference(control: number, candidate: number, tie: number): number {
  const difference = candidate - control;
  return Math.abs(difference) <= tie * Math.max(Math.abs(control), Math.abs(candidate)) ? 0 : difference;
}

/** What a side is called in a warning: by what all of its runs have in common. */
function sideName(name: string, runs: readonly Observation[]): string {
  const common = (field: 'instance_id' | 'version_id' | 'option_set' | 'scenario_id') => {
    const value = runs[0]?.[field];
    return value && runs.every((run) => run[field] === value) ? JSON.stringify(value) : null;
  };
  const instance = common('instance_id');
  const parts = [
    instance ? `instance ${instance}` : null,
    common('version_id') && `version ${common('version_id')}`,
    common('option_set') && `option set ${common('option_set')}`,
    common('scenario_id') && `scenario ${common('scenario_id')}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? name : `${name} (${parts.join(', ')})`;
}

/** The tolerance as a verdict names it. */
export function formatMargin({ type, value }: Tolerance): string {
  return type === 'absolute'
    ? `${value}`
    : `${Number((100 * value).toPrecision(12))} % of the control’s mean`;
}

/** Half the width of what counts as equivalent, in the scaled measure. */
function marginOf(tolerance: Tolerance, controls: Float64Array, scale: Scale): number {
  if (tolerance.type === 'absolute') return tolerance.value * scale.factor;
  return controls.length === 0 ? 0 : tolerance.value * Math.abs(mean(controls));
}

function tally(total: number, differences: ArrayLike<number>, better: number): Tally {
  const signs = Array.from(differences, (difference) => Math.sign(difference) * better);
  return {
    total,
    usable: signs.length,
    wins: signs.filter((sign) => sign > 0).length,
    ties: signs.filter((sign) => sign === 0).length,
    losses: signs.filter((sign) => sign < 0).length,
  };
}

function sideOf(
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

/** An estimate in its own measure again. The interval holds the estimate whatever was rounded on the way. */
function unscaled(value: number, interval: Interval | null, back: number): Estimate {
  const told = clampToFinite(value * back);
  if (interval === null) return { value: told, interval: null };
  const low = Math.min(told, clampToFinite(interval.low * back));
  return { value: told, interval: { low, high: Math.max(told, clampToFinite(interval.high * back)) } };
}

function seenBy(evidence: Evidence, differences: Float64Array, test: WilcoxonResult): ObservedEffect {
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
