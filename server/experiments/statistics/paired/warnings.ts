/** Warnings of a comparison, and reasons that exclude a verdict, in sentences; the most serious first. */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import {
  distinguish,
  formatEvidence,
  formatPercent,
  formatSigned,
} from '@switchyard/contract/presentation/format-quantity.ts';
import {
  type Direction,
  type Estimate,
  type Margin,
  type Measure,
  prefersRelative,
  readSize,
} from '../comparison/effect-scale.ts';
import { warnOfRuns } from '../comparison/pipeline.ts';
import { hasDirection, type Verdict } from '../comparison/verdict.ts';
import {
  explainIndependent,
  isSlowChangeLarge,
  LONG_SERIES_MIN,
  RELATED_P_VALUE_MAX,
  type SlowChange,
} from '../dependence.ts';
import { VERDICT_UNITS_MIN } from '../error-rates.ts';
import { countMissing, countRuns, type Observation } from '../observations.ts';
import type { PairedMeasurement } from './compare.ts';
import { boundOthers, countIndependent, hasLoss } from './losses.ts';
import { listRelationBlockers, warnOfRelation } from './relation.ts';
import { findLoser } from './signed-rank.ts';
import type { OutcomePair, PairedInput, PairedUnit } from './units.ts';

/** The names of both sides in sentences: `candidate (instance "staging")`. */
interface WarnedSides {
  control: readonly Observation[];
  candidate: readonly Observation[];
  unit: 'input' | 'original';
}

/** Lists all warnings on the comparison of an indicator. */
export function listWarnings(
  measurement: PairedMeasurement,
  indicator: string,
  { control, candidate, unit }: WarnedSides,
): string[] {
  return [
    ...warnOfSide('control', control, indicator),
    ...warnOfSide('candidate', candidate, indicator),
    ...warnOfFailures(measurement, unit),
    ...warnOfUnits(measurement, unit),
    ...warnOfRelation(measurement, unit),
    ...warnOfSlowChange(measurement, unit),
  ];
}

function warnOfSide(
  name: 'control' | 'candidate',
  runs: readonly Observation[],
  indicator: string,
): string[] {
  const side = nameSide(name, runs);
  const { total, canceled, pending, succeeded } = countRuns(runs);
  const leftOut = ['was deleted and is left out', 'were deleted and are left out'] as const;
  const deleted = warnOfRuns(runs.length - total, side, ...leftOut);
  if (total === 0) return [`The ${side} has no runs.`, ...deleted];
  return [
    ...deleted,
    ...warnOfMissing(countMissing(runs, indicator), succeeded, { side, indicator }),
    ...warnOfRuns(canceled, side, 'was canceled and is left out', 'were canceled and are left out'),
    ...warnOfRuns(pending, side, 'has not ended', 'have not ended'),
  ];
}

function warnOfMissing(
  missing: number,
  succeeded: number,
  { side, indicator }: { side: string; indicator: string },
): string[] {
  if (succeeded === 0) return [`No run of the ${side} succeeded.`];
  const without = `succeeded without a number as ${indicator}; they count as failed`;
  if (missing < succeeded) return warnOfRuns(missing, side, without, without);
  return [
    `The ${side} does not report ${indicator}: ${succeeded === 1 ? 'its only successful run has' : `none of its ${succeeded} successful runs has`} a number under this name.`,
  ];
}

function warnOfFailures({ complete, unreported }: PairedMeasurement, unit: string): string[] {
  if (unreported.length > 0) return [];
  const lost = complete.filter((one) => findLoser(one) !== 0);
  const candidate = lost.filter((one) => findLoser(one) > 0).length;
  if (lost.length === 0) return [];
  return [
    `The candidate failed in ${formatCount(candidate, unit)} that the control solved, the control in ${lost.length - candidate}. These count as the worst result of the side that failed; means and intervals are over the ${unit}s that both solved.`,
  ];
}

function warnOfUnits({ inputs, units, complete }: PairedMeasurement, unit: string): string[] {
  const warnings: string[] = [];
  const merged = inputs.length - units.length;
  if (merged > 0)
    warnings.push(
      `${formatCount(merged, unit)} of ${inputs.length} ${merged === 1 ? 'repeats the content of another and counts' : 'repeat the content of another and count'} with it as one.`,
    );
  const ties = complete.filter((one) => one.effect === 0 && findLoser(one) === 0).length;
  if (complete.length > 1 && ties === complete.length) warnings.push(`All ${ties} ${unit}s tie.`);
  else if (complete.length > 1 && ties > complete.length / 2)
    warnings.push(`${ties} of ${complete.length} ${unit}s tie: any difference rests on the few others.`);
  const repeated = complete.filter(({ pair_effects }) => pair_effects.length > 1);
  const identical = repeated.filter(({ pair_effects }) => new Set(pair_effects).size === 1).length;
  if (repeated.length > 1 && identical === repeated.length)
    warnings.push(
      unit === 'input'
        ? 'All repetitions of every input have the same difference: the app is deterministic, and repetitions add nothing.'
        : `All ${unit}s with the same content have the same difference: the app is deterministic.`,
    );
  const byMeans = inputs.filter((input) => input.by_means).length;
  if (byMeans > 0)
    warnings.push(
      `For ${formatCount(byMeans, unit)} the sides ran different repetitions; these are compared by their means.`,
    );
  return warnings;
}

function warnOfSlowChange(measurement: PairedMeasurement, unit: string): string[] {
  const { slow_change } = measurement.dependence;
  if (slow_change === null || slow_change.p_value > RELATED_P_VALUE_MAX) return [];
  return [
    `The effect changes slowly during the test, with a standard deviation of ${formatDeviation(measurement, slow_change)}. A verdict holds for the time of these ${unit}s only.`,
  ];
}

/** Formats the standard deviation of a slow change on the scale of the effect: "2.1 %". */
function formatDeviation({ scale }: PairedMeasurement, { deviation }: SlowChange): string {
  const size = readSize(deviation, scale);
  return scale.measure === 'relative' ? formatPercent(size) : formatEvidence(size);
}

/**
 * Warns of a total that contradicts a verdict on ratios. Ratios give every input the same weight, and in the total a few large
 * inputs may outweigh all others.
 */
export function warnOfOppositeTotal(
  { measure, effect }: Pick<PairedMeasurement, 'measure' | 'effect'>,
  ratio: Estimate | null,
  { verdict, unit }: { verdict: Verdict; unit: string },
): string[] {
  if (!hasDirection(verdict) || measure === 'absolute' || effect === null || ratio === null) return [];
  const change = ratio.value - 1;
  if (effect * change >= 0) return [];
  const [typical, total] = change > 0 ? ['lower', 'higher'] : ['higher', 'lower'];
  return [
    `The candidate is ${typical} on the typical ${unit}, but its total over all ${unit}s is ${formatPercent(Math.abs(change))} ${total}: a few large ${unit}s outweigh the others.`,
  ];
}

/** Names a side, with the properties that all of its runs share. */
function nameSide(name: string, runs: readonly Observation[]): string {
  const fields = [
    ['instance', 'instance_id'],
    ['version', 'version_id'],
    ['option set', 'option_set'],
    ['scenario', 'scenario_id'],
  ] as const;
  const parts = fields.flatMap(([word, field]) => {
    const value = runs[0]?.[field];
    return value && runs.every((run) => run[field] === value) ? [`${word} ${JSON.stringify(value)}`] : [];
  });
  return parts.length === 0 ? name : `${name} (${parts.join(', ')})`;
}

/** Warns of a value for failed runs that is no worse than some run that solved its input: failing would improve the mean. */
export function warnOfFailureValue(
  { failure_value, direction }: { failure_value: number | null; direction: Direction },
  { inputs, orientation }: PairedMeasurement,
): string[] {
  if (failure_value === null || direction === 'none') return [];
  const values = inputs.flatMap(({ pairs }) =>
    pairs.flatMap(({ control, candidate }) =>
      [control, candidate].filter((outcome) => typeof outcome === 'number'),
    ),
  );
  const beaten = values.filter((value) => value * orientation >= failure_value * orientation).length;
  if (beaten === 0) return [];
  return [
    `${formatCount(beaten, 'run')} solved ${beaten === 1 ? 'its input' : 'their inputs'} with a value no better than failure_value, ${failure_value}: in with_failures a failure is no worse than that. Give a worse value, such as ten times the time limit.`,
  ];
}

/**
 * Warns of single zeros: an input with 0 on one side has no ratio, so that all inputs are compared by differences. Where most
 * inputs have such a zero, as counts of rare events do, differences are the natural scale.
 */
export function warnOfZeros(
  settings: { measure: Measure | 'auto'; margin: Margin; shift: number },
  measure: Measure,
  inputs: readonly PairedInput[],
): string[] {
  if (measure === 'relative' || !prefersRelative(settings) || settings.shift > 0) return [];
  const sides = inputs.map(({ input_id, pairs }) => ({
    input_id,
    pair: pairs.find(({ control, candidate }) => (control === 0) !== (candidate === 0)),
    values: pairs
      .flatMap(({ control, candidate }) => [control, candidate])
      .filter((one) => typeof one === 'number'),
  }));
  const zeros = sides.filter(({ pair, values }) => pair !== undefined && values.length > 0);
  const [first] = zeros;
  const hasNegative = sides.some(({ values }) => values.some((value) => value < 0));
  if (first?.pair === undefined || hasNegative || 2 * zeros.length > inputs.length) return [];
  const side = first.pair.control === 0 ? 'control' : 'candidate';
  const others = zeros.length > 1 ? ` and ${zeros.length - 1} more` : '';
  return [
    `The ${side} has the value 0 on ${JSON.stringify(first.input_id)}${others}: ratios do not exist, so the comparison is by differences, which large inputs dominate. A \`shift\` in the objective makes ratios of all.`,
  ];
}

/** Warns of a declared bound that a unit exceeds. */
export function warnOfLossBound({ loss_bound }: Pick<PairedMeasurement, 'loss_bound'>): string[] {
  return loss_bound === null || loss_bound.refusal === null ? [] : [loss_bound.refusal];
}

/** Above this share of units, or of pairs of runs, without an outcome there is no verdict. */
export const CANCELED_SHARE_MAX = 0.01;

/**
 * Explains that too many pairs of runs have no outcome, because a run of either was canceled or deleted; null for few. They
 * count one by one: without the worst repetition of every input, a candidate would be better on all of them.
 */
export function explainLostPairs(
  pairs: readonly OutcomePair[],
  shareMax = CANCELED_SHARE_MAX,
): string | null {
  const lost = pairs.filter(
    ({ control, candidate }) => control === 'canceled' || candidate === 'canceled',
  ).length;
  if (lost <= shareMax * pairs.length) return null;
  return `${lost} of ${pairs.length} pairs of runs ${lost === 1 ? 'has' : 'have'} no outcome because runs were canceled or deleted; these are not a random choice`;
}

/** Returns the reasons that exclude any verdict, independent of the numbers. */
export function listBlockers(measurement: PairedMeasurement, unit = 'input'): string[] {
  const { inputs, units, unreported, dependence } = measurement;
  const blockers = unreported.map(
    (side) => `No successful run of the ${side} has a number of the indicator.`,
  );
  const canceled = units.filter(({ state }) => state === 'canceled').length;
  const lostPairs = explainLostPairs(inputs.flatMap(({ pairs }) => pairs));
  if (canceled > CANCELED_SHARE_MAX * units.length)
    blockers.push(
      `${canceled} of ${units.length} ${unit}s ${canceled === 1 ? 'has' : 'have'} no outcome because runs were canceled or deleted; these are not a random choice, so there is no verdict.`,
    );
  else if (lostPairs !== null) blockers.push(`${lostPairs}, so there is no verdict.`);
  for (const { by, count, use, effective } of dependence.clusterings)
    if (use === 'different')
      blockers.push(
        `The ${unit}s come from ${count} clusters (${by}) of unequal effects or failures, ${formatEvidence(effective)} of equal size: a verdict needs at least 5, or clusters that do not differ.`,
      );
  return [...blockers, ...listRelationBlockers(measurement, unit), ...listSerialBlockers(measurement, unit)];
}

function listSerialBlockers(measurement: PairedMeasurement, unit: string): string[] {
  const { serial_correlation, neighbours_p_value, slow_change, effective_sample_size } =
    measurement.dependence;
  const count = measurement.units.length;
  if (serial_correlation === null || count < VERDICT_UNITS_MIN) return [];
  if (effective_sample_size < VERDICT_UNITS_MIN)
    return [
      `Neighbouring ${unit}s resemble each other (correlation ${formatEvidence(serial_correlation)}): ${count} ${unit}s count as ${formatEvidence(effective_sample_size)}; a verdict needs at least ${VERDICT_UNITS_MIN}.`,
    ];
  if (slow_change !== null && isSlowChangeLarge(slow_change, measurement))
    return [
      `The effect changes slowly during the test, with a standard deviation of ${formatDeviation(measurement, slow_change)}: at another time it may have another sign. Repeat the test at other times.`,
    ];
  const isRelated = neighbours_p_value !== null && neighbours_p_value <= RELATED_P_VALUE_MAX;
  return isRelated && count < LONG_SERIES_MIN
    ? [
        `Neighbouring ${unit}s resemble each other (p = ${formatEvidence(neighbours_p_value)}), and ${count} are too few to show for how long: a verdict needs at least ${LONG_SERIES_MIN}.`,
      ]
    : [];
}

/** A verdict, the name of one unit, and the ratio of the totals. */
interface DecidedScope {
  verdict: Verdict;
  unit: string;
  total: Estimate | null;
}

/** Returns the sentences, the most important first; none for `undecided` and `same`. */
export function explainScope(measurement: PairedMeasurement, decided: DecidedScope): string[] {
  const { verdict, unit } = decided;
  const others = hasDirection(verdict)
    ? [...explainOtherUnits(measurement, verdict, unit), ...explainOpenTotal(measurement, decided)]
    : [];
  const isDecided = hasDirection(verdict) || verdict === 'equivalent';
  return [...others, ...(isDecided ? explainTime(measurement, unit) : [])];
}

/** Says on how many other units the verdict may be the opposite one: the rule of three and its extension. */
function explainOtherUnits(
  { complete, dependence, orientation }: PairedMeasurement,
  verdict: Verdict,
  unit: string,
): string[] {
  if (verdict !== 'better' && verdict !== 'worse') return [];
  const [side, word] = verdict === 'better' ? ([1, 'worse'] as const) : ([-1, 'better'] as const);
  const isOpposite = (one: PairedUnit) => hasLoss(side, one, orientation);
  const count = complete.filter(isOpposite).length;
  const high = boundOthers(complete, dependence, isOpposite);
  const independent = countIndependent(complete.length, dependence);
  const seen =
    count === 0
      ? `No ${unit} is ${word}`
      : `${formatCount(count, unit)} of ${complete.length} ${count === 1 ? 'is' : 'are'} ${word}`;
  return [
    `${seen}: with 95 % confidence, at most ${formatPercent(high)} of other ${unit}s are ${word}.${explainIndependent(complete.length, independent, unit)}`,
  ];
}

/**
 * Says that the typical unit has the verdict and the total may not have it, where the interval of the total does not show it.
 * A candidate that is 3 % better on small inputs, worse on large ones and equal in total was better in 77 to 99 % of
 * experiments.
 */
function explainOpenTotal(
  { measure, effect }: PairedMeasurement,
  { verdict, unit, total }: DecidedScope,
): string[] {
  if (measure === 'absolute' || effect === null || total?.interval == null) return [];
  const { low, high } = total.interval;
  if (effect > 0 ? low > 1 : high < 1) return [];
  const format = distinguish([low - 1, high - 1], (change, moreDigits) =>
    formatSigned(change, formatPercent, moreDigits),
  );
  return [
    `The typical ${unit} is ${verdict}; the total over all ${unit}s may not be: ${format(total.value - 1)} (95\u00a0% interval ${format(low - 1)} to ${format(high - 1)}).`,
  ];
}

/** A series of fewer units seldom shows a slow change: AR(1) 0.99 with noise was wrong in 23 to 30 % of them. */
const SLOW_CHANGE_SERIES_MIN = 150;
/** Of 300 such tests, 4 % were wrong above this p-value with 150 units, 3 % with 200 and 0.3 % with 300. */
const CONSTANT_P_VALUE_MIN = 0.5;

/**
 * Says that the verdict holds for the time of the units, where a slow change of the effect may be unseen. A warning says so
 * where it is seen.
 */
function explainTime({ complete, dependence }: PairedMeasurement, unit: string): string[] {
  const { neighbours_p_value, slow_change } = dependence;
  if (neighbours_p_value === null && slow_change === null) return [];
  if (slow_change !== null && slow_change.p_value <= RELATED_P_VALUE_MAX) return [];
  if (complete.length < SLOW_CHANGE_SERIES_MIN)
    return [
      `Fewer than ${SLOW_CHANGE_SERIES_MIN} ${unit}s seldom show an effect that changes slowly: the verdict holds for their time.`,
    ];
  if (slow_change === null || slow_change.p_value > CONSTANT_P_VALUE_MIN) return [];
  return [
    `The effect may change slowly (p = ${formatEvidence(slow_change.p_value)}): the verdict holds for the time of these ${unit}s.`,
  ];
}
