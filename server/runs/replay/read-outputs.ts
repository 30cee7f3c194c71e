/** Reads the outputs of a replay and its original, and compares them. */
import { Worker } from 'node:worker_threads';
import { decodeUtf8 } from '@switchyard/contract/decode-utf8.ts';
import { isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import { hashArchiveFiles, InvalidArchiveError } from '@switchyard/runner';
import type { Content, Contents } from '../../platform/blobs/contents.ts';
import { findDamagedBlobError } from '../../platform/blobs/verified-blobs.ts';
import type { RunsTable } from '../store/schema.ts';
import { compareFiles, compareJsonOutputs, type OutputDifferences } from './compare-outputs.ts';
import type { ComparedOutputs } from './decide-verdict.ts';

/** Larger outputs are not parsed: two of 100 MB would need more than a gigabyte of memory. */
const COMPARED_BYTES_MAX = 20 * 1024 * 1024;
/** Up to this size the comparison takes less time than the start of a thread. */
const MAIN_THREAD_BYTES_MAX = 256 * 1024;

/** The input of comparison-thread.ts. */
export interface ComparisonThreadInput {
  original: Uint8Array<ArrayBuffer>;
  replay: Uint8Array<ArrayBuffer>;
}

type RunWithOutput = Pick<RunsTable, 'output_content_id' | 'output_format'>;

/** Compares the outputs by their hashes first, and by their content when the hashes differ. */
export async function compareStoredOutputs(
  contents: Contents,
  original: RunWithOutput,
  replay: RunWithOutput,
): Promise<ComparedOutputs> {
  const [before, after] = await Promise.all([findOutput(contents, original), findOutput(contents, replay)]);
  if (!before || !after) return { hasEqualBytes: !before && !after, differences: null };
  if (before.bytes === after.bytes && before.sha256 === after.sha256)
    return { hasEqualBytes: true, differences: null };
  if (
    original.output_format !== replay.output_format ||
    Math.max(before.bytes, after.bytes) > COMPARED_BYTES_MAX
  )
    return { hasEqualBytes: false, differences: null };
  return { hasEqualBytes: false, differences: await compareContents(contents, original, before, after) };
}

async function findOutput(
  contents: Contents,
  { output_content_id: id }: RunWithOutput,
): Promise<Content | undefined> {
  return id === null ? undefined : contents.find(id);
}

/** Returns null for outputs that cannot be compared: text, invalid archives, and damaged blobs. */
async function compareContents(
  contents: Contents,
  { output_format: format }: RunWithOutput,
  before: Content,
  after: Content,
): Promise<OutputDifferences | null> {
  if (format === 'text') return null;
  try {
    if (isArchive(format))
      return compareFiles(
        await hashArchiveFiles(await before.open()),
        await hashArchiveFiles(await after.open()),
      );
    const [original, replay] = await Promise.all([contents.read(before.id), contents.read(after.id)]);
    if (!original || !replay) return null;
    if (Math.max(original.length, replay.length) <= MAIN_THREAD_BYTES_MAX)
      return compareJsonOutputs(decodeUtf8(original), decodeUtf8(replay));
    return await compareInThread({ original: new Uint8Array(original), replay: new Uint8Array(replay) });
  } catch (error) {
    const isUnreadable =
      error instanceof InvalidArchiveError ||
      error instanceof SyntaxError ||
      findDamagedBlobError(error) !== null;
    if (isUnreadable) return null;
    throw error;
  }
}

function compareInThread(input: ComparisonThreadInput): Promise<OutputDifferences> {
  const worker = new Worker(new URL('./comparison-thread.ts', import.meta.url), {
    workerData: input,
    transferList: [input.original.buffer, input.replay.buffer],
  });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('The thread that compares outputs ended without a result.')));
  });
}
