/** What an experiment runs: instances, and versions that it names itself. Pure. */
import { definitionOf } from './batch-definition.ts';
import { shadowOf, switchbackOf } from './live-definitions.ts';
import type { ExperimentsTable } from './schema.ts';

export interface Places {
  instances: readonly string[];
  versions: readonly string[];
}

export function placesOf(experiment: Pick<ExperimentsTable, 'kind' | 'definition'>): Places {
  if (experiment.kind === 'shadow') {
    const { baseline, candidates } = shadowOf(experiment);
    return { instances: [baseline, ...candidates], versions: [] };
  }
  if (experiment.kind === 'switchback') {
    const { baseline, candidate } = switchbackOf(experiment);
    return { instances: [baseline, candidate], versions: [] };
  }
  const { instances, versions } = definitionOf(experiment).order;
  return { instances, versions };
}
