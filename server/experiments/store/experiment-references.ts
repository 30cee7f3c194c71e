/** The instances and versions that an experiment references. Pure. */
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

/** Lists the references of an experiment. */
export function listReferences(
  experiment: Pick<ExperimentsTable, 'kind' | 'definition'>,
): ExperimentReferences {
  if (experiment.kind === 'shadow') {
    const { baseline, candidates } = parseShadowDefinition(experiment);
    return { instances: [baseline, ...candidates], versions: [] };
  }
  if (experiment.kind === 'switchback') {
    const { baseline, candidate } = parseSwitchbackDefinition(experiment);
    return { instances: [baseline, candidate], versions: [] };
  }
  if (experiment.kind === 'bisect') {
    const { instance_id, good_version_id, bad_version_id } = parseBisectDefinition(experiment);
    // A version between the two may be deleted: the search skips it.
    return {
      instances: instance_id === '' ? [] : [instance_id],
      versions: [good_version_id, bad_version_id],
    };
  }
  const { order, ensemble_instances = [] } = parseBatchDefinition(experiment);
  return { instances: [...order.instances, ...ensemble_instances], versions: order.versions };
}
