/** Computes the outcome of a run from the end of its app. */
import { OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { EndedRun } from '@switchyard/runner';

export interface RunOutcome {
  status: 'succeeded' | 'failed' | 'canceled';
  /** The error message of the run; empty when it succeeded. */
  error: string;
}

/** Returns the outcome of the run. `outputError` is the error message about the output; empty for a valid one. */
export function computeOutcome(
  ended: Pick<EndedRun, 'succeeded' | 'reason' | 'error'>,
  outputError: string,
): RunOutcome {
  if (ended.reason === 'canceled') return { status: 'canceled', error: ended.error };
  if (!ended.succeeded) return { status: 'failed', error: ended.error };
  return outputError === '' ? { status: 'succeeded', error: '' } : { status: 'failed', error: outputError };
}

/** Returns the error message for an output above OUTPUT_BYTES_MAX; empty for a smaller one. */
export function outputSizeError(bytes: number): string {
  return bytes > OUTPUT_BYTES_MAX ? `The output has ${bytes} bytes; it may have ${OUTPUT_BYTES_MAX}.` : '';
}
