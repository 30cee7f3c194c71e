/** The choices of the form of a new experiment, and the planner. */
import type { OptionItem } from '@switchyard/contract/applications/executables.ts';
import { ApiError } from '@switchyard/contract/client.ts';
import { ALL_CANDIDATES } from '@switchyard/contract/experiments/all-candidates.ts';
import { listIdsToTry } from '@switchyard/contract/presentation/suggest-id.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { countSlots } from '@switchyard/contract/workers/count-slots.ts';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../client/client.ts';
import { listItems } from '../../client/list-items.ts';
import { operationQuery, queryClient } from '../../client/queries.ts';
import type { EnsembleChoice } from './types/count-runs.ts';
import type { ExperimentRequest } from './types/type-forms.ts';

/** Enough recent runs to know the names of their indicators. */
const SAMPLED_RUNS = 20;

/** An input set with its number of inputs. */
interface InputSetChoice {
  id: string;
  name: string;
  inputs: number;
}

/** A batch experiment. */
interface NamedExperiment {
  id: string;
  name: string;
}

/** The choices of the form. */
export interface Choices {
  /** Ids, the default first, then the oldest, and `latest` last: the first is the likeliest control. */
  instances: string[];
  /** Slots of the workers for the default execution class; at least 1. */
  slots: number;
  ensembles: EnsembleChoice[];
  inputSets: InputSetChoice[];
  /** Ids, newest first. */
  versions: string[];
  /** The options that the active executable declares. */
  options: OptionItem[];
  /** Names of the numeric indicators of the newest runs. */
  indicators: string[];
  /** Ended batch experiments, whose runs show the spread. */
  experiments: NamedExperiment[];
  /** Batch experiments that an acceptance test can evaluate. */
  batches: NamedExperiment[];
}

/** The instances, versions, input sets, indicators and earlier experiments of an application. */
export const choicesQuery = (application: string) => {
  const params = { application_id: application };
  return queryOptions({
    queryKey: ['experimentChoices', application],
    queryFn: async (): Promise<Choices> => {
      const [app, instances, versions, sets, ensembles, workers, runs, batches] = await Promise.all([
        queryClient.fetchQuery(operationQuery('getApplication', { params })),
        queryClient.fetchQuery(operationQuery('listInstances', { params })),
        queryClient.fetchQuery(operationQuery('listVersions', { params })),
        queryClient.fetchQuery(operationQuery('listInputSets', { params })),
        queryClient.fetchQuery(operationQuery('listEnsembles', { params })),
        queryClient.fetchQuery(operationQuery('getWorkers')),
        queryClient.fetchQuery(operationQuery('listRuns', { params, query: { limit: SAMPLED_RUNS } })),
        queryClient.fetchQuery(
          operationQuery('listBatchExperiments', { params, query: { limit: SAMPLED_RUNS } }),
        ),
      ]);
      const indicators = runs.runs.flatMap(({ statistics }) =>
        statistics.indicators.filter(({ value }) => typeof value === 'number').map(({ name }) => name),
      );
      return {
        instances: listInstances(app, listItems(instances)),
        ensembles: listItems(ensembles).map(({ id, run_groups }) => ({
          id,
          groups: run_groups.map(({ instance_id, repetitions }) => ({
            instance: instance_id,
            runs: repetitions,
          })),
        })),
        slots: countSlots(workers.items),
        versions: listItems(versions).map(({ id }) => id),
        inputSets: listItems(sets).map(({ id, name, input_ids }) => ({ id, name, inputs: input_ids.length })),
        options: app.active_executable?.requirements.options?.items ?? [],
        indicators: [...new Set(['result.value', ...indicators])],
        experiments: listItems(batches)
          .filter(({ status, warnings = [] }) => status === 'completed' && !warnings.some(lacksInputs))
          .map(({ id, name }) => ({ id, name })),
        batches: listItems(batches).map(({ id, name }) => ({ id, name })),
      };
    },
  });
};

function listInstances(
  { default_instance: usual }: { default_instance: string },
  instances: readonly { id: string }[],
): string[] {
  const ids = instances.map(({ id }) => id).toReversed();
  return [...new Set([...ids.filter((id) => id === usual), ...ids, 'latest'])];
}

/** Returns true for the warning that an experiment has too few inputs for a verdict: those may show no spread at all. */
const lacksInputs = (warning: string): boolean => /needs at least \d/.test(warning);

/** The values of the planner. Deviations and the difference are in percent, as texts. */
export interface PlannedSizes {
  indicator: string;
  /** Id of an earlier experiment; empty for assumed deviations. */
  experiment: string;
  betweenInputs: string;
  withinInput: string;
  difference: string;
  comparisons: number;
  /** Inputs and repetitions, or the units of a switchback test. */
  size: { inputs: number; repetitions: number } | { units: number };
}

/** The plan of an experiment of this size. The server computes it and creates nothing. */
export const planQuery = (application: string, sizes: PlannedSizes) =>
  queryOptions({
    queryKey: ['planExperiment', application, sizes],
    queryFn: async ({ signal }) => {
      const { experiment, difference, comparisons, size, indicator } = sizes;
      const { body } = await client.call('planExperiment', {
        params: { application_id: application },
        body: {
          difference: { type: 'relative', value: Number(difference) / 100 },
          comparisons: Math.max(comparisons, 1),
          ...size,
          ...(experiment === ''
            ? readDeviations(sizes)
            : {
                experiment_id: experiment,
                experiment_type: 'batch' as const,
                candidate: ALL_CANDIDATES,
                indicator,
              }),
        },
        signal,
      });
      return body;
    },
    placeholderData: (previous) => previous,
  });

function readDeviations({ betweenInputs, withinInput, size }: PlannedSizes) {
  const between = Number(betweenInputs) / 100;
  if ('units' in size) return { between_units: between };
  return { between_inputs: between, within_input: Number(withinInput) / 100 };
}

/**
 * Creates the experiment and returns its id. An id that the person did not choose gets the day, and then a number, when another
 * experiment has it.
 */
export async function createExperiment(
  application: string,
  request: ExperimentRequest,
  { isIdChosen }: { isIdChosen: boolean },
): Promise<string> {
  const requested = request.body.id;
  const [first = requested, ...others] = isIdChosen ? [requested] : listIdsToTry(requested, new Date());
  for (const [index, id] of [first, ...others].entries()) {
    try {
      const { body } = await client.callUntyped(request.operation, {
        params: { application_id: application },
        body: { ...request.body, id },
      });
      return isRecord(body) ? String(body.id) : id;
    } catch (error) {
      const isUsed =
        error instanceof ApiError && error.status === 400 && /^id is .*, which another /.test(error.reason);
      if (!isUsed || index === others.length) throw error;
    }
  }
  return requested;
}
