/**
 * The thread that reads large JSON; see read-results.ts. Of an output only the fields that matter are parsed, and the rest
 * goes by piece after piece: an output of 100 MB takes no more memory than one of 1 MB.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { Mask } from '../../secrets/mask.ts';
import { JsonFieldExtractor, NotJsonError } from './json-field-extractor.ts';
import { emptyParsedJson, notJsonMessage, type ParsedJson, parseResultJson } from './parse-result-json.ts';
import type { ReaderThreadInput } from './read-results.ts';
import { oversizedMetrics, oversizedStatistics } from './statistics-and-metrics.ts';

const PIECE_BYTES = 256 * 1024;

const { content, source, secrets } = workerData as ReaderThreadInput;
const mask = new Mask(secrets);

function* pieces(path: string): Generator<Uint8Array> {
  const piece = Buffer.alloc(PIECE_BYTES);
  const file = openSync(path, 'r');
  try {
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece))
      yield piece.subarray(0, read);
  } finally {
    closeSync(file);
  }
}

/**
 * What is longer than this need not be parsed to know that it is more than is kept of it, however much of it is white
 * space: parsed, 100 MB take a gigabyte and half a minute, for which the next that is large waits.
 */
const BYTES_MAX = { statistics: 1024 * 1024, metrics: 8 * 1024 * 1024, assets: Number.MAX_SAFE_INTEGER };

function readWhole(): ParsedJson {
  const bytes = typeof content === 'string' ? readFileSync(content) : Buffer.from(content);
  return parseResultJson(bytes.toString('utf8'), source, mask);
}

function readFields(wanted: Readonly<Record<string, number>>): ParsedJson {
  const skimmer = new JsonFieldExtractor(wanted);
  try {
    for (const piece of typeof content === 'string' ? pieces(content) : [content]) skimmer.write(piece);
    const read = parseResultJson(skimmer.end(), source, mask);
    const statistics = skimmer.oversizedFields.get('statistics');
    const metrics = skimmer.oversizedFields.get('metrics');
    return {
      ...read,
      ...(statistics === undefined ? {} : { statistics: oversizedStatistics(statistics) }),
      ...(metrics === undefined ? {} : { metrics: oversizedMetrics(`${metrics} bytes`) }),
    };
  } catch (error) {
    if (error instanceof NotJsonError) return emptyParsedJson(notJsonMessage(source, error.message));
    throw error;
  }
}

/** A file of metrics may be the metrics themselves; one so long that they are not kept has only to be JSON. */
function readMetrics(): ParsedJson {
  const bytes = typeof content === 'string' ? statSync(content).size : content.length;
  if (bytes <= BYTES_MAX.metrics) return readWhole();
  const read = readFields({ metrics: BYTES_MAX.metrics });
  // Nothing was kept, or nothing was there: then the file is the metrics themselves.
  return read.isPresent && read.metrics.block === '{}'
    ? { ...read, metrics: oversizedMetrics(`${bytes} bytes`) }
    : read;
}

const { kind } = source;
parentPort?.postMessage(
  kind === 'output'
    ? readFields(BYTES_MAX)
    : kind === 'metrics'
      ? readMetrics()
      : readFields({ [kind]: BYTES_MAX[kind] }),
);
