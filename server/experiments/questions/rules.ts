/** The rules by which an experiment answers a question. Pure. */
import type { TypeWith } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type {
  IndicatorRule,
  QuestionRules,
} from '@switchyard/contract/experiments/comparisons/rule-changes.ts';
import type { ObjectiveSettings } from '@switchyard/contract/experiments/experiment-settings.ts';
import { formatRule } from '@switchyard/contract/experiments/presentation/format-rule.ts';
import { formatExactPercent, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { resolveObjective } from '../results/select-indicators.ts';
import type { Metric } from '../statistics/acceptance-metrics.ts';
import type { AcceptanceDefinition } from '../store/acceptance-definition.ts';
import type { ComparisonSettings } from '../store/comparison-settings.ts';

/** The types of experiments that compare two sides. */
export type QuestionType = TypeWith<'hasCandidates'>;

/** Returns the rules of an experiment with objectives. */
export function describeSettings({ objectives, primary, guardrails }: ComparisonSettings): QuestionRules {
  const named = Object.entries(objectives ?? {});
  return {
    primary: primary === undefined ? named.map(([indicator]) => indicator).sort() : [primary],
    guardrails: [...(guardrails ?? [])].sort(),
    indicators: Object.fromEntries(
      named.map(([indicator, objective]) => {
        const { direction, margin, ...settings } = resolveObjective(objective);
        return [indicator, { direction, margin: formatMargin(margin), settings: JSON.stringify(settings) }];
      }),
    ),
  };
}

function formatMargin({ type, value }: NonNullable<ObjectiveSettings['margin']>): string {
  return type === 'relative' ? formatExactPercent(value) : formatNumber(value);
}

/** Returns the rules of an acceptance test. */
export function describeMetrics({ metrics, failure_margin }: AcceptanceDefinition): QuestionRules {
  return {
    primary: [...new Set(metrics.map(({ field }) => field))].sort(),
    guardrails: [],
    indicators: Object.fromEntries(
      metrics.map((metric) => [metric.field, { direction: findDirection(metric), margin: '', settings: '' }]),
    ),
    rules: [
      ...metrics.map(formatMetric),
      ...(failure_margin === undefined ? [] : [`failure_margin ${formatExactPercent(failure_margin)}`]),
    ].sort(),
  };
}

function findDirection({ params: { operator } }: Metric): IndicatorRule['direction'] {
  if (operator === 'eq' || operator === 'ne') return 'none';
  return operator === 'gt' || operator === 'ge' ? 'maximize' : 'minimize';
}

function formatMetric({ metric_type, ...metric }: Metric): string {
  return metric_type === 'non-inferiority'
    ? formatRule({ ...metric, metric_type: 'direct-comparison', hypothesis: metric_type })
    : formatRule({ ...metric, metric_type });
}
