/** What a request for an acceptance test means. Pure. */
import {
  type AcceptanceTestCreate,
  METRIC_TOLERANCE_TYPES,
} from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { InstanceId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import { resolveInstanceId } from '../../runs/submit/resolve-instance.ts';
import {
  type Metric,
  NO_TOLERANCE,
  parseStatisticName,
  STATISTIC_NAMES,
} from '../statistics/acceptance-metrics.ts';
import {
  type AcceptanceDefinition,
  type AcceptanceSide,
  belongsToSide,
} from '../store/acceptance-definition.ts';

/** The test that a request asks for; throws the 400 for what cannot be decided. */
export function parseAcceptanceRequest(
  application: ApplicationsTable,
  body: AcceptanceTestCreate,
): AcceptanceDefinition {
  const control = sideOf(application, body.control);
  const candidate = sideOf(application, body.candidate);
  if (belongsToSide(control, candidate) && belongsToSide(candidate, control))
    throw badRequest(
      `candidate.instance_id is ${quoteValue(candidate.instance_id)}, which is the control, too; name another instance, or the version of each.`,
    );
  return { control, candidate, metrics: metricsOf(body.metrics) };
}

function sideOf(
  application: ApplicationsTable,
  { instance_id, version_id }: AcceptanceTestCreate['control'],
): AcceptanceSide {
  return {
    instance_id: resolveInstanceId(application, instance_id) as InstanceId,
    version_id: (version_id || '') as VersionId,
  };
}

function metricsOf(given: AcceptanceTestCreate['metrics']): Metric[] {
  const metrics = given.map(metricOf);
  const seen = new Map<string, number>();
  for (const [index, metric] of metrics.entries()) {
    const text = JSON.stringify(metric);
    const first = seen.get(text);
    if (first !== undefined)
      throw badRequest(`metrics.${index} says the same as metrics.${first}; name each rule once.`);
    seen.set(text, index);
  }
  return metrics;
}

function metricOf(
  { field, statistic, metric_type, params }: AcceptanceTestCreate['metrics'][number],
  index: number,
): Metric {
  const at = `metrics.${index}`;
  const name = parseStatisticName(statistic);
  if (name === null)
    throw badRequest(
      `${at}.statistic is ${quoteValue(statistic)}; it must be one of ${STATISTIC_NAMES.join(', ')}.`,
    );
  const tolerance = params.tolerance ?? NO_TOLERANCE;
  const { type, value } = tolerance;
  if (!Number.isFinite(value))
    throw badRequest(
      `${at}.params.tolerance.value is ${value}; it must be a number below 1e308 in magnitude.`,
    );
  if (metric_type === 'direct-comparison' && value < 0)
    throw badRequest(
      `${at}.params.tolerance.value is ${value}; the tolerance of a direct-comparison must be 0 or more.`,
    );
  if (metric_type === 'direct-comparison' && type === '' && value !== 0)
    throw badRequest(
      `${at}.params.tolerance.type is "" and its value ${value}; say whether the tolerance is ${METRIC_TOLERANCE_TYPES.slice(1).join(' or ')}.`,
    );
  // Zero has one sign, so that what is the same is found to be.
  const params_ = { operator: params.operator, tolerance: { type, value: value + 0 } };
  return { field, statistic: name, metric_type, params: params_ };
}
