/**
 * Reads the properties of the inputs of an experiment, when it is created. The results then never read an input: with 500
 * inputs of a megabyte each, every result would parse 500 MB.
 */
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { FIELD_INPUT_BYTES_MAX, FIELD_INPUTS_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { formatBinaryBytes, formatSides } from '@switchyard/contract/presentation/format-quantity.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import PQueue from 'p-queue';
import { type Content, ContentRemovedError, type Contents } from '../../platform/blobs/contents.ts';
import { findDamagedBlobError } from '../../platform/blobs/verified-blobs.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import { type ExtractedProperties, extractProperties } from './extract-properties.ts';
import type { FieldSources } from './property-sources.ts';
import type { ContentSketch } from './sketch-content.ts';

/** Up to this size an input is parsed in less time than a message to a thread takes. */
const MAIN_THREAD_BYTES_MAX = 64 * 1024;
/** Inputs to parse before other requests get processor time. */
const PARSE_BATCH_SIZE = 20;
/** The contents of an experiment are compared up to this size: reading and parsing them takes less than a second. */
const SKETCHED_BYTES_MAX = 32 * 1024 * 1024;
/** Sketches are compared in pairs, while the server does nothing else: 0.1 s for 250 inputs, and 3.5 s for 2,000. */
const SKETCHED_INPUTS_MAX = 250;
const SKETCH_SOURCES: FieldSources = { clusterings: [], features: [], sketch: true };

/** An input whose fields to read. `contentId` names the stored content. */
export interface ReadableInput {
  contentId: string;
  input_id: string;
  input_format: FormatType;
  content: Pick<Content, 'bytes'>;
}

/** Reads inputs for all requests of this process; large inputs of one request at a time. */
export class PropertyReader {
  readonly #contents: Contents;
  /** One at a time: parsing takes several times the memory of an input. */
  readonly #largeReads = new PQueue({ concurrency: 1 });

  constructor({ contents }: { contents: Contents }) {
    this.#contents = contents;
  }

  /**
   * Returns the properties of each input, in the same order. Throws a 400 for inputs that are too large to read, and a
   * ContentRemovedError for an input that was deleted.
   */
  async read(inputs: readonly ReadableInput[], sources: FieldSources): Promise<ExtractedProperties[]> {
    const found = inputs.map((): ExtractedProperties => ({ clusters: {}, features: {} }));
    const [first] = [...sources.clusterings, ...sources.features];
    if (!first) return found;
    const readable = [...inputs.entries()].filter(([, { input_format }]) => input_format === 'json');
    checkSizes(
      readable.map(([, input]) => input),
      first.name,
    );
    await this.#readInto(found, readable, sources);
    return found;
  }

  /**
   * Returns the sketch of each input, in the same order; null for one that is no JSON or is damaged. All are null where the
   * inputs are too large or too many to be compared unasked. Throws a ContentRemovedError for an input that was deleted.
   */
  async sketch(inputs: readonly ReadableInput[]): Promise<(ContentSketch | null)[]> {
    const found = inputs.map((): ExtractedProperties => ({ clusters: {}, features: {} }));
    const total = inputs.reduce((sum, { content }) => sum + content.bytes, 0);
    const isBeyondBounds = total > SKETCHED_BYTES_MAX || inputs.length > SKETCHED_INPUTS_MAX;
    if (isBeyondBounds || inputs.some(({ input_format }) => input_format !== 'json'))
      return found.map(() => null);
    try {
      await this.#readInto(found, [...inputs.entries()], SKETCH_SOURCES);
    } catch (error) {
      // Nobody asked for the sketches, so that a damaged input must not refuse the experiment.
      if (findDamagedBlobError(error) === null) throw error;
    }
    return found.map(({ sketch }) => sketch ?? null);
  }

  async #readInto(
    found: ExtractedProperties[],
    readable: readonly [index: number, input: ReadableInput][],
    sources: FieldSources,
  ): Promise<void> {
    const isSmall = ({ content }: ReadableInput) => content.bytes <= MAIN_THREAD_BYTES_MAX;
    for (const [place, [index, input]] of readable.filter(([, one]) => isSmall(one)).entries()) {
      found[index] = extractProperties(await this.#load(input), sources);
      if (place % PARSE_BATCH_SIZE === 0) await setImmediate();
    }
    const large = readable.filter(([, one]) => !isSmall(one));
    if (large.length > 0) await this.#largeReads.add(() => this.#readInThread(large, sources, found));
  }

  async #readInThread(
    inputs: readonly [index: number, input: ReadableInput][],
    sources: FieldSources,
    found: ExtractedProperties[],
  ): Promise<void> {
    const worker = new Worker(new URL('./extraction-thread.ts', import.meta.url), { workerData: sources });
    const failure = new Promise<never>((_, reject) => {
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('The thread that reads inputs ended without a result.')));
    });
    // The thread also ends after the last input, when nothing awaits this promise any more.
    failure.catch(() => {});
    try {
      for (const [index, input] of inputs) {
        const bytes = new Uint8Array(await this.#load(input));
        const response = new Promise<ExtractedProperties>((resolve) => worker.once('message', resolve));
        worker.postMessage(bytes, [bytes.buffer]);
        found[index] = await Promise.race([response, failure]);
      }
    } finally {
      void worker.terminate();
    }
  }

  async #load({ contentId }: ReadableInput): Promise<Buffer> {
    const content = await this.#contents.read(contentId);
    if (!content) throw new ContentRemovedError(`The content ${contentId} was deleted.`);
    return content;
  }
}

function checkSizes(inputs: readonly ReadableInput[], name: string): void {
  const large = inputs.find(({ content }) => content.bytes > FIELD_INPUT_BYTES_MAX);
  const total = inputs.reduce((sum, { content }) => sum + content.bytes, 0);
  const start = `The field ${quoteValue(name)} cannot be read:`;
  const advice = 'Name bytes, or use smaller inputs.';
  const write = (bytes: number, most: number): string[] => formatSides([bytes, most], formatBinaryBytes);
  if (large) {
    const [size, most] = write(large.content.bytes, FIELD_INPUT_BYTES_MAX);
    throw badRequest(
      `${start} the input ${quoteValue(large.input_id)} has ${size}, and fields are read from inputs of at most ${most}. ${advice}`,
    );
  }
  if (total > FIELD_INPUTS_BYTES_MAX) {
    const [size, most] = write(total, FIELD_INPUTS_BYTES_MAX);
    throw badRequest(
      `${start} the inputs have ${size} together, and fields are read from at most ${most}. ${advice}`,
    );
  }
}
