/**
 * Decides the metrics of an acceptance test. `t` is the tolerance: 0 for "", its value for absolute, its value times
 * |control| for relative.
 *
 * - direct-comparison: candidate OP control, with t in the operator's favour. Both gt and ge compare with control - t, lt
 *   and le with control + t. The operator eq passes when the two are at most t apart. Its opposite ne passes when they are
 *   more than t apart.
 * - absolute-threshold: candidate OP value of the tolerance, whatever its type; the control need not have a value.
 * - difference-threshold: candidate - control OP t (for "" the value itself, as for absolute).
 * - non-inferiority: acceptance/non-inferiority.ts decides it. The API calls it a direct comparison with a `hypothesis`.
 *
 * Two numbers closer than 10^-12 of the largest one involved are equal: 1.3 - 1.0 <= 0.3 must not fail by rounding.
 * A metric fails when a side that it needs has no usable value; its reason names the side.
 */
import type { MetricResult } from '@switchyard/contract/experiments/acceptance-results.ts';
import { distinguish, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import Type, { type Static } from 'typebox';
import { clampToFinite } from './numbers.ts';
import {
  type Distribution,
  GEOMETRIC_MEAN_SHIFT,
  type LowerPercentile,
  PERCENTILE_KEYS,
} from './summaries.ts';

const Operator = Type.Enum(['gt', 'ge', 'lt', 'le', 'eq', 'ne']);
export type Operator = Static<typeof Operator>;

/** The tolerance of a metric; `relative` is a share of the magnitude of the control's statistic. */
const MetricTolerance = Type.Object({
  type: Type.Enum(['', 'absolute', 'relative']),
  value: Type.Number(),
});
export type MetricTolerance = Static<typeof MetricTolerance>;

/** A metric as the request defines it. */
export const Metric = Type.Object({
  /** The indicator. */
  field: Type.String(),
  metric_type: Type.Enum([
    'direct-comparison',
    'absolute-threshold',
    'difference-threshold',
    'non-inferiority',
  ]),
  /** See `isStatistic`. */
  statistic: Type.String(),
  params: Type.Object({ operator: Operator, tolerance: MetricTolerance }),
  /** True: the rule may be met where all inputs tie. */
  accept_same: Type.Optional(Type.Boolean()),
  /** Largest change of one input that can occur, as a share of the control. Absent: unknown. */
  largest_loss: Type.Optional(Type.Number()),
});
export type Metric = Static<typeof Metric>;

/** The tolerance of a metric without one. */
export const NO_TOLERANCE: MetricTolerance = { type: '', value: 0 };

/** The canonical name of a statistic of a distribution. */
export type StatisticName =
  | 'min'
  | 'max'
  | 'mean'
  | 'std'
  | 'count'
  | 'shifted_geometric_mean'
  | LowerPercentile;

/** Every canonical name of a statistic. */
export const STATISTIC_NAMES: readonly StatisticName[] = [
  'min',
  'max',
  'mean',
  'std',
  'count',
  'shifted_geometric_mean',
  ...PERCENTILE_KEYS,
];

/**
 * Returns the canonical name of a statistic, or null for an unknown one. P05, p5 and p05 are the same; case does not
 * count, and `-` or a space stands for `_`.
 */
export function parseStatisticName(text: string): StatisticName | null {
  const name = text
    .trim()
    .toLowerCase()
    .replace(/[- ]/g, '_')
    .replace(/^p(\d)$/, 'p0$1');
  return STATISTIC_NAMES.find((statistic) => statistic === name) ?? null;
}

/** Returns true for a text that names a statistic. The creation of a test rejects any other text. */
export function isStatistic(text: string): boolean {
  return parseStatisticName(text) !== null;
}

/** Returns a statistic of a distribution. */
export function readStatistic(distribution: Distribution, name: StatisticName): number {
  switch (name) {
    case 'min':
    case 'max':
    case 'mean':
    case 'std':
    case 'count':
      return distribution[name];
    case 'shifted_geometric_mean':
      return distribution.shifted_geometric_mean.value;
    default:
      return distribution.percentiles[name];
  }
}

/** The decision on one metric, with the numbers behind it. */
export type MetricDecision = Pick<
  MetricResult,
  'passed' | 'control_value' | 'candidate_value' | 'threshold' | 'reason' | 'non_inferiority'
>;

/** The effect of the candidate over the inputs. */
export type NonInferiority = NonNullable<MetricResult['non_inferiority']>;

/** Decides one metric from the distributions of its field. A side without a usable value is null. */
export function decideMetric(
  metric: Metric,
  control: Distribution | null,
  candidate: Distribution | null,
): MetricDecision {
  const statistic = parseStatisticName(metric.statistic);
  const control_value = control && statistic ? readStatistic(control, statistic) : null;
  const candidate_value = candidate && statistic ? readStatistic(candidate, statistic) : null;
  const values = { control_value, candidate_value };
  if (statistic === null)
    return {
      ...values,
      passed: false,
      threshold: null,
      reason: `${metric.statistic} is no known statistic.`,
    };
  const missing = [
    ...(candidate_value === null ? ['candidate'] : []),
    ...(control_value === null && metric.metric_type !== 'absolute-threshold' ? ['control'] : []),
  ];
  if (candidate_value === null || missing.length > 0)
    return {
      ...values,
      passed: false,
      threshold: null,
      reason: `No run of the ${missing.join(' nor of the ')} succeeded with a number as ${metric.field}.`,
    };
  const { name, slack, ...operands } = resolveOperands(metric, control_value ?? 0, candidate_value);
  const left = clampToFinite(operands.left);
  const threshold = clampToFinite(operands.threshold);
  const { operator } = metric.params;
  const equal =
    EQUALITY_SHARE * Math.max(Math.abs(candidate_value), Math.abs(control_value ?? 0), Math.abs(threshold));
  const passed = isSatisfied(operator, left - threshold, slack, equal);
  const format = formatCompared([left, threshold]);
  const relation = RELATIONS[operator][passed ? 0 : 1].replace(
    '#',
    slack > 0 ? `within ${formatNumber(slack)} of` : 'equal to',
  );
  return {
    ...values,
    passed,
    threshold,
    reason: `${name} ${statistic} of ${metric.field}, ${format(left)}, ${relation} ${format(threshold)}.`,
  };
}

/** Two numbers closer than this share of the largest one involved are equal. */
export const EQUALITY_SHARE = 1e-12;

/** A number without what doubles round behind it: 1.0200000000000002 is 1.02. */
const removeRounding = (value: number): number => Number(value.toPrecision(12));

/** Returns a format with which compared values differ in text if they differ by more than rounding. */
export function formatCompared(values: readonly number[]): (value: number) => string {
  const format = distinguish(values.map(removeRounding));
  return (value) => format(removeRounding(value));
}

/** The relation in the reason of a metric that passes, and of one that fails. */
export const RELATIONS: Record<Operator, [string, string]> = {
  gt: ['is above', 'is not above'],
  ge: ['is at least', 'is below'],
  lt: ['is below', 'is not below'],
  le: ['is at most', 'is above'],
  eq: ['is #', 'is not #'],
  ne: ['is not #', 'is #'],
};

/** Returns both operands, and `slack`, the largest distance at which eq holds. */
function resolveOperands({ metric_type, params }: Metric, control: number, candidate: number) {
  const { operator, tolerance } = params;
  const size = tolerance.type === 'relative' ? tolerance.value * Math.abs(control) : tolerance.value;
  if (metric_type === 'absolute-threshold')
    return { left: candidate, name: 'The candidate’s', threshold: tolerance.value, slack: 0 };
  if (metric_type === 'difference-threshold')
    return { left: candidate - control, name: 'Candidate minus control for', threshold: size, slack: 0 };
  const t = tolerance.type === '' ? 0 : size;
  const shift = { gt: -t, ge: -t, lt: t, le: t, eq: 0, ne: 0 }[operator];
  return { left: candidate, name: 'The candidate’s', threshold: control + shift, slack: shift === 0 ? t : 0 };
}

/** Returns true when the operator holds for a gap of left minus right. */
export function isSatisfied(operator: Operator, gap: number, slack: number, equal: number): boolean {
  switch (operator) {
    case 'gt':
      return gap > equal;
    case 'ge':
      return gap >= -equal;
    case 'lt':
      return gap < -equal;
    case 'le':
      return gap <= equal;
    case 'eq':
      return Math.abs(gap) <= slack + equal;
    case 'ne':
      return Math.abs(gap) > slack + equal;
  }
}

type FlatDistribution = Pick<
  MetricResult['statistics']['control'],
  'distribution_summary_statistics' | 'distribution_percentiles'
>;

/** Returns the flat form of a distribution. */
export function flattenDistribution(distribution: Distribution | null): FlatDistribution {
  const { min, max, count, mean, std } = distribution ?? { min: 0, max: 0, count: 0, mean: 0, std: 0 };
  const percentiles = PERCENTILE_KEYS.map((key) => [key, distribution?.percentiles[key] ?? 0]);
  return {
    distribution_summary_statistics: {
      ...{ min, max, count, mean, std },
      shifted_geometric_mean: distribution?.shifted_geometric_mean.value ?? 0,
      shift_parameter: distribution?.shifted_geometric_mean.shift ?? GEOMETRIC_MEAN_SHIFT,
    },
    distribution_percentiles: Object.fromEntries(percentiles),
  };
}
