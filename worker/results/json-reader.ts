/** Reads JSON of any size: a small file on the main thread, a large one in a thread of its own. */
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import PQueue from 'p-queue';
import type { Mask } from '../log/mask.ts';
import { type JsonSource, type ParsedJson, parseResultBytes } from './parse-result-json.ts';

const THREAD_BYTES_MIN = 1024 * 1024;
/** JavaScript in the package of the command line. */
const THREAD = join(import.meta.dirname, `read-results-thread${extname(import.meta.filename)}`);

/** The input of read-results-thread.ts. `content` is a path, or the bytes themselves. */
export interface ReaderThreadInput {
  content: string | Uint8Array<ArrayBuffer>;
  source: JsonSource;
  secrets: readonly string[];
}

/** A file with JSON, or a function that loads its bytes. */
type JsonFile = { path: string; bytes: number } | { load(): Promise<Buffer<ArrayBuffer>>; bytes: number };

/** Reads JSON files for all runs of this process, large ones one at a time. */
export class JsonReader {
  /** One at a time: parsing takes several times the memory of the file, and many runs can end together. */
  readonly #largeReads = new PQueue({ concurrency: 1 });

  /**
   * Reads and parses the file. Loads a large one only when its turn in the queue has come, so that waiting files take no
   * memory. Throws when the thread fails, as on JSON that nests deeper than its stack.
   */
  async read(file: JsonFile, source: JsonSource, mask: Mask): Promise<ParsedJson> {
    if (file.bytes < THREAD_BYTES_MIN) {
      const content = 'load' in file ? await file.load() : await readFile(file.path);
      return parseResultBytes(content, source, mask);
    }
    return this.#largeReads.add(async () =>
      readInThread({
        content: 'load' in file ? await file.load() : file.path,
        source,
        secrets: mask.values,
      }),
    );
  }
}

function readInThread(input: ReaderThreadInput): Promise<ParsedJson> {
  const worker = new Worker(THREAD, {
    workerData: input,
    // A buffer above THREAD_BYTES_MIN is in no pool, so its memory can move to the thread without a copy.
    transferList: typeof input.content === 'string' ? [] : [input.content.buffer],
  });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread that reads it ended')));
  });
}
