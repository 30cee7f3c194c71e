/**
 * Checks whether a rule that compares the means of these runs would hold on other inputs of the same kind.
 *
 * With a true loss that equals the tolerance, such a rule is met in half of the tests. The check evaluates the same rule as
 * non-inferiority, and returns a warning when the data do not show that it holds.
 */
import {
  distinguish,
  formatExactPercent,
  formatNumber,
  formatPercent,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import {
  type Metric,
  type MetricDecision,
  type MetricTolerance,
  type NonInferiority,
  parseStatisticName,
} from '../acceptance-metrics.ts';
import { measureIndicator } from '../paired/compare.ts';
import { decideNonInferiority, type NonInferioritySettings, selectDesign } from './non-inferiority.ts';
import type { SideObservations } from './solved-inputs.ts';
import { isBoundedStatistic } from './statistic-bound.ts';

/** The effect on other inputs, and a sentence when it may be beyond the tolerance. */
interface OtherInputs {
  non_inferiority: NonInferiority | null;
  warning: string | null;
}

/** Returns null for a rule of equality, for one about the number of runs, and for one about the candidate alone. */
export function checkOtherInputs(
  metric: Metric,
  { control_value }: Pick<MetricDecision, 'control_value'>,
  sides: SideObservations,
  settings: NonInferioritySettings,
): OtherInputs | null {
  const { metric_type, statistic, params } = metric;
  if (metric_type !== 'direct-comparison' && metric_type !== 'difference-threshold') return null;
  const name = parseStatisticName(statistic);
  if (name === null || name === 'count' || params.operator === 'eq' || params.operator === 'ne') return null;
  if (control_value === null) return null;
  if (name !== 'mean' && !isBoundedStatistic(name))
    return { non_inferiority: null, warning: warnOfUnbounded(name) };
  const tolerance = findTolerance(metric);
  if (settings.value_type === 'flag')
    return name === 'mean' ? checkFlag(metric, tolerance, sides, settings) : null;
  const decide = (tolerance: MetricTolerance) =>
    decideNonInferiority({ ...metric, params: { ...params, tolerance } }, sides, settings);
  const relative = decide(tolerance);
  // Ratios need values above 0. The rule itself compares the means with a share of the magnitude of the control.
  const usesMeans = tolerance.type === 'relative' && relative.non_inferiority === null;
  const used: MetricTolerance = usesMeans
    ? { type: 'absolute', value: tolerance.value * Math.abs(control_value) }
    : tolerance;
  const { passed, obstacle, non_inferiority } = usesMeans ? decide(used) : relative;
  if (passed || (non_inferiority === null && obstacle === null)) return { non_inferiority, warning: null };
  return { non_inferiority, warning: formatWarning(metric, used, { obstacle, non_inferiority }) };
}

/** Returns the largest loss that the rule allows; it is negative when the rule asks for a gain. */
function findTolerance({ metric_type, params: { operator, tolerance } }: Metric): MetricTolerance {
  const type = tolerance.type === '' ? 'absolute' : tolerance.type;
  const isMaximized = operator === 'gt' || operator === 'ge';
  const isLoss = metric_type === 'direct-comparison' || !isMaximized;
  return { type, value: isLoss ? tolerance.value : -tolerance.value };
}

/** Two shares of true differ by at most the share of inputs on which the candidate is worse. */
function checkFlag(
  { field, params: { operator } }: Metric,
  { value }: MetricTolerance,
  sides: SideObservations,
  settings: NonInferioritySettings,
): OtherInputs | null {
  const direction = operator === 'gt' || operator === 'ge' ? 'maximize' : 'minimize';
  const { losses } = measureIndicator(
    sides,
    field,
    {
      tie_tolerance: settings.tie_tolerance,
      shift: settings.shift,
      largest_loss: null,
      direction,
      measure: 'absolute',
      margin: { type: 'absolute', value: 0 },
    },
    selectDesign(settings),
  );
  if (losses === null || losses.upper <= value) return null;
  return {
    non_inferiority: null,
    warning: `The rule is met on these inputs. On up to ${formatPercent(losses.upper)} of other inputs, the candidate may be worse in ${field}: add inputs.`,
  };
}

/** The extremes and the spread of other inputs have no bound. */
function warnOfUnbounded(statistic: 'min' | 'max' | 'std'): string {
  const instead = { min: 'p05', max: 'p95', std: 'p50 and p95' }[statistic];
  return `The rule compares the ${statistic} of these runs, which says little about other inputs: in simulated tests, such rules were met in up to ${formatPercent(POINT_PASSES)} by a candidate at twice the tolerance. Use ${instead} with \`hypothesis: non-inferiority\`.`;
}

/** The largest share in the table `acceptance-points` of the simulation. */
const POINT_PASSES = 0.37;

function formatWarning(
  { field, statistic, params: { operator } }: Metric,
  { type, value }: MetricTolerance,
  { obstacle, non_inferiority }: { obstacle: string | null; non_inferiority: NonInferiority | null },
): string {
  const isRelative = type === 'relative';
  const size = isRelative ? formatExactPercent(Math.abs(value)) : formatNumber(Math.abs(value));
  const allowed = value < 0 ? `gains at least ${size}` : `loses at most ${size}`;
  const start = `The rule is met on these inputs, but the data do not show that the candidate ${allowed} in ${nameSubject(statistic, field)} on others`;
  const end = 'Add `hypothesis: non-inferiority` to the rule to decide about other inputs.';
  if (obstacle !== null) return `${start}. ${obstacle} ${end}`;
  const isMaximized = operator === 'gt' || operator === 'ge';
  const distance = (non_inferiority?.bound ?? 0) - (isRelative ? 1 : 0);
  const loss = isMaximized ? -distance : distance;
  const format = distinguish(
    value < 0 ? [-value, -loss] : [value, loss],
    isRelative ? formatPercent : formatValue,
  );
  const bound = value < 0 ? `the gain is ${format(-loss)}` : `the loss is ${format(loss)}`;
  return `${start}: the one-sided 95 % bound of ${bound}. ${end}`;
}

function nameSubject(statistic: string, field: string): string {
  const name = parseStatisticName(statistic);
  return name === null || name === 'mean' ? field : `the ${name.replaceAll('_', ' ')} of ${field}`;
}
