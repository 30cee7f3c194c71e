import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { findDurationLimit } from '../../../ui/resources/class-limits.ts';

/** Returns the limit of the time of the app in milliseconds. The server states it after the end. */
export function findLimit({ metadata, execution_class }: RunInformation): number | undefined {
  return (
    metadata.limits?.duration_ms ??
    findDurationLimit({ execution_class, max_duration: metadata.max_duration })
  );
}
