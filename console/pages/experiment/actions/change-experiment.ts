/** Changes and deletes experiments of every type by their operations. */

import type { ExperimentType } from '@switchyard/contract/experiments/presentation/experiment-types.ts';
import { client } from '../../../client/client.ts';
import type { FormRequest } from '../../../ui/forms/curl.ts';

interface ExperimentAddress {
  type: ExperimentType;
  application: string;
  id: string;
}

interface ExperimentNames {
  name: string;
  description: string;
}

const UPDATES = {
  batch: 'updateBatchExperiment',
  scenario: 'updateBatchExperiment',
  acceptance: 'updateAcceptanceTest',
  shadow: 'updateShadowTest',
  switchback: 'updateSwitchbackTest',
  bisect: 'updateBisectExperiment',
} as const satisfies Record<ExperimentType, string>;

/** Returns the parameters of the paths of all types; each path uses its own. */
function buildParams({ application, id }: ExperimentAddress) {
  return {
    application_id: application,
    batch_id: id,
    acceptance_id: id,
    shadow_id: id,
    switchback_id: id,
    bisect_id: id,
  };
}

/** Returns the request that renames the experiment. */
export function buildUpdate(address: ExperimentAddress, body: ExperimentNames): FormRequest {
  return [UPDATES[address.type], { params: buildParams(address), body }];
}

/** Renames the experiment. Throws the refusal of the server. */
export async function updateExperiment(address: ExperimentAddress, body: ExperimentNames): Promise<void> {
  await client.call(UPDATES[address.type], { params: buildParams(address), body });
}

const DELETIONS = {
  batch: 'deleteBatchExperiment',
  scenario: 'deleteBatchExperiment',
  acceptance: 'deleteAcceptanceTest',
  shadow: 'deleteShadowTest',
  switchback: 'deleteSwitchbackTest',
  bisect: 'deleteBisectExperiment',
} as const satisfies Record<ExperimentType, string>;

/** Deletes the experiment. Throws the refusal of the server. */
export async function removeExperiment(address: ExperimentAddress): Promise<void> {
  await client.call(DELETIONS[address.type], { params: buildParams(address) });
}
