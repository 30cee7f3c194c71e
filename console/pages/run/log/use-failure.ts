import { explainFailure, type Failure } from '@switchyard/contract/runs/presentation/explain-failure.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useKnownLines } from './use-known-lines.ts';

/** Returns the failure of the run in words, with what to do. */
export function useFailure(run: RunInformation): Failure {
  const { execution_class, execution_duration, error, metadata } = run;
  const { lines } = useKnownLines(run);
  return explainFailure({
    ...{ execution_class, execution_duration, error },
    duration_limit: metadata.limits?.duration_ms,
    memory_limit: metadata.limits?.memory_bytes,
    last_lines: lines.map(({ text }) => text),
  });
}
