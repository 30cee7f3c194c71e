/** Bisect experiments search for the version that made an indicator worse. */
import type { ExperimentDescriptor } from './descriptor.ts';

export const bisect = {
  kind: 'bisect',
  resource: 'BisectExperiment',
  noun: 'bisect experiment',
  tag: 'bisect-experiments',
  label: 'Bisect',
  purpose: 'Find the version that made an indicator worse.',
  action: 'Start search',
  deletion: 'Its runs are deleted too, and running runs are stopped.',
  isLive: false,
  canStop: true,
  ownsRuns: true,
  hasCandidates: false,
  fields: ['managedInputs', 'versions', 'confidence', 'runSettings', 'searchRuns'],
} as const satisfies ExperimentDescriptor;
