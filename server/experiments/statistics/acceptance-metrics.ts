/**
 * Whether the metrics of an acceptance test are met. `t` is the tolerance: 0 for "", its value for absolute, its value
 * times |control| for relative.
 *
 * - direct-comparison: candidate OP control, the control moved by t in the operator's favour: gt and ge against
 *   control - t, lt and le against control + t. eq passes when the two are at most t apart, ne when they are more than t
 *   apart, so eq and ne are always opposites.
 * - absolute-threshold: candidate OP value of the tolerance, whatever its type; the control need not have a value.
 * - difference-threshold: candidate - control OP t (for "" the value itself, as for absolute).
 *
 * Two numbers closer than 10^-12 of the largest one involved are equal: 1.3 - 1.0 <= 0.3 must not fail by rounding.
 * A side that is needed and has no usable value: the metric is not passed, and a sentence says so.
 */
import { clampToFinite } from './numbers.ts';
import { type Distribution, GEOMETRIC_MEAN_SHIFT, type LowerPercentile, PERCENTILE_KEYS } from './summary.ts';

type MetricType = 'direct-comparison' | 'absolute-threshold' | 'difference-threshold';
export type Operator = 'gt' | 'ge' | 'lt' | 'le' | 'eq' | 'ne';

/** A metric as it is asked for. */
export interface Metric {
  /** The indicator. */
  field: string;
  metric_type: MetricType;
  /** See `isStatistic`. */
  statistic: string;
  params: { operator: Operator; tolerance: MetricTolerance };
}

export interface MetricTolerance {
  type: '' | 'absolute' | 'relative';
  value: number;
}

/** The tolerance of a metric that names none. */
export const NO_TOLERANCE: MetricTolerance = { type: '', value: 0 };

export type StatisticName =
  | 'min'
  | 'max'
  | 'mean'
  | 'std'
  | 'count'
  | 'shifted_geometric_mean'
  | LowerPercentile;

export const STATISTIC_NAMES: readonly StatisticName[] = [
  'min',
  'max',
  'mean',
  'std',
  'count',
  'shifted_geometric_mean',
  ...PERCENTILE_KEYS,
];

/** The one name of a statistic, from any spelling: P05, p5 and p05 are one, case and `-` or space for `_` do not count. */
export function parseStatisticName(text: string): StatisticName | null {
  const name = text
    .trim()
    .toLowerCase()
    .replace(/[- ]/g, '_')
    .replace(/^p(\d)$/, 'p0$1');
  return STATISTIC_NAMES.find((statistic) => statistic === name) ?? null;
}

/** Whether a text names a statistic; what does not is refused when the test is created. */
export function isStatistic(text: string): boolean {
  return parseStatisticName(text) !== null;
}

/** A statistic of a distribution. */
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

/** Whether one metric is met, and the numbers it was judged by. */
export interface MetricDecision {
  passed: boolean;
  /** The chosen statistic; null without a usable value. */
  control_value: number | null;
  candidate_value: number | null;
  /** What the candidate, or its difference to the control, was held against; null when that cannot be told. */
  threshold: number | null;
  /** One sentence that says what was found. */
  reason: string;
}

/** Decides one metric from the distributions of its field; null: that side has no usable value. */
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
  const lacking = [
    ...(candidate_value === null ? ['candidate'] : []),
    ...(control_value === null && metric.metric_type !== 'absolute-threshold' ? ['control'] : []),
  ];
  if (candidate_value === null || lacking.length > 0)
    return {
      ...values,
      passed: false,
      threshold: null,
      reason: `No run of the ${lacking.join(' nor of the ')} succeeded with a number as ${metric.field}.`,
    };
  const { name, slack, ...sides } = sidesOf(metric, control_value ?? 0, candidate_value);
  const left = clampToFinite(sides.left);
  const threshold = clampToFinite(sides.threshold);
  const { operator } = metric.params;
  const equal =
    EQUAL * Math.max(Math.abs(candidate_value), Math.abs(control_value ?? 0), Math.abs(threshold));
  const passed = holds(operator, left - threshold, slack, equal);
  const relation = SAYS[operator][passed ? 0 : 1].replace(
    '#',
    slack > 0 ? `within ${short(slack)} of` : 'equal to',
  );
  return {
    ...values,
    passed,
    threshold,
    reason: `${name} ${statistic} of ${metric.field}, ${short(left)}, ${relation} ${short(threshold)}.`,
  };
}

/** Two numbers closer than this share of the largest one involved are equal. */
const EQUAL = 1e-12;

/** What is said when a metric is met, and when it is not. */
const SAYS: Record<Operator, [string, string]> = {
  gt: ['is above', 'is not above'],
  ge: ['is at least', 'is below'],
  lt: ['is below', 'is not below'],
  le: ['is at most', 'is above'],
  eq: ['is #', 'is not #'],
  ne: ['is not #', 'is #'],
};

/** The number on the left of the operator, the one on its right, and how far apart they may be to be equal. */
function sidesOf({ metric_type, params }: Metric, control: number, candidate: number) {
  const { operator, tolerance } = params;
  const size = tolerance.type === 'relative' ? tolerance.value * Math.abs(control) : tolerance.value;
  if (metric_type === 'absolute-threshold')
    return { left: candidate, name: 'The candidate’s', threshold: tolerance.value, slack: 0 };
  if (metric_type === 'difference-threshold')
    return { left: candidate - control, name: 'Candidate minus control for', threshold: size, slack: 0 };
  const t = tolerance.type === '' ? 0 : size;
  const moved = { gt: -t, ge: -t, lt: t, le: t, eq: 0, ne: 0 }[operator];
  return { left: candidate, name: 'The candidate’s', threshold: control + moved, slack: moved === 0 ? t : 0 };
}

/** Whether the operator holds for a gap of left minus right. */
function holds(operator: Operator, gap: number, slack: number, equal: number): boolean {
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

function short(value: number): string {
  return `${Number(value.toPrecision(6))}`;
}

/** A distribution as acceptance results show it: flat, with zeros and a count of 0 where there is no usable value. */
export interface FlatDistribution {
  distribution_summary_statistics: {
    min: number;
    max: number;
    count: number;
    mean: number;
    std: number;
    shifted_geometric_mean: number;
    shift_parameter: number;
  };
  distribution_percentiles: Record<LowerPercentile, number>;
}

/** The flat form of a distribution. */
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
