/** The experiments of each type with their results. They refetch until they have ended. */
import { type ExperimentStatus, isExperimentTerminal } from '@switchyard/contract/states.ts';
import { queryOptions } from '@tanstack/react-query';
import { type Topic, unlessLive } from '../../client/account-changes.ts';
import { operationQuery } from '../../client/queries.ts';

const REFETCH_MS = 2_000;
/** The response of a larger experiment has megabytes of runs, so it is read less often. */
const RUNS_PER_REFETCH = 100;

interface ActiveExperiment {
  status: ExperimentStatus;
  number_of_runs?: number;
}

/** Returns the milliseconds until an experiment is read again; false for one that has ended, and for a draft. */
function computeRefetchMs(experiment: ActiveExperiment | undefined): number | false {
  if (!experiment || experiment.status === 'draft' || isExperimentTerminal(experiment.status)) return false;
  return REFETCH_MS * Math.max(1, (experiment.number_of_runs ?? 0) / RUNS_PER_REFETCH);
}

function buildMeta(application: string): { topics: Topic[] } {
  return {
    topics: [
      { events: 'experiments', application },
      { events: 'runs', application },
    ],
  };
}

/** Returns the parameters of the path of an experiment. */
function buildBatchParams(application: string, id: string) {
  return { application_id: application, batch_id: id };
}

export const batchQuery = (application: string, id: string) =>
  queryOptions({
    ...operationQuery('getBatchExperiment', { params: buildBatchParams(application, id) }),
    refetchInterval: ({ state }) => unlessLive(computeRefetchMs(state.data)),
    meta: buildMeta(application),
  });

/** All runs of a batch experiment, of which its result contains the newest. */
export const batchRunsQuery = (application: string, id: string) =>
  operationQuery('listBatchExperimentRuns', { params: buildBatchParams(application, id) });

export const acceptanceQuery = (application: string, id: string) =>
  queryOptions({
    ...operationQuery('getAcceptanceTest', { params: { application_id: application, acceptance_id: id } }),
    refetchInterval: ({ state }) => unlessLive(computeRefetchMs(state.data)),
    meta: buildMeta(application),
  });

export const shadowQuery = (application: string, id: string) =>
  queryOptions({
    ...operationQuery('getShadowTest', { params: { application_id: application, shadow_id: id } }),
    refetchInterval: ({ state }) => unlessLive(computeRefetchMs(state.data)),
    meta: buildMeta(application),
  });

export const shadowRunsQuery = (application: string, id: string) =>
  operationQuery('listShadowTestRuns', { params: { application_id: application, shadow_id: id } });

export const switchbackQuery = (application: string, id: string) =>
  queryOptions({
    ...operationQuery('getSwitchbackTest', { params: { application_id: application, switchback_id: id } }),
    refetchInterval: ({ state }) => unlessLive(computeRefetchMs(state.data)),
    meta: buildMeta(application),
  });

export const bisectQuery = (application: string, id: string) =>
  queryOptions({
    ...operationQuery('getBisectExperiment', { params: { application_id: application, bisect_id: id } }),
    refetchInterval: ({ state }) => unlessLive(computeRefetchMs(state.data)),
    meta: buildMeta(application),
  });
