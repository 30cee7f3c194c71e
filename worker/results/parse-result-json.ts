/**
 * Parses one JSON object of a run: the output of the app, a file it wrote, or an upload for an external run. Pure, because
 * read-results-thread.ts calls it too.
 */
import { decodeUtf8, NotUtf8Error } from '@switchyard/contract/decode-utf8.ts';
import { parseExactJson } from '@switchyard/contract/exact-json.ts';
import type { Mask } from '../log/mask.ts';
import { isObject } from './json-values.ts';
import { type ParsedAssets, parseAssets } from './parse-assets.ts';
import {
  type MetricsReport,
  NO_METRICS,
  parseMetrics,
  parseStatistics,
  type StatisticsReport,
} from './statistics-and-metrics.ts';

export interface JsonSource {
  /** The blocks to read: all of them from an output, only its own from any other file. */
  kind: 'output' | 'statistics' | 'metrics' | 'assets';
  /** The subject of error messages, such as `The statistics file of the app`; null for stdout of the app. */
  subject: string | null;
}

/** The blocks of the object that the server stores; the rest, such as the solution, is dropped. */
export interface ParsedJson {
  /** The error message for a text that is not a JSON object; empty for an object and for an empty text. */
  error: string;
  /** True for an object; false for an empty text and after an error. */
  isPresent: boolean;
  statistics: StatisticsReport;
  metrics: MetricsReport;
  assets: ParsedAssets;
}

/** Parses the bytes of an empty text or of one JSON object; never throws. */
export function parseResultBytes(bytes: Uint8Array, source: JsonSource, mask: Mask): ParsedJson {
  try {
    return parseResultJson(decodeUtf8(bytes), source, mask);
  } catch (error) {
    if (error instanceof NotUtf8Error) return emptyParsedJson(notUtf8Message(source, error.message));
    throw error;
  }
}

/**
 * Parses an empty text or one JSON object; never throws. The message of JSON.parse quotes an excerpt of the text, in which
 * the mask does not recognise half a secret. So after an error the masked text is parsed again for its message.
 */
export function parseResultJson(text: string, source: JsonSource, mask: Mask): ParsedJson {
  if (text.trim() === '') return emptyParsedJson('');
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    return emptyParsedJson(notJsonMessage(source, describeSyntaxError(mask.maskText(text))));
  }
  if (!isObject(value)) return emptyParsedJson(notAnObjectMessage(source));
  const fields = value;
  const { kind } = source;
  const selectBlock = (name: typeof kind): unknown =>
    kind === 'output' || kind === name ? fields[name] : undefined;
  return {
    error: '',
    isPresent: true,
    statistics: parseStatistics(selectBlock('statistics')),
    // A file of metrics may have them at its top level or below the key `metrics`.
    metrics: parseMetrics(kind === 'metrics' && !isObject(fields.metrics) ? fields : selectBlock('metrics')),
    assets: parseAssets(selectBlock('assets')),
  };
}

/** Returns the result for a text without an object, with the error message that says why; empty for an empty text. */
export function emptyParsedJson(error: string): ParsedJson {
  return {
    error,
    isPresent: false,
    statistics: parseStatistics(undefined),
    metrics: NO_METRICS,
    assets: parseAssets(undefined),
  };
}

/** Returns the error message for a text that is not JSON; `detail` is the message of the parser. */
export function notJsonMessage({ subject }: JsonSource, detail: string): string {
  return subject === null
    ? `The app printed text to stdout that is not JSON (${detail}); stdout must be one JSON object, logs belong on stderr.`
    : `${subject} is not JSON (${detail}); it must be one JSON object.`;
}

/** Returns the error message for bytes in another encoding; `detail` is the message of the decoder. */
export function notUtf8Message({ subject }: JsonSource, detail: string): string {
  return subject === null
    ? `The app printed text to stdout that is not UTF-8 (${detail}); print UTF-8, in Python with PYTHONIOENCODING=utf-8.`
    : `${subject} is not UTF-8 (${detail}); write it in UTF-8.`;
}

function notAnObjectMessage({ subject }: JsonSource): string {
  return subject === null
    ? 'The app printed JSON to stdout that is not an object; stdout must be one JSON object.'
    : `${subject} is JSON, but not an object; it must be one JSON object.`;
}

function describeSyntaxError(text: string): string {
  try {
    JSON.parse(text);
    return 'a secret of the app breaks its syntax';
  } catch (error) {
    return error instanceof SyntaxError ? error.message : 'its syntax is invalid';
  }
}
