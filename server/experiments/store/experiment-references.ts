/** The instances and versions that an experiment references. Pure. */
import type { RunOwnerKind } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { parseBatchDefinition } from './batch-definition.ts';
import { parseBisectDefinition } from './bisect-definition.ts';
import { parseShadowDefinition, parseSwitchbackDefinition } from './online-test-definitions.ts';
import type { ExperimentsTable } from './schema.ts';

/** The ids of the instances and versions that an experiment runs. */
export interface ExperimentReferences {
  instances: readonly string[];
  /** The versions that the request names; without the current versions of the instances. */
  versions: readonly string[];
}

type Defined = Pick<ExperimentsTable, 'uid' | 'kind' | 'definition'>;

const LISTS: Record<RunOwnerKind, (experiment: Defined) => ExperimentReferences> = {
  batch: (experiment) => {
    const { order, ensemble_instances = [] } = parseBatchDefinition(experiment);
    return { instances: [...order.instances, ...ensemble_instances], versions: order.versions };
  },
  shadow: (experiment) => {
    const { baseline, candidates } = parseShadowDefinition(experiment);
    return { instances: [baseline, ...candidates], versions: [] };
  },
  switchback: (experiment) => {
    const { baseline, candidate } = parseSwitchbackDefinition(experiment);
    return { instances: [baseline, candidate], versions: [] };
  },
  bisect: (experiment) => {
    const { instance_id, good_version_id, bad_version_id } = parseBisectDefinition(experiment);
    // A version between the two may be deleted: the search skips it.
    return {
      instances: instance_id === '' ? [] : [instance_id],
      versions: [good_version_id, bad_version_id],
    };
  },
};

/** Lists the references of an experiment. */
export function listReferences(experiment: Defined): ExperimentReferences {
  return LISTS[experiment.kind](experiment);
}
