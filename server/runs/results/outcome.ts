/** What an app's end means: the status and the sentence that says why. Pure. */
import { OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { EndedRun } from '@switchyard/runner';

export interface RunOutcome {
  status: 'succeeded' | 'failed' | 'canceled';
  error: string;
}

/** The status an ended app gives its run. `outputError` is what is wrong with its output, or empty. */
export function computeOutcome(
  ended: Pick<EndedRun, 'succeeded' | 'reason' | 'error'>,
  outputError: string,
): RunOutcome {
  if (ended.reason === 'canceled') return { status: 'canceled', error: ended.error };
  if (!ended.succeeded) return { status: 'failed', error: ended.error };
  return outputError === '' ? { status: 'succeeded', error: '' } : { status: 'failed', error: outputError };
}

export function outputSizeError(bytes: number): string {
  return bytes > OUTPUT_BYTES_MAX ? `The output has ${bytes} bytes; it may have ${OUTPUT_BYTES_MAX}.` : '';
}
