/** The experiments of each type with their results. They refetch until they have ended. */

import type { ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  type ExperimentAddress,
  listExperimentRuns,
  nameOperation,
  readExperiment,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { type ExperimentStatus, isExperimentTerminal } from '@switchyard/contract/states.ts';
import { queryOptions } from '@tanstack/react-query';
import { type Topic, unlessLive } from '../../client/account-changes.ts';
import { client } from '../../client/client.ts';

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

/** The experiment with its results. */
export const experimentQuery = <Type extends ExperimentType>(address: ExperimentAddress<Type>) =>
  queryOptions({
    queryKey: [nameOperation('get', address.type), address.application, address.id],
    queryFn: () => readExperiment(client, address),
    refetchInterval: ({ state }) => unlessLive(computeRefetchMs(state.data)),
    meta: buildMeta(address.application),
  });

/** All runs of an experiment. The result of a batch contains the newest. */
export const experimentRunsQuery = (address: ExperimentAddress) =>
  queryOptions({
    queryKey: ['listExperimentRuns', address],
    queryFn: () => listExperimentRuns(client, address),
  });
