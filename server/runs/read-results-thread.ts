/**
 * The thread that reads large JSON; see read-results.ts. Of an output only the fields that matter are parsed, and the rest
 * goes by piece after piece: an output of 100 MB takes no more memory than one of 1 MB.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { Mask } from '../secrets/mask.ts';
import { nothing, notJson, type ReadJson, readJson } from './read-json.ts';
import type { ThreadWork } from './read-results.ts';
import { JsonSkimmer, NotJsonError } from './skim-json.ts';
import { tooLongMetrics, tooLongStatistics } from './statistics.ts';

const PIECE_BYTES = 256 * 1024;

const { content, source, secrets } = workerData as ThreadWork;
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

function readWhole(): ReadJson {
  const bytes = typeof content === 'string' ? readFileSync(content) : Buffer.from(content);
  return readJson(bytes.toString('utf8'), source, mask);
}

function readFields(wanted: Readonly<Record<string, number>>): ReadJson {
  const skimmer = new JsonSkimmer(wanted);
  try {
    for (const piece of typeof content === 'string' ? pieces(content) : [content]) skimmer.write(piece);
    const read = readJson(skimmer.end(), source, mask);
    const statistics = skimmer.tooLong.get('statistics');
    const metrics = skimmer.tooLong.get('metrics');
    return {
      ...read,
      ...(statistics === undefined ? {} : { statistics: tooLongStatistics(statistics) }),
      ...(metrics === undefined ? {} : { metrics: tooLongMetrics(`${metrics} bytes`) }),
    };
  } catch (error) {
    if (error instanceof NotJsonError) return nothing(notJson(source, error.message));
    throw error;
  }
}

/** A file of metrics may be the metrics themselves; one so long that they are not kept has only to be JSON. */
function readMetrics(): ReadJson {
  const bytes = typeof content === 'string' ? statSync(content).size : content.length;
  if (bytes <= BYTES_MAX.metrics) return readWhole();
  const read = readFields({ metrics: BYTES_MAX.metrics });
  // Nothing was kept, or nothing was there: then the file is the metrics themselves.
  return read.present && read.metrics.block === '{}'
    ? { ...read, metrics: tooLongMetrics(`${bytes} bytes`) }
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
