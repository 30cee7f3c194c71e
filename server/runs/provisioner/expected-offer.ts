/** The offer of a worker that the provisioner starts, before it has registered. */
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import type { ProvisionerSettings } from '../../platform/settings/provisioner-settings.ts';
import { canEverServe, type Demand } from '../workers/offers.ts';
import type { FreeOffer } from './plan-workers.ts';

/** Returns the offer of a worker that the settings start: a slot for each core, and with memory also the resources. */
export function expectOffer({ labels, adapter: { size } }: ProvisionerSettings): FreeOffer {
  const { cores, memoryBytes } = size;
  return {
    pools: [{ classes: EXECUTION_CLASSES, slots: cores }],
    labels,
    resources: memoryBytes === null ? null : { cores, memoryBytes },
    scope: null,
    running: [],
  };
}

/** Returns true if a worker that the settings start could execute the run; false without a provisioner. */
export function canProvision(settings: ProvisionerSettings | null, demand: Demand): boolean {
  return settings !== null && canEverServe(expectOffer(settings), demand);
}
