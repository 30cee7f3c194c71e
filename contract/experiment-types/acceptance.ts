/** Acceptance tests decide by fixed rules. Each is a view on a batch experiment, which has the runs. */
import type { ExperimentDescriptor } from './descriptor.ts';

export const acceptance = {
  kind: 'acceptance',
  resource: 'AcceptanceTest',
  noun: 'acceptance test',
  tag: 'acceptance-tests',
  label: 'Acceptance',
  purpose: 'Decide by fixed rules whether a candidate may go live.',
  action: 'Start test',
  deletion:
    'A batch that was created with this test is deleted too, with all runs, unless another test compares them.',
  isLive: false,
  canStop: false,
  ownsRuns: false,
  runsOf: 'batch',
  hasCandidates: true,
  fields: [
    'existingBatch',
    'repetitions',
    'ensembles',
    'inputProperties',
    'rules',
    'failureMargin',
    'runSettings',
  ],
} as const satisfies ExperimentDescriptor;
