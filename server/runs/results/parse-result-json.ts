/**
 * Reads one JSON object that belongs to a run: what the app printed, a file it wrote, or what was uploaded for an external
 * run. Pure, because it also works in a thread.
 */
import type { Mask } from '../../secrets/mask.ts';
import { type ParsedAssets, parseAssets } from './parse-assets.ts';
import {
  type MetricsReport,
  NO_METRICS,
  parseMetrics,
  parseStatistics,
  type StatisticsReport,
} from './statistics-and-metrics.ts';

export interface JsonSource {
  /** What is looked for: in an output all of it, in other files what they are for. */
  kind: 'output' | 'statistics' | 'metrics' | 'assets';
  /** What it is called in sentences, such as `The statistics file of the app`; null for what the app printed. */
  subject: string | null;
}

/** The parts that matter, small. */
export interface ParsedJson {
  /** Why the text is not an object, as a sentence; empty when it is one or there is nothing. */
  error: string;
  /** Whether there is anything. */
  isPresent: boolean;
  statistics: StatisticsReport;
  metrics: MetricsReport;
  assets: ParsedAssets;
}

/**
 * Reads nothing, or one JSON object. The parser's message quotes a part of the text, in which half of a secret would not
 * be recognised; so it is made anew of the text without the secrets.
 */
export function parseResultJson(text: string, source: JsonSource, mask: Mask): ParsedJson {
  if (text.trim() === '') return emptyParsedJson('');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return emptyParsedJson(notJsonMessage(source, complaintAbout(mask.maskText(text))));
  }
  if (!isObject(value)) return emptyParsedJson(notAnObject(source));
  const fields = value as Record<string, unknown>;
  const { kind } = source;
  const wanted = (name: typeof kind): unknown =>
    kind === 'output' || kind === name ? fields[name] : undefined;
  return {
    error: '',
    isPresent: true,
    statistics: parseStatistics(wanted('statistics')),
    // A file of metrics is the metrics themselves, with or without a wrapping key.
    metrics: parseMetrics(kind === 'metrics' && !isObject(fields.metrics) ? fields : wanted('metrics')),
    assets: parseAssets(wanted('assets')),
  };
}

/** What nothing says, with the reason why there is nothing. */
export function emptyParsedJson(error: string): ParsedJson {
  return {
    error,
    isPresent: false,
    statistics: parseStatistics(undefined),
    metrics: NO_METRICS,
    assets: parseAssets(undefined),
  };
}

/** The sentence for a text that is no JSON. */
export function notJsonMessage({ subject }: JsonSource, why: string): string {
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
