/**
 * Results of external runs: what was uploaded becomes what the run left, read by the rules that hold for apps. What cannot
 * be read is refused with the field named, before anything is written.
 */
import { buffer } from 'node:stream/consumers';
import type { ExternalResult } from '@switchyard/contract/external-runs.ts';
import type { UploadId } from '@switchyard/contract/ids.ts';
import { LOG_BYTES_MAX, OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { may } from '@switchyard/contract/states.ts';
import { ContentGoneError, type Contents, type SharedContent } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import { badRequest, Problem, shown } from '../http/problem.ts';
import { messageOf } from '../log.ts';
import type { Random } from '../random.ts';
import { NO_MASK } from '../secrets/mask.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { prepareAssets } from './assets.ts';
import { discardAll, insertResults, type PreparedEnd, reportedColumns } from './finish.ts';
import type { Formats } from './formats.ts';
import { endRegistered } from './moves.ts';
import { type JsonSource, nothing, type ReadJson } from './read-json.ts';
import { readJsonOfAnySize, withError } from './read-results.ts';
import type { RunsTable } from './schema.ts';

export interface ResultParts {
  database: Database;
  contents: Contents;
  uploads: Uploads;
  clock: Clock;
  random: Random;
}

/** What the result writes; throws the 400 that names the field that is wrong. */
export async function prepareResult(
  parts: ResultParts,
  applicationUid: string,
  result: ExternalResult,
  output: Formats['output'],
): Promise<PreparedEnd> {
  const upload = new UploadedResult(parts, applicationUid, result);
  const uploaded = await upload.content('output', OUTPUT_BYTES_MAX);
  const log = await upload.content('error', LOG_BYTES_MAX);
  const inOutput = uploaded && output === 'json' ? await upload.json('output', uploaded) : nothing('');
  // As of an app that printed nothing: no JSON is no output.
  const outputContent = output === 'json' && !inOutput.present ? null : uploaded;
  const beside = async (kind: 'statistics' | 'metrics' | 'assets'): Promise<ReadJson> => {
    const content = await upload.content(kind, OUTPUT_BYTES_MAX);
    return content ? upload.json(kind, content) : inOutput;
  };
  const statistics = withError(await beside('statistics'));
  const { metrics } = await beside('metrics');
  const { assets } = await beside('assets');

  const now = parts.clock.now();
  const end: PreparedEnd = {
    ending: {
      status: result.status ?? (result.error_message ? 'failed' : 'succeeded'),
      error: result.error_message ?? '',
      finished_at: now,
      execution_ms: result.execution_duration ?? 0,
      output_content_id: outputContent?.id ?? null,
      output_bytes: outputContent?.bytes ?? 0,
      log_content_id: log?.id ?? null,
      ...reportedColumns({ statistics, metrics, assets }, NO_MASK),
    },
    contents: [outputContent, log].filter((one) => one !== null),
    assets: [],
  };
  try {
    end.assets = await prepareAssets(parts, assets.assets, now, end.contents);
  } catch (error) {
    await discardAll(end.contents);
    throw error;
  }
  return end;
}

/** Gives a registered run its result, once. `also` is done in the same transaction, first. */
export async function giveResult(
  parts: ResultParts,
  run: RunsTable,
  result: ExternalResult,
  also: (tx: Writer) => Promise<void>,
): Promise<void> {
  if (!may('giveResult', run.status)) throw hasOne(run);
  const { database } = parts;
  const end = await prepareResult(parts, run.application_uid, result, run.output_format);
  try {
    await database.transact(async (tx) => {
      await also(tx);
      if (!(await endRegistered(tx, run, end.ending)))
        throw badRequest(`result: the run ${shown(run.id)} has ended meanwhile.`);
      await insertResults(tx, run.id, end);
    });
  } catch (error) {
    const refusal = error instanceof ContentGoneError ? removedMeanwhile() : error;
    if (refusal instanceof Problem) await discardAll(end.contents);
    throw refusal;
  }
  database.notify('runs-ended');
}

function hasOne(run: RunsTable): Problem {
  return badRequest(
    run.run_type === 'external'
      ? `result: the run ${shown(run.id)} is ${run.status} already; a result is given once.`
      : `result: the run ${shown(run.id)} is of the type ${run.run_type}; only an external run is given its result.`,
  );
}

function removedMeanwhile(): Problem {
  return badRequest('An upload of the result was removed meanwhile; upload it again.');
}

/** The uploads that a result names. */
class UploadedResult {
  readonly #parts: ResultParts;
  readonly #applicationUid: string;
  readonly #result: ExternalResult;

  constructor(parts: ResultParts, applicationUid: string, result: ExternalResult) {
    this.#parts = parts;
    this.#applicationUid = applicationUid;
    this.#result = result;
  }

  async content(kind: JsonSource['kind'] | 'error', bytesMax: number): Promise<SharedContent | null> {
    const id = this.#id(kind);
    if (id === null) return null;
    const content = await this.#parts.uploads.use(this.#applicationUid, id, 'content', this.#field(kind));
    if (content.bytes > bytesMax) {
      throw badRequest(
        `${this.#field(kind)} is ${shown(id)}, an upload of ${content.bytes} bytes; it may have ${bytesMax}.`,
      );
    }
    return content;
  }

  async json(kind: JsonSource['kind'], content: SharedContent): Promise<ReadJson> {
    const subject = `${this.#field(kind)} is ${shown(this.#id(kind))}, whose content`;
    const file = { bytes: content.bytes, load: async () => buffer(await content.open()) };
    const read = await readJsonOfAnySize(file, { kind, subject }, NO_MASK).catch((error: unknown) =>
      nothing(`${subject} cannot be read: ${messageOf(error)}`),
    );
    if (read.error !== '') throw badRequest(read.error);
    return read;
  }

  #field(kind: JsonSource['kind'] | 'error'): string {
    return `result.${kind}_upload_id`;
  }

  #id(kind: JsonSource['kind'] | 'error'): UploadId | null {
    return this.#result[`${kind}_upload_id`] || null;
  }
}
