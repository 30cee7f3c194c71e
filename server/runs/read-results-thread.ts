/**
 * The thread that reads large JSON; see read-results.ts. Of an output only the fields that matter are parsed, and the rest
 * goes by piece after piece: an output of 100 MB takes no more memory than one of 1 MB.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { Mask } from '../secrets/mask.ts';
import { nothing, notJson, type ReadJson, readJson } from './read-json.ts';
import type { ThreadWork } from './read-results.ts';
import { JsonSkimmer, NotJsonError } from './skim-json.ts';

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

function readWhole(): ReadJson {
  const bytes = typeof content === 'string' ? readFileSync(content) : Buffer.from(content);
  return readJson(bytes.toString('utf8'), source, mask);
}

function readFields(): ReadJson {
  const skimmer = new JsonSkimmer(['statistics', 'metrics', 'assets']);
  try {
    for (const piece of typeof content === 'string' ? pieces(content) : [content]) skimmer.write(piece);
    return readJson(skimmer.end(), source, mask);
  } catch (error) {
    if (error instanceof NotJsonError) return nothing(notJson(source, error.message));
    throw error;
  }
}

parentPort?.postMessage(source.kind === 'output' ? readFields() : readWhole());
