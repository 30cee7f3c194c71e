/** The form of acceptance tests. */
import type { Client } from '@switchyard/contract/client.ts';
import type { AcceptanceMetric } from '@switchyard/contract/experiments/acceptance-results.ts';
import { readExperiment } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import {
  countRepetitions,
  type ExperimentDraft,
  METRIC_TYPES,
  OPERATORS,
  parseChoice,
  type RuleDraft,
} from '../draft.ts';
import { expandSides } from './count-runs.ts';
import {
  countPastRepetitions,
  type DraftValues,
  formatAmount,
  formatSide,
  readNames,
  readRunSettings,
  toPercentText,
} from './draft-parts.ts';
import {
  buildInputProperties,
  buildRunSettings,
  buildSide,
  readAmount,
  readPercent,
} from './request-parts.ts';
import type { SourceAddress, TypeForm } from './type-form.ts';

export const acceptanceForm: TypeForm = {
  build: (draft, names) => ({
    operation: 'createAcceptanceTest',
    body: { ...names, ...buildAcceptance(draft) },
  }),
  read: readAcceptance,
  listWork: (draft, sizes) =>
    draft.batch === ''
      ? expandSides([draft.control, ...draft.candidates], sizes.inputs * countRepetitions(draft), sizes)
      : undefined,
};

function buildAcceptance(draft: ExperimentDraft) {
  return {
    control: buildSide(draft.control),
    candidate: buildSide(draft.candidates[0] ?? ''),
    ...(draft.batch === ''
      ? {
          input_set_id: draft.inputSet,
          ...(draft.repetitions !== '1' && { repetitions: Number(draft.repetitions) }),
          ...buildInputProperties(draft),
          ...buildRunSettings(draft),
        }
      : { experiment_id: draft.batch }),
    ...(draft.failureMargin.trim() && { failure_margin: readPercent(draft.failureMargin) }),
    metrics: draft.rules.map(buildMetric),
  };
}

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

async function readAcceptance(client: Client, address: SourceAddress): Promise<DraftValues> {
  const test = await readExperiment(client, { ...address, type: 'acceptance' });
  const batch = await readExperiment(client, { ...address, type: 'batch', id: test.experiment_id });
  return {
    ...readNames(test),
    inputSet: batch.input_set_id,
    control: formatSide(test.control),
    candidates: [formatSide(test.candidate)],
    repetitions: String(countPastRepetitions(batch.runs)),
    features: (batch.features ?? []).join(', '),
    clusterBy: (batch.cluster_by ?? []).join(', '),
    ...readRunSettings(batch),
    ...(test.failure_margin !== undefined && { failureMargin: toPercentText(test.failure_margin) }),
    rules: test.metrics.map(readRule),
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
