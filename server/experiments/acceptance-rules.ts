/** What a request for an acceptance test means. Pure. */
import { type AcceptanceTestCreate, METRIC_TOLERANCE_TYPES } from '@switchyard/contract/acceptance-tests.ts';
import type { InstanceId, VersionId } from '@switchyard/contract/ids.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { badRequest, shown } from '../http/problem.ts';
import { chosenId } from '../runs/resolve.ts';
import { type AcceptanceDefinition, type AcceptanceSide, isOfSide } from './acceptance-sides.ts';
import { type Metric, NO_TOLERANCE, STATISTICS, statisticNamed } from './statistics/acceptance.ts';

/** The test that a request asks for; throws the 400 for what cannot be decided. */
export function definitionOf(
  application: ApplicationsTable,
  body: AcceptanceTestCreate,
): AcceptanceDefinition {
  const control = sideOf(application, body.control);
  const candidate = sideOf(application, body.candidate);
  if (isOfSide(control, candidate) && isOfSide(candidate, control))
    throw badRequest(
      `candidate.instance_id is ${shown(candidate.instance_id)}, which is the control, too; name another instance, or the version of each.`,
    );
  return { control, candidate, metrics: metricsOf(body.metrics) };
}

function sideOf(
  application: ApplicationsTable,
  { instance_id, version_id }: AcceptanceTestCreate['control'],
): AcceptanceSide {
  return {
    instance_id: chosenId(application, instance_id) as InstanceId,
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
  const name = statisticNamed(statistic);
  if (name === null)
    throw badRequest(`${at}.statistic is ${shown(statistic)}; it must be one of ${STATISTICS.join(', ')}.`);
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
