/** Parses a request for an acceptance test. Pure. */

import { METRIC_TOLERANCE_TYPES } from '@switchyard/contract/experiments/acceptance-results.ts';
import type {
  AcceptanceSideCreate,
  AcceptanceTestCreate,
} from '@switchyard/contract/experiments/acceptance-tests.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import type { InstanceId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import { resolveInstanceId } from '../../runs/submit/resolve-instance.ts';
import { countInputsNeeded, isBoundedStatistic } from '../statistics/acceptance/statistic-bound.ts';
import {
  type Metric,
  NO_TOLERANCE,
  parseStatisticName,
  STATISTIC_NAMES,
  type StatisticName,
} from '../statistics/acceptance-metrics.ts';
import { VERDICT_UNITS_MIN } from '../statistics/error-rates.ts';
import {
  type AcceptanceDefinition,
  type AcceptanceSide,
  belongsToSide,
} from '../store/acceptance-definition.ts';

/** Returns the definition of the requested test. Throws a 400 for equal sides, and for an invalid or repeated rule. */
export function parseAcceptanceRequest(
  application: ApplicationsTable,
  body: AcceptanceTestCreate,
): Omit<AcceptanceDefinition, 'rules_before_results' | 'created_batch'> {
  const control = parseSide(application, body.control, 'control');
  const candidate = parseSide(application, body.candidate, 'candidate');
  if (belongsToSide(control, candidate) && belongsToSide(candidate, control))
    throw badRequest(
      candidate.ensemble_id === undefined
        ? `candidate.instance_id is ${quoteValue(candidate.instance_id)}, which is also the control; name another instance, or a different version of each side.`
        : `candidate.ensemble_id is ${quoteValue(candidate.ensemble_id)}, which is also the control; name another ensemble, or an instance.`,
    );
  const { failure_margin } = body;
  return {
    control,
    candidate,
    metrics: parseMetrics(body.metrics),
    ...(typeof failure_margin === 'number' ? { failure_margin } : {}),
  };
}

function parseSide(
  application: ApplicationsTable,
  { instance_id, version_id, ensemble_id }: AcceptanceSideCreate,
  name: 'control' | 'candidate',
): AcceptanceSide {
  const other = instance_id ? 'instance_id' : version_id ? 'version_id' : null;
  if (ensemble_id && other !== null)
    throw badRequest(
      `${name}.ensemble_id is ${quoteValue(ensemble_id)} and ${name}.${other} is ${quoteValue(instance_id || version_id)}; the run groups of an ensemble name its instances. Leave one of them out.`,
    );
  if (!ensemble_id && typeof instance_id !== 'string')
    throw badRequest(`${name}.instance_id is missing, and so is ${name}.ensemble_id; give one of them.`);
  return {
    instance_id: (ensemble_id ? '' : resolveInstanceId(application, instance_id ?? '')) as InstanceId,
    version_id: (version_id || '') as VersionId,
    ...(ensemble_id ? { ensemble_id } : {}),
  };
}

function parseMetrics(requested: AcceptanceTestCreate['metrics']): Metric[] {
  const metrics = requested.map(parseMetric);
  const seen = new Map<string, number>();
  for (const [index, metric] of metrics.entries()) {
    const text = JSON.stringify(metric);
    const first = seen.get(text);
    if (first !== undefined)
      throw badRequest(`metrics.${index} repeats metrics.${first}; give each rule once.`);
    seen.set(text, index);
  }
  return metrics;
}

function parseMetric(
  {
    field,
    statistic,
    metric_type: comparison,
    hypothesis,
    accept_same,
    largest_loss,
    params,
  }: AcceptanceTestCreate['metrics'][number],
  index: number,
): Metric {
  const path = `metrics.${index}`;
  if (hypothesis && comparison !== 'direct-comparison')
    throw badRequest(
      `${path}.hypothesis is ${quoteValue(hypothesis)}, and ${path}.metric_type is ${quoteValue(comparison)}; non-inferiority needs "direct-comparison".`,
    );
  const metric_type = hypothesis ?? comparison;
  const name = parseStatisticName(statistic);
  if (name === null)
    throw badRequest(
      `${path}.statistic is ${quoteValue(statistic)}; it must be one of ${STATISTIC_NAMES.join(', ')}.`,
    );
  const tolerance = params.tolerance ?? NO_TOLERANCE;
  const { type, value } = tolerance;
  if (!Number.isFinite(value))
    throw badRequest(
      `${path}.params.tolerance.value is ${value}; it must be a number below 1e308 in magnitude.`,
    );
  if ((metric_type === 'direct-comparison' || metric_type === 'non-inferiority') && value < 0)
    throw badRequest(
      `${path}.params.tolerance.value is ${value}; the tolerance of a ${metric_type} must be 0 or more.`,
    );
  if (metric_type === 'direct-comparison' && type === '' && value !== 0)
    throw badRequest(
      `${path}.params.tolerance.type is "", but its value is ${value}; set the type to ${METRIC_TOLERANCE_TYPES.slice(1).join(' or ')}.`,
    );
  // Adding 0 turns -0 into 0, so that equal rules are equal as JSON.
  const normalized = { operator: params.operator, tolerance: { type, value: value + 0 } };
  if (metric_type === 'non-inferiority') checkNonInferiority(path, name, normalized);
  if (typeof largest_loss === 'number') checkLargestLoss(path, largest_loss, { metric_type, name, type });
  return {
    field,
    statistic: name,
    metric_type,
    params: normalized,
    ...(accept_same ? { accept_same } : {}),
    ...(typeof largest_loss === 'number' ? { largest_loss } : {}),
  };
}

/** Throws a 400 for a largest loss of one input that bounds nothing: it is a ratio, and bounds the mean of ratios. */
function checkLargestLoss(
  path: string,
  largest_loss: number,
  {
    metric_type,
    name,
    type,
  }: Pick<Metric, 'metric_type'> & { name: StatisticName; type: Metric['params']['tolerance']['type'] },
): void {
  if (largest_loss === 0)
    throw badRequest(
      `${path}.largest_loss is 0; give the largest change of one input that can occur, such as 0.5 for 50 %, or leave it out.`,
    );
  const refuse = (field: string, value: string, needed: string) =>
    badRequest(
      `${path}.largest_loss is ${largest_loss}, and ${path}.${field} is ${quoteValue(value)}; the largest change of one input bounds the mean ratio of the sides, which needs ${needed}. Leave largest_loss out, or change the rule.`,
    );
  if (name !== 'mean') throw refuse('statistic', name, 'the statistic "mean"');
  if (metric_type === 'absolute-threshold')
    throw refuse('metric_type', metric_type, 'a comparison with the control');
  if (type !== 'relative') throw refuse('params.tolerance.type', type, 'a relative tolerance');
}

/** Throws a 400 for a non-inferiority rule whose bound has no meaning. */
function checkNonInferiority(
  path: string,
  statistic: StatisticName,
  { operator, tolerance: { type, value } }: Metric['params'],
): void {
  if (statistic !== 'mean' && !isBoundedStatistic(statistic))
    throw badRequest(
      `${path}.statistic is ${quoteValue(statistic)}, which has no bound over other inputs; for non-inferiority it must be mean, shifted_geometric_mean or a percentile such as p95.`,
    );
  if (operator === 'eq' || operator === 'ne')
    throw badRequest(
      `${path}.params.operator is ${quoteValue(operator)}; for non-inferiority it must be lt or le if less is better, gt or ge if more is better.`,
    );
  if (type === '')
    throw badRequest(
      `${path}.params.tolerance.type is ""; for non-inferiority give the largest loss that you accept, relative or absolute.`,
    );
  if (type === 'relative' && value >= 1 && (operator === 'gt' || operator === 'ge'))
    throw badRequest(
      `${path}.params.tolerance.value is ${value}; it must be below 1, or any candidate passes ${operator}.`,
    );
}

/** Throws a 400 for a non-inferiority rule on a percentile that this many inputs cannot bound. */
export function checkInputCount({ metrics }: AcceptanceDefinition, inputs: number): void {
  for (const [index, { metric_type, statistic }] of metrics.entries()) {
    if (metric_type !== 'non-inferiority' || !isBoundedStatistic(statistic)) continue;
    const needed = countInputsNeeded(statistic);
    if (needed > VERDICT_UNITS_MIN && inputs < needed)
      throw badRequest(
        `metrics.${index}.statistic is ${quoteValue(statistic)}, and the input set has ${formatCount(inputs, 'input')}; non-inferiority in ${statistic} needs at least ${needed}. Add inputs, or use shifted_geometric_mean.`,
      );
  }
}
