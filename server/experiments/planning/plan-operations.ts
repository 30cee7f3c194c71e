/** Handler of the operation that plans an experiment. */
import { PLANNED_FROM_TYPES, type PlanRequest } from '@switchyard/contract/experiments/experiment-plans.ts';
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import { getApplication } from '../../applications/store.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import type { Context } from '../../http/handlers/context.ts';
import type { OperationHandler } from '../../http/handlers/handler.ts';
import { readObservations } from '../results/read-observations.ts';
import type { ObservedSpread, SpreadSettings } from '../results/spread-analysis.ts';
import { parseBatchDefinition } from '../store/batch-definition.ts';
import { findExperiment } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { buildPlan } from './build-plan.ts';
import {
  checkSize,
  type PlanSpread,
  parseAssumptions,
  parsePlanRequest,
  rejectAssumptions,
} from './parse-plan-request.ts';

export const planExperiment: OperationHandler<'planExperiment'> = async (
  context,
  { caller, params, body },
) => {
  const application = await getApplication(context.database.read, caller.account, params.application_id);
  const settings = parsePlanRequest(body);
  const { experiment_id } = body;
  if (!experiment_id) {
    const spread = parseAssumptions(body);
    checkSize(settings.size, spread);
    const source = { experiment_id: null, experiment_type: null };
    return { status: 200, body: buildPlan(settings, spread, source) };
  }
  rejectAssumptions(body);
  const experiment = await findPlannedExperiment(context, application, { ...body, experiment_id });
  const spread = await readSpread(context, experiment, {
    indicator: body.indicator ?? null,
    difference: settings.difference.type,
  });
  checkSize(settings.size, spread);
  const experiment_type = PLANNED_FROM_TYPES.find((type) => type === experiment.kind) ?? null;
  const source = { experiment_id: experiment.id, experiment_type };
  return { status: 200, body: buildPlan(settings, spread, source) };
};

/** Returns the experiment. Throws a 400 for an unknown id, and for one that experiments of several types have. */
async function findPlannedExperiment(
  { database }: Pick<Context, 'database'>,
  application: ApplicationsTable,
  { experiment_id, experiment_type }: PlanRequest & { experiment_id: ExperimentId },
): Promise<ExperimentsTable> {
  const kinds = experiment_type ? [experiment_type] : PLANNED_FROM_TYPES;
  const found: ExperimentsTable[] = [];
  for (const kind of kinds) {
    const experiment = await findExperiment(database.read, application.uid, kind, experiment_id);
    if (experiment) found.push(experiment);
  }
  const [experiment, ...others] = found;
  if (!experiment)
    throw badRequest(
      `experiment_id is ${quoteValue(experiment_id)}; it must be ${kinds.length === 1 ? `a ${kinds[0]} experiment` : 'a batch, shadow or switchback experiment'} of this application.`,
    );
  if (others.length > 0)
    throw badRequest(
      `experiment_id is ${quoteValue(experiment_id)}, the id of experiments of the types ${found.map(({ kind }) => kind).join(' and ')}; give experiment_type.`,
    );
  return experiment;
}

/** Returns the spread of the experiment. Throws a 400 when too few of its runs report the indicator. */
async function readSpread(
  context: Pick<Context, 'database' | 'resultsWorkerPool' | 'onlineTestResults'>,
  experiment: ExperimentsTable,
  settings: SpreadSettings,
): Promise<PlanSpread> {
  const found: ObservedSpread | null = JSON.parse(await estimateSpread(context, experiment, settings));
  if (found === null)
    throw badRequest(
      `experiment_id is ${quoteValue(experiment.id)}, which shows no spread of ${settings.indicator ? `the indicator ${quoteValue(settings.indicator)}` : 'its primary indicator'}: at least two inputs must have a number on both sides, or several repetitions, and a switchback test two counted units of each side. Name another experiment or indicator, or give standard deviations.`,
    );
  const { indicator, units, pairs, ...spread } = found;
  return { ...spread, observed: { indicator, units, pairs } };
}

function estimateSpread(
  {
    database,
    resultsWorkerPool,
    onlineTestResults,
  }: Pick<Context, 'database' | 'resultsWorkerPool' | 'onlineTestResults'>,
  experiment: ExperimentsTable,
  settings: SpreadSettings,
): Promise<string> {
  if (experiment.kind !== 'batch') return onlineTestResults.estimateSpread(experiment, settings);
  const definition = parseBatchDefinition(experiment);
  const { order, versions } = definition;
  return resultsWorkerPool.compute(
    {
      kind: 'spread',
      of: { order, settings: definition, planWarnings: [], progress: 'complete', seed: experiment.id },
      ...settings,
    },
    readObservations(database.read, experiment.uid, new Map(Object.entries(versions))),
  );
}
