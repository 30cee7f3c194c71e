/**
 * The thread in which json-reader.ts reads large JSON. It parses the stored fields and only scans the rest
 * piece by piece, so an output of 100 MB takes no more memory than one of 1 MB.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { NotUtf8Error, Utf8Check } from '@switchyard/contract/decode-utf8.ts';
import { Mask } from '../log/mask.ts';
import { JsonFieldExtractor, NotJsonError } from './json-field-extractor.ts';
import type { ReaderThreadInput } from './json-reader.ts';
import {
  emptyParsedJson,
  notJsonMessage,
  notUtf8Message,
  type ParsedJson,
  parseResultBytes,
  parseResultJson,
} from './parse-result-json.ts';
import { oversizedMetrics, oversizedStatistics } from './statistics-and-metrics.ts';

const PIECE_BYTES = 256 * 1024;

const { content, source, secrets }: ReaderThreadInput = workerData;
const mask = new Mask(secrets);

function* readPieces(path: string): Generator<Uint8Array> {
  const piece = Buffer.alloc(PIECE_BYTES);
  const file = openSync(path, 'r');
  try {
    for (let bytes = readSync(file, piece); bytes > 0; bytes = readSync(file, piece))
      yield piece.subarray(0, bytes);
  } finally {
    closeSync(file);
  }
}

/**
 * A block above this size is rejected without parsing, even if most of it is white space. To parse 100 MB takes 1 GB of
 * memory and half a minute, for which the next large file waits.
 */
const BYTES_MAX = { statistics: 1024 * 1024, metrics: 8 * 1024 * 1024, assets: Number.MAX_SAFE_INTEGER };

function readWhole(): ParsedJson {
  const bytes = typeof content === 'string' ? readFileSync(content) : Buffer.from(content);
  return parseResultBytes(bytes, source, mask);
}

/** Parses only the given fields, each up to its number of bytes. */
function readFields(bytesMaxByField: Readonly<Record<string, number>>): ParsedJson {
  const extractor = new JsonFieldExtractor(bytesMaxByField);
  const encoding = new Utf8Check();
  try {
    for (const piece of typeof content === 'string' ? readPieces(content) : [content])
      extractor.write(encoding.write(piece));
    encoding.end();
    const parsed = parseResultJson(extractor.end(), source, mask);
    const statistics = extractor.oversizedFields.get('statistics');
    const metrics = extractor.oversizedFields.get('metrics');
    return {
      ...parsed,
      ...(statistics === undefined ? {} : { statistics: oversizedStatistics(statistics) }),
      ...(metrics === undefined ? {} : { metrics: oversizedMetrics(`${metrics} bytes`) }),
    };
  } catch (error) {
    if (error instanceof NotUtf8Error) return emptyParsedJson(notUtf8Message(source, error.message));
    if (error instanceof NotJsonError) return emptyParsedJson(notJsonMessage(source, error.message));
    throw error;
  }
}

/** Parses a file of metrics, which may have them at its top level. Only checks the syntax of a file above the limit. */
function readMetrics(): ParsedJson {
  const bytes = typeof content === 'string' ? statSync(content).size : content.length;
  if (bytes <= BYTES_MAX.metrics) return readWhole();
  const parsed = readFields({ metrics: BYTES_MAX.metrics });
  // Without a `metrics` key the metrics are at the top level, where their size is that of the file.
  return parsed.isPresent && parsed.metrics.block === '{}'
    ? { ...parsed, metrics: oversizedMetrics(`${bytes} bytes`) }
    : parsed;
}

const { kind } = source;
parentPort?.postMessage(
  kind === 'output'
    ? readFields(BYTES_MAX)
    : kind === 'metrics'
      ? readMetrics()
      : readFields({ [kind]: BYTES_MAX[kind] }),
);
