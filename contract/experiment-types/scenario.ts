/** Scenario tests are batch experiments over several option sets. */
import { batch } from './batch.ts';
import type { ExperimentDescriptor } from './descriptor.ts';

export const scenario = {
  ...batch,
  noun: 'scenario test',
  label: 'Scenario',
  purpose: 'Find the best of several option sets on the same inputs.',
  fields: [...batch.fields, 'optionSets', 'race'],
} as const satisfies ExperimentDescriptor;
