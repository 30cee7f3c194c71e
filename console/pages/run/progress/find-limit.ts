import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { findTimeLimit, type TimeLimit } from '../../../ui/resources/class-limits.ts';

/** Returns the limit of the time of the app; undefined for a run without an app. */
export function findLimit({ metadata, execution_class, run_type }: RunInformation): TimeLimit | undefined {
  const { limits, max_duration } = metadata;
  const hasApp = limits !== undefined || run_type.type === 'standard';
  return hasApp ? findTimeLimit({ execution_class, max_duration, limits }) : undefined;
}
