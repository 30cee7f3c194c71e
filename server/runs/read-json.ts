/**
 * Reads one JSON object that belongs to a run: what the app printed, a file it wrote, or what was uploaded for an external
 * run. Pure, because it also works in a thread.
 */
import type { Mask } from '../secrets/mask.ts';
import { type ReadAssets, readAssets } from './read-assets.ts';
import { type Metrics, NO_METRICS, readMetrics, readStatistics, type Statistics } from './statistics.ts';

export interface JsonSource {
  /** What is looked for: in an output all of it, in other files what they are for. */
  kind: 'output' | 'statistics' | 'metrics' | 'assets';
  /** What it is called in sentences, such as `The statistics file of the app`; null for what the app printed. */
  subject: string | null;
}

/** The parts that matter, small. */
export interface ReadJson {
  /** Why the text is not an object, as a sentence; empty when it is one or there is nothing. */
  error: string;
  /** Whether there is anything. */
  present: boolean;
  statistics: Statistics;
  metrics: Metrics;
  assets: ReadAssets;
}

/**
 * Reads nothing, or one JSON object. The parser's message quotes a part of the text, in which half of a secret would not
 * be recognised; so it is made anew of the text without the secrets.
 */
export function readJson(text: string, source: JsonSource, mask: Mask): ReadJson {
  if (text.trim() === '') return nothing('');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return nothing(notJson(source, complaintAbout(mask.text(text))));
  }
  if (!isObject(value)) return nothing(notAnObject(source));
  const fields = value as Record<string, unknown>;
  const { kind } = source;
  const wanted = (name: typeof kind): unknown =>
    kind === 'output' || kind === name ? fields[name] : undefined;
  return {
    error: '',
    present: true,
    statistics: readStatistics(wanted('statistics')),
    // A file of metrics is the metrics themselves, with or without a wrapping key.
    metrics: readMetrics(kind === 'metrics' && !isObject(fields.metrics) ? fields : wanted('metrics')),
    assets: readAssets(wanted('assets')),
  };
}

/** What nothing says, with the reason why there is nothing. */
export function nothing(error: string): ReadJson {
  return {
    error,
    present: false,
    statistics: readStatistics(undefined),
    metrics: NO_METRICS,
    assets: readAssets(undefined),
  };
}

/** The sentence for a text that is no JSON. */
export function notJson({ subject }: JsonSource, why: string): string {
  return subject === null
    ? `The app printed text to stdout that is not JSON (${why}); stdout must be one JSON object, logs belong on stderr.`
    : `${subject} is not JSON (${why}); it must be one JSON object.`;
}

function notAnObject({ subject }: JsonSource): string {
  return subject === null
    ? 'The app printed JSON to stdout that is not an object; stdout must be one JSON object.'
    : `${subject} is JSON, but not an object; it must be one JSON object.`;
}

function complaintAbout(text: string): string {
  try {
    JSON.parse(text);
    return 'without its secrets it would be';
  } catch (error) {
    return (error as SyntaxError).message;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
