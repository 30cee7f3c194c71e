/**
 * The pipeline of every comparison: observations → units → estimate → decision.
 *
 * A `UnitStrategy` turns the observations of each test into units, and estimates the effect over them. There are three:
 * - inputs: a unit is a distinct content that both sides ran (paired/). Batches, scenario and acceptance tests.
 * - originals: the same for the copies of a shadow test. The units are in time order, and may resemble their neighbours.
 * - time slots: a unit is a slot of a plan that one side served (switchback/). Its test throws the coins of the plan again.
 *
 * The rest is the same for all, and here: one error rate for all verdicts of an experiment, the evidence before the planned
 * end, and the verdict. With 50 indicators and no correction, 80 % of experiments on equal candidates had at least one wrong
 * verdict. All indicators of all candidates form one family. Holm's step-down rule with weights tests it (Holm, Scandinavian
 * Journal of Statistics 1979), so the chance of even one wrong verdict is at most α. Primary indicators share most of the
 * weight, so that guardrails and other indicators cost them little power.
 */

import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { formatExactPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Interval } from '../bootstrap.ts';
import { FINAL_ALPHA, INTERIM_ALPHA } from '../error-rates.ts';
import { clampToFinite } from '../numbers.ts';
import {
  convertEstimate,
  createEffectReader,
  type EffectScale,
  type IndicatorSettings,
  type Margin,
  orientInterval,
  warnOfSmallControl,
} from './effect-scale.ts';
import type { MeasuredInterim } from './interim.ts';
import {
  type DecidedVerdict,
  decideVerdict,
  hasDirection,
  type Progress,
  type VerdictEvidence,
} from './verdict.ts';

/** The role of an indicator. Decisions use the primary ones, and guardrails must not get worse. */
export type Role = 'primary' | 'guardrail' | 'other';

/** One indicator with its settings. */
export interface FamilyIndicator extends IndicatorSettings {
  indicator: string;
  role: Role;
  /** flag: the values are 1 for true and 0 for false, so that means are shares of true. */
  value_type: 'number' | 'flag';
  /** Share of units that the candidate may lose more than the control; null: none. */
  failure_margin: number | null;
  /** Value of a failed run in the means with failures; null: no such means. */
  failure_value: number | null;
}

/** One test of the family. */
export interface FamilyTest {
  indicator: FamilyIndicator;
  progress: Progress;
}

/** The estimate over the units of one test. Effect and interval are on the scale of the measure, and not oriented. */
export interface MeasuredUnits {
  scale: EffectScale;
  /** Oriented effects are positive where the candidate is worse, or higher without a direction. */
  orientation: 1 | -1;
  effect: number | null;
  interval: Interval | null;
  /** Half the width of the equivalence region. */
  margin: number;
  /** The p-value of the test that decides, and those of others; null for too few units. */
  p_values: readonly (number | null)[];
  /** The error rate of the verdict at the planned end. A larger one leaves none for a verdict before it. */
  final_alpha: number;
  /** Null where dependence forbids it. */
  interim: MeasuredInterim | null;
}

/** The evidence that only a kind of units knows. */
type UnitEvidence = Pick<VerdictEvidence, 'usable' | 'valued' | 'pending' | 'failures' | 'blockers'> &
  Pick<Partial<VerdictEvidence>, 'ended' | 'hidden_effect' | 'ties'> & {
    test: Pick<VerdictEvidence['test'], 'name' | 'sign' | 'needs'>;
  };

/** What the pipeline found, for the sentences and fields of a kind of units. */
export interface Decided extends DecidedVerdict {
  evidence: VerdictEvidence;
  /** The adjusted p-values. */
  p_values: readonly (number | null)[];
  /** Share of the error rate that the indicator has. */
  weight: number;
  /** The planned end is not reached. */
  interim: boolean;
  sequential: Comparison['sequential'];
}

/** How observations become units, and what differs between the kinds of them. */
export interface UnitStrategy<Test extends FamilyTest, Units extends MeasuredUnits, Fields> {
  /** Name of one unit in sentences. */
  unit: VerdictEvidence['unit'];
  /** The fewest usable units of an estimate. */
  estimateMin: number;
  /** Builds the units of each test, and estimates the effect over them. */
  measure: (tests: readonly Test[]) => Units[];
  describeEvidence: (units: Units, test: Test) => UnitEvidence;
  /** Returns the confidence sequence of the effect: the effects that the evidence does not exclude at the threshold. */
  computeSequence: (units: Units, threshold: number) => Interval | null;
  /** Returns why the units do not support a verdict with a direction after all; null for no reason. */
  findObjection: (units: Units) => string | null;
  /** Returns further reasons, the warnings, and the fields that only comparisons of such units have. */
  describe: (
    units: Units,
    test: Test,
    decided: Decided,
  ) => { reasons: string[]; warnings: string[]; fields: Fields };
}

/** The fields that comparisons of all kinds of units share. */
export type ComparedIndicator = Pick<
  Comparison,
  | 'indicator'
  | 'value_type'
  | 'role'
  | 'objective'
  | 'verdict'
  | 'interim'
  | 'reasons'
  | 'warnings'
  | 'measure'
  | 'geometric_mean_ratio'
  | 'mean_difference'
>;

/** Compares all tests of an experiment as one family, in their order. */
export function compareTests<Test extends FamilyTest, Units extends MeasuredUnits, Fields>(
  tests: readonly Test[],
  strategy: UnitStrategy<Test, Units, Fields>,
): (ComparedIndicator & Fields)[] {
  const measured = strategy.measure(tests);
  const weights = weighByRole(tests.map(({ indicator }) => indicator.role));
  const adjusted = (measured[0]?.p_values ?? []).map((_, place) =>
    adjustWeightedHolm(
      // The time of a drop depends on the data, so its p-value is none; 1 keeps its share of the family.
      measured.map(({ p_values }, index) =>
        tests[index]?.progress === 'dropped' ? 1 : (p_values[place] ?? null),
      ),
      weights,
    ),
  );
  return tests.map((test, index) => {
    const units = measured[index];
    if (units === undefined) throw new Error(`Indicator ${test.indicator.indicator} was not measured.`);
    const p_values = adjusted.map((values) => values[index] ?? null);
    return compareTest(test, strategy, units, { p_values, weight: weights[index] ?? 1 });
  });
}

function compareTest<Test extends FamilyTest, Units extends MeasuredUnits, Fields>(
  test: Test,
  strategy: UnitStrategy<Test, Units, Fields>,
  units: Units,
  { p_values, weight }: Pick<Decided, 'p_values' | 'weight'>,
): ComparedIndicator & Fields {
  const { indicator: settings, progress } = test;
  const { scale, orientation, final_alpha } = units;
  const { test: tested, ...found } = strategy.describeEvidence(units, test);
  const evidence: VerdictEvidence = {
    unit: strategy.unit,
    direction: settings.direction,
    progress,
    interval: orientInterval(units.interval, orientation),
    test: { ...tested, p_value: p_values[0] ?? null },
    final_alpha,
    failure_margin: settings.failure_margin,
    margin: units.margin,
    margin_text: formatMargin(settings.margin, scale.measure === 'relative' ? settings.shift : 0),
    interim: final_alpha === FINAL_ALPHA ? units.interim : null,
    interim_threshold: 1 / (INTERIM_ALPHA * weight),
    ...found,
  };
  const decided = decideUnits(evidence, () => strategy.findObjection(units));
  const interim = evidence.pending > 0 || progress !== 'complete';
  const sequential = formatSequential(units, evidence.interim_threshold, strategy.computeSequence);
  const own = strategy.describe(units, test, { ...decided, evidence, p_values, weight, interim, sequential });
  const estimate =
    evidence.usable < strategy.estimateMin
      ? null
      : convertEstimate(units.effect, units.interval, createEffectReader(scale));
  return {
    indicator: settings.indicator,
    value_type: settings.value_type,
    role: settings.role,
    objective: settings.direction,
    verdict: decided.verdict,
    interim,
    reasons: [...decided.reasons, ...own.reasons],
    warnings: own.warnings,
    measure: scale.measure,
    geometric_mean_ratio: scale.measure === 'relative' ? estimate : null,
    mean_difference: scale.measure === 'absolute' ? estimate : null,
    ...own.fields,
  };
}

function decideUnits(evidence: VerdictEvidence, findObjection: () => string | null): DecidedVerdict {
  const decided = decideVerdict(evidence);
  const objection = hasDirection(decided.verdict) ? findObjection() : null;
  return objection === null ? decided : { verdict: 'undecided', reasons: [objection, ...decided.reasons] };
}

function formatSequential<Units extends MeasuredUnits>(
  units: Units,
  threshold: number,
  computeSequence: (units: Units, threshold: number) => Interval | null,
): Comparison['sequential'] {
  if (units.interim === null) return null;
  const { e_value, e_value_max, mean_e_value_max, largest_loss } = units.interim;
  const found = computeSequence(units, threshold);
  const read = (effect: number) => clampToFinite(createEffectReader(units.scale)(effect));
  return {
    e_value: clampToFinite(e_value),
    e_value_max: clampToFinite(e_value_max),
    mean_e_value_max: clampToFinite(mean_e_value_max),
    largest_loss,
    threshold,
    interval: found && { low: read(found.low), high: read(found.high) },
  };
}

/** Warns of a margin that is a share of a mean near 0. The margin has no part in a verdict with a direction. */
export function warnOfMargin(
  { margin }: Pick<IndicatorSettings, 'margin'>,
  { measure }: Pick<EffectScale, 'measure'>,
  { verdict }: Pick<DecidedVerdict, 'verdict'>,
  controls: readonly number[],
): string[] {
  return measure === 'relative' || hasDirection(verdict)
    ? []
    : warnOfSmallControl(margin, controls, 'margin');
}

/** Warns of so many runs of a side, none for 0. The predicate has a form for one run, and one for several. */
export function warnOfRuns(count: number, side: string, one: string, several: string): string[] {
  return count === 0 ? [] : [`${formatCount(count, 'run')} of the ${side} ${count === 1 ? one : several}.`];
}

/** Formats the margin for sentences: "1 % of the control". Ratios of shifted values have a margin of shifted values. */
function formatMargin({ type, value }: Margin, shift: number): string {
  if (type === 'absolute') return `${value}`;
  return `${formatExactPercent(value)} of ${shift > 0 ? `(the control + ${shift})` : 'the control'}`;
}

const ROLE_SHARES: Readonly<Record<Role, number>> = { primary: 0.8, guardrail: 0.15, other: 0.05 };

/**
 * Returns the weight of each test by its role; weights sum to 1. A role without tests leaves its share to the others. A
 * single primary indicator is therefore tested at the whole α.
 */
function weighByRole(roles: readonly Role[]): number[] {
  const counts: Record<Role, number> = { primary: 0, guardrail: 0, other: 0 };
  for (const role of roles) counts[role] += 1;
  const total = (['primary', 'guardrail', 'other'] as const)
    .filter((role) => counts[role] > 0)
    .reduce((sum, role) => sum + ROLE_SHARES[role], 0);
  return roles.map((role) => ROLE_SHARES[role] / total / counts[role]);
}

/**
 * Returns the p-values adjusted by Holm's weighted rule, in the same order. An adjusted value of at most α means rejection.
 * Null stays null and has no weight.
 */
export function adjustWeightedHolm(
  pValues: readonly (number | null)[],
  weights: readonly number[],
): (number | null)[] {
  const known = pValues
    .flatMap((p_value, index) => (p_value === null ? [] : [{ p_value, weight: weights[index] ?? 0, index }]))
    .sort((a, b) => a.p_value / a.weight - b.p_value / b.weight);
  const adjusted: (number | null)[] = pValues.map(() => null);
  let remaining = known.reduce((sum, { weight }) => sum + weight, 0);
  let largest = 0;
  for (const { p_value, weight, index } of known) {
    largest = Math.max(largest, Math.min(1, (p_value * remaining) / weight));
    adjusted[index] = largest;
    remaining -= weight;
  }
  return adjusted;
}
