/** Switchback tests let a baseline and a candidate serve live runs in random units of time. */
import type { ExperimentDescriptor } from './descriptor.ts';

export const switchback = {
  kind: 'switchback',
  resource: 'SwitchbackTest',
  noun: 'switchback test',
  tag: 'switchback-tests',
  label: 'Switchback',
  purpose: 'Let a candidate serve live runs in random time slices.',
  action: 'Create draft',
  deletion: 'Its plan ends. The runs that callers created stay.',
  isLive: true,
  canStop: true,
  ownsRuns: true,
  servesCallers: true,
  hasCandidates: true,
  fields: ['units', 'comparison', 'failureMargin'],
} as const satisfies ExperimentDescriptor;
