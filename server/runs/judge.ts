/** What an app's end means: the status and the sentence that says why. Pure. */
import { OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Ended } from '@switchyard/runner';

export interface Verdict {
  status: 'succeeded' | 'failed' | 'canceled';
  error: string;
}

/** The status an ended app gives its run. `outputError` is what is wrong with its output, or empty. */
export function judge(ended: Pick<Ended, 'succeeded' | 'reason' | 'error'>, outputError: string): Verdict {
  if (ended.reason === 'canceled') return { status: 'canceled', error: ended.error };
  if (!ended.succeeded) return { status: 'failed', error: ended.error };
  return outputError === '' ? { status: 'succeeded', error: '' } : { status: 'failed', error: outputError };
}

export function tooLarge(bytes: number): string {
  return bytes > OUTPUT_BYTES_MAX ? `The output has ${bytes} bytes; it may have ${OUTPUT_BYTES_MAX}.` : '';
}
