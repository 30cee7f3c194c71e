/** Handler of the operation that plans an experiment. */
import { ALL_CANDIDATES } from '@switchyard/contract/experiments/all-candidates.ts';
import { PLANNED_FROM_TYPES, type PlanRequest } from '@switchyard/contract/experiments/experiment-plans.ts';
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication } from '../../apps/applications/store.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { readObservations } from '../results/read-observations.ts';
import { EstimatedSpread, type SpreadSettings } from '../results/spread-analysis.ts';
import { DIFFERING_MIN } from '../statistics/error-rates.ts';
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
    candidate: body.candidate ?? null,
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

/** The worker thread computes the spread. */
const parseSpread = createJsonParser(EstimatedSpread);

/** Returns the spread of the experiment. Throws a 400 when too few of its runs report the indicator, or too few inputs differ. */
async function readSpread(
  context: Pick<Context, 'database' | 'resultsWorkerPool' | 'onlineTestResults'>,
  experiment: ExperimentsTable,
  settings: SpreadSettings,
): Promise<PlanSpread> {
  const found = parseSpread(await estimateSpread(context, experiment, settings), 'The spread');
  const id = quoteValue(experiment.id);
  const name = settings.indicator
    ? `the indicator ${quoteValue(settings.indicator)}`
    : 'its primary indicator';
  if (found === null)
    throw badRequest(
      `experiment_id is ${id}, which shows no spread of ${name}: at least ${DIFFERING_MIN} inputs must have different numbers on both sides, or in several repetitions, and a switchback test two counted units of each side. Name another experiment or indicator, or give standard deviations.`,
    );
  if ('choices' in found)
    throw badRequest(
      `candidate is ${settings.candidate === null ? 'missing' : quoteValue(settings.candidate)}, and experiment_id is ${id}, which has ${found.choices.length === 0 ? 'no candidate with runs' : `the candidates ${found.choices.map((name) => quoteValue(name)).join(', ')}`}. Name the candidate that you mean, or give ${quoteValue(ALL_CANDIDATES)} for the average of all.`,
    );
  if ('missing' in found)
    throw badRequest(
      `experiment_id is ${id}, which shows no spread of ${name}. ${found.missing} Run it on more inputs, such as those of a larger input set, or give standard deviations instead: ${experiment.kind === 'switchback' ? 'between_units' : 'between_inputs and within_input'}.`,
    );
  const { indicator, units, differing, pairs, compared, ...spread } = found;
  return { ...spread, observed: { indicator, units, differing, pairs, compared } };
}

async function estimateSpread(
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
  const { order, versions, inputs_in_time_order = false } = definition;
  const { json } = await resultsWorkerPool.compute(
    {
      kind: 'spread',
      of: {
        ...{ order, settings: definition, planWarnings: [], inputs_in_time_order },
        ...{ progress: 'complete', seed: experiment.id },
      },
      ...settings,
    },
    readObservations(database.read, experiment.uid, new Map(Object.entries(versions))),
  );
  return json;
}
