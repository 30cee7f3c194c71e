/** The state of the list of experiments in its address. */

import {
  type ExperimentType,
  parseExperimentType,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import { EXPERIMENT_STATUSES, type ExperimentStatus } from '@switchyard/contract/states.ts';

export interface ExperimentsSearch {
  /** Only experiments of this type; the default is all. */
  type?: ExperimentType;
  /** Only experiments with this status; the default is all. */
  status?: ExperimentStatus;
  /** Only experiments with this verdict; the default is all. */
  verdict?: string;
}

/** Returns the search parameters of the page. Unknown ones are dropped. */
export function parseSearch(search: Record<string, unknown>): ExperimentsSearch {
  const type = parseExperimentType(search.type);
  const status = EXPERIMENT_STATUSES.find((one) => one === search.status);
  const { verdict } = search;
  return {
    ...(type && { type }),
    ...(status && { status }),
    ...(typeof verdict === 'string' && verdict !== '' && { verdict }),
  };
}
