import type { LeastLogLevel } from '@switchyard/contract/runs/logs/log-levels.ts';

/** The choices of the least severity of lines; the empty value is for all lines. */
export const LEVEL_OPTIONS: readonly { value: LeastLogLevel | ''; label: string }[] = [
  { value: '', label: 'All lines' },
  { value: 'warning', label: 'Warnings and errors' },
  { value: 'error', label: 'Errors' },
];
