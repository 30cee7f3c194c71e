/** Shadow tests compare a candidate with a baseline on copies of live runs. */
import type { ExperimentDescriptor } from './descriptor.ts';

export const shadow = {
  kind: 'shadow',
  resource: 'ShadowTest',
  noun: 'shadow test',
  tag: 'shadow-tests',
  label: 'Shadow',
  purpose: 'Copy live runs to a candidate; callers notice nothing.',
  action: 'Create draft',
  deletion: 'Its copies are deleted too. The runs that callers created stay.',
  isLive: true,
  canStop: true,
  ownsRuns: true,
  hasCandidates: true,
  fields: ['candidates', 'copies', 'comparison', 'ties', 'failureMargin'],
} as const satisfies ExperimentDescriptor;
