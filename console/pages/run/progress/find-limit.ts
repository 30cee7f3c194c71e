import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { describeTimeLimit, findTimeLimit, type TimeLimit } from '../../../ui/resources/class-limits.ts';

/** Returns the limit of the time of the app. The server states it from the start on; a run without an app has none. */
export function findLimit({ metadata, execution_class, run_type }: RunInformation): TimeLimit | undefined {
  const { limits, max_duration } = metadata;
  if (limits) return describeTimeLimit(limits.duration_ms, max_duration);
  return run_type.type === 'standard' ? findTimeLimit({ execution_class, max_duration }) : undefined;
}
