/**
 * What an app's end means: the status, the sentence that says why, and what of its output counts. Pure; the bytes are
 * read by whoever calls.
 */
import { OUTPUT_BYTES_MAX, STATISTICS_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Indicator, RunStatistics } from '@switchyard/contract/run-shapes.ts';
import type { Ended } from '@switchyard/runner';
import { messageOf } from '../log.ts';
import type { Mask } from '../secrets/mask.ts';

export interface ReadOutput {
  /** Why the text is not an output, as a sentence; empty when it is one or there is none. */
  error: string;
  /** Whether there is anything. */
  present: boolean;
  statistics: unknown;
  metrics: unknown;
}

/**
 * Reads what an app printed: nothing, or one JSON object. The parser's message quotes a part of the text, in which half of
 * a secret would not be recognised; so it is made anew of the text without the secrets.
 */
export function readOutput(text: string, mask: Mask): ReadOutput {
  const nothing = { present: false, statistics: undefined, metrics: undefined };
  if (text.trim() === '') return { ...nothing, error: '' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = mask.isEmpty ? messageOf(error) : complaintAbout(mask.text(text));
    return {
      ...nothing,
      error: `The app printed text to stdout that is not JSON (${why}); stdout must be one JSON object, logs belong on stderr.`,
    };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return {
      ...nothing,
      error: 'The app printed JSON to stdout that is not an object; stdout must be one JSON object.',
    };
  }
  const fields = value as { statistics?: unknown; metrics?: unknown };
  return { error: '', present: true, statistics: fields.statistics, metrics: fields.metrics };
}

function complaintAbout(text: string): string {
  try {
    JSON.parse(text);
    return 'without its secrets it would be';
  } catch (error) {
    return messageOf(error);
  }
}

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

export interface Statistics extends RunStatistics {
  /** The block itself, when it is an object that can be kept. */
  block: string | null;
}

const NONE: Statistics = { status: 'none', error: '', indicators: [], block: null };

/** Indicators of a statistics block: every number, text and flag under `result` and `run`. */
export function readStatistics(statistics: unknown): Statistics {
  if (statistics === undefined || statistics === null) return NONE;
  if (typeof statistics !== 'object' || Array.isArray(statistics))
    return broken('statistics is not a JSON object.', null);
  const fields = statistics as Record<string, unknown>;
  if (Object.keys(fields).length === 0) return NONE;
  const block = JSON.stringify(statistics);
  const bytes = Buffer.byteLength(block);
  if (bytes > STATISTICS_BYTES_MAX)
    return broken(`statistics has ${bytes} bytes; it may have ${STATISTICS_BYTES_MAX}.`, null);
  if (fields.schema !== 'v1')
    return broken(
      `statistics.schema is ${JSON.stringify(fields.schema) ?? 'missing'}; it must be "v1".`,
      block,
    );
  const indicators: Indicator[] = [];
  for (const part of ['result', 'run'] as const) {
    const value = fields[part];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'object' || Array.isArray(value))
      return broken(`statistics.${part} is not a JSON object.`, block);
    collect(value as Record<string, unknown>, part, indicators);
  }
  return { status: 'success', error: '', indicators, block };
}

function broken(error: string, block: string | null): Statistics {
  return { status: 'error', error, indicators: [], block };
}

function collect(value: Record<string, unknown>, path: string, into: Indicator[]): void {
  for (const [key, leaf] of Object.entries(value)) {
    const name = `${path}.${key}`;
    if (typeof leaf === 'number' || typeof leaf === 'string' || typeof leaf === 'boolean')
      into.push({ name, value: leaf });
    else if (typeof leaf === 'object' && leaf !== null && !Array.isArray(leaf))
      collect(leaf as Record<string, unknown>, name, into);
  }
}
