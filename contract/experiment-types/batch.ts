/** Batch experiments compare instances on the same inputs. */
import type { ExperimentDescriptor } from './descriptor.ts';

export const batch = {
  kind: 'batch',
  resource: 'BatchExperiment',
  noun: 'batch experiment',
  tag: 'batch-experiments',
  label: 'Batch',
  purpose: 'Compare instances on the same inputs.',
  action: 'Start experiment',
  deletion: 'Its runs and its acceptance tests are deleted too, and running runs are stopped.',
  isLive: false,
  canStop: false,
  ownsRuns: true,
  hasCandidates: true,
  fields: [
    'repetitions',
    'ensembles',
    'candidates',
    'seeds',
    'listedRuns',
    'inputProperties',
    'comparison',
    'ties',
    'failureMargin',
    'runSettings',
  ],
} as const satisfies ExperimentDescriptor;
