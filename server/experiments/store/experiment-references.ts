/** What an experiment runs: instances, and versions that it names itself. Pure. */
import { parseBatchDefinition } from './batch-definition.ts';
import { parseShadowDefinition, parseSwitchbackDefinition } from './online-test-definitions.ts';
import type { ExperimentsTable } from './schema.ts';

export interface ExperimentReferences {
  instances: readonly string[];
  versions: readonly string[];
}

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
  const { instances, versions } = parseBatchDefinition(experiment).order;
  return { instances, versions };
}
