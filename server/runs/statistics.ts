/** Statistics as an output has them, and the indicators in them. Pure, because it also works in a thread. */
import { INDICATORS_CHARS_MAX, STATISTICS_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Indicator, RunStatistics } from '@switchyard/contract/run-shapes.ts';

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
  if (bytes > STATISTICS_BYTES_MAX) return tooLongStatistics(bytes);
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
  const endless = indicators.find(({ value }) => typeof value === 'number' && !Number.isFinite(value));
  if (endless)
    return broken(
      `statistics.${endless.name.slice(0, NAME_CHARS_SHOWN)} is a number too large to keep; it may be at most ${Number.MAX_VALUE}.`,
      block,
    );
  const chars = JSON.stringify(indicators).length;
  if (chars > INDICATORS_CHARS_MAX)
    return broken(
      `statistics makes indicators of ${chars} characters, each with its whole path; they may have ${INDICATORS_CHARS_MAX}.`,
      block,
    );
  return { status: 'success', error: '', indicators, block };
}

/** What statistics of so many bytes are, whatever stands in them. */
export function tooLongStatistics(bytes: number): Statistics {
  return broken(`statistics has ${bytes} bytes; it may have ${STATISTICS_BYTES_MAX}.`, null);
}

function broken(error: string, block: string | null): Statistics {
  return { status: 'error', error, indicators: [], block };
}

function collect(value: Record<string, unknown>, path: string, into: Indicator[]): void {
  for (const [key, leaf] of Object.entries(value)) {
    const name = `${path}.${readable(key)}`;
    if (typeof leaf === 'string') into.push({ name, value: readable(leaf) });
    else if (typeof leaf === 'number' || typeof leaf === 'boolean') into.push({ name, value: leaf });
    else if (typeof leaf === 'object' && leaf !== null && !Array.isArray(leaf))
      collect(leaf as Record<string, unknown>, name, into);
  }
}

const NAME_CHARS_SHOWN = 200;

/** Text that every database takes and every reader of JSON reads: half a surrogate pair is no character, and NUL none that is kept. */
function readable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{fffd}');
}
