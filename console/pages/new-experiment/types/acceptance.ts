/** The form of acceptance tests. */
import type { AcceptanceMetric } from '@switchyard/contract/experiments/acceptance-results.ts';
import {
  findEvaluated,
  readExperiment,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { client } from '../../../client/client.ts';
import { countRepetitions, METRIC_TYPES, OPERATORS, parseChoice, type RuleDraft } from '../draft.ts';
import { formatAmount, readAmount, readPercent, toPercentText } from '../fields.ts';
import { expandSides } from './count-runs.ts';
import { buildSide, countPastRepetitions, formatSide, type TypeForm } from './type-form.ts';

export const acceptanceForm: TypeForm = {
  build: ({ control, candidates, batch, inputSet, rules }) => ({
    control: buildSide(control),
    candidate: buildSide(candidates[0] ?? ''),
    ...(batch === '' ? { input_set_id: inputSet } : { experiment_id: batch }),
    metrics: rules.map(buildMetric),
  }),
  listUnused: ({ batch }) => (batch === '' ? [] : ['repetitions', 'inputProperties', 'runSettings']),
  async read(address) {
    const test = await readExperiment(client, { ...address, type: 'acceptance' });
    const batch = await readExperiment(client, findEvaluated(address, test));
    return {
      values: { ...batch, ...test, repetitions: countPastRepetitions(batch.runs) },
      parts: {
        inputSet: batch.input_set_id,
        control: formatSide(test.control),
        candidates: [formatSide(test.candidate)],
        rules: test.metrics.map(readRule),
      },
    };
  },
  listWork: (draft, sizes) =>
    draft.batch === ''
      ? expandSides([draft.control, ...draft.candidates], sizes.inputs * countRepetitions(draft), sizes)
      : undefined,
};

function buildMetric(rule: RuleDraft) {
  const isDirect = rule.metricType === 'direct-comparison';
  return {
    field: rule.field,
    statistic: rule.statistic,
    metric_type: rule.metricType,
    ...(isDirect && rule.usesBound && { hypothesis: 'non-inferiority' as const }),
    ...(rule.acceptsSame && { accept_same: true }),
    ...(rule.largestLoss.trim() && { largest_loss: readPercent(rule.largestLoss) }),
    params: {
      operator: rule.operator,
      ...((!isDirect || Number(rule.tolerance) !== 0) && {
        tolerance: readAmount(rule.toleranceType, rule.tolerance),
      }),
    },
  };
}

/** Returns the rule of the form that the metric is. */
export function readRule(metric: AcceptanceMetric): RuleDraft {
  const { field, statistic, metric_type, hypothesis, accept_same, largest_loss, params } = metric;
  const tolerance = params.tolerance && formatAmount(params.tolerance);
  return {
    field,
    statistic,
    metricType: parseChoice(METRIC_TYPES, metric_type),
    operator: parseChoice(OPERATORS, params.operator),
    tolerance: tolerance?.text ?? '0',
    toleranceType: tolerance?.type ?? 'relative',
    usesBound: hypothesis === 'non-inferiority',
    acceptsSame: accept_same === true,
    largestLoss: largest_loss == null ? '' : toPercentText(largest_loss),
  };
}
