import { explainFailure } from '@switchyard/contract/runs/presentation/explain-failure.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';

/** Returns the failure of the run in words, with what to do. `last_lines` are those of its log. */
export function describeFailure(run: RunInformation, last_lines?: readonly string[]) {
  const { execution_class, execution_duration, error, metadata } = run;
  return explainFailure({
    ...{ execution_class, execution_duration, error },
    duration_limit: metadata.limits?.duration_ms,
    memory_limit: metadata.limits?.memory_bytes,
    last_lines,
  });
}
