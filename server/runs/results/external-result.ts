/**
 * Results of external runs: what was uploaded becomes what the run left, read by the rules that hold for apps. What cannot
 * be read is refused with the field named, before anything is written.
 */
import { buffer } from 'node:stream/consumers';
import { LOG_BYTES_MAX, OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { ExternalResult } from '@switchyard/contract/runs/external-runs.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { UploadId } from '@switchyard/contract/schemas/ids.ts';
import { isActionAllowed } from '@switchyard/contract/states.ts';
import { ContentRemovedError, type Contents, type SharedContent } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { badRequest, Problem, quoteValue } from '../../http/errors/problem.ts';
import { errorMessage } from '../../log.ts';
import type { Random } from '../../random.ts';
import { NO_MASK } from '../../secrets/mask.ts';
import type { Uploads } from '../../uploads/uploads.ts';
import type { RunsTable } from '../store/schema.ts';
import { endExternalRun } from '../store/transitions.ts';
import { emptyParsedJson, type JsonSource, type ParsedJson } from './parse-result-json.ts';
import { prepareAssets } from './prepare-assets.ts';
import {
  buildReportColumns,
  discardContents,
  insertResultContents,
  type PreparedResult,
} from './prepared-result.ts';
import { addParseError, readJsonOfAnySize } from './read-results.ts';

export interface ExternalResultParts {
  database: Database;
  contents: Contents;
  uploads: Uploads;
  clock: Clock;
  random: Random;
}

/** What the result writes; throws the 400 that names the field that is wrong. */
export async function prepareExternalResult(
  parts: ExternalResultParts,
  applicationUid: string,
  result: ExternalResult,
  output: FormatType,
): Promise<PreparedResult> {
  const upload = new UploadedResult(parts, applicationUid, result);
  const uploaded = await upload.content('output', OUTPUT_BYTES_MAX);
  const log = await upload.content('error', LOG_BYTES_MAX);
  const inOutput =
    uploaded && output === 'json' ? await upload.json('output', uploaded) : emptyParsedJson('');
  // As of an app that printed nothing: no JSON is no output.
  const outputContent = output === 'json' && !inOutput.isPresent ? null : uploaded;
  const beside = async (kind: 'statistics' | 'metrics' | 'assets'): Promise<ParsedJson> => {
    const content = await upload.content(kind, OUTPUT_BYTES_MAX);
    return content ? upload.json(kind, content) : inOutput;
  };
  const statistics = addParseError(await beside('statistics'));
  const { metrics } = await beside('metrics');
  const { assets } = await beside('assets');

  const now = parts.clock.now();
  const end: PreparedResult = {
    finalColumns: {
      status: result.status ?? (result.error_message ? 'failed' : 'succeeded'),
      error: result.error_message ?? '',
      finished_at: now,
      execution_ms: result.execution_duration ?? 0,
      output_content_id: outputContent?.id ?? null,
      output_bytes: outputContent?.bytes ?? 0,
      log_content_id: log?.id ?? null,
      ...buildReportColumns({ statistics, metrics, assets }, NO_MASK),
    },
    contents: [outputContent, log].filter((one) => one !== null),
    assets: [],
  };
  try {
    end.assets = await prepareAssets(parts, assets.assets, now, end.contents);
  } catch (error) {
    await discardContents(end.contents);
    throw error;
  }
  return end;
}

/** Stores the result of an external run, once. Calls `inTransaction` first in the same transaction. */
export async function storeExternalResult(
  parts: ExternalResultParts,
  run: RunsTable,
  result: ExternalResult,
  inTransaction: (tx: Writer) => Promise<void>,
): Promise<void> {
  if (!isActionAllowed('submitResult', run.status)) throw hasOne(run);
  const { database } = parts;
  const end = await prepareExternalResult(parts, run.application_uid, result, run.output_format);
  try {
    await database.transact(async (tx) => {
      await inTransaction(tx);
      if (!(await endExternalRun(tx, run, end.finalColumns)))
        throw badRequest(`result: the run ${quoteValue(run.id)} has ended meanwhile.`);
      await insertResultContents(tx, run.id, end);
    });
  } catch (error) {
    const refusal = error instanceof ContentRemovedError ? removedMeanwhile() : error;
    if (refusal instanceof Problem) await discardContents(end.contents);
    throw refusal;
  }
  database.notify('runs-ended');
}

function hasOne(run: RunsTable): Problem {
  return badRequest(
    run.run_type === 'external'
      ? `result: the run ${quoteValue(run.id)} is ${run.status} already; a result is given once.`
      : `result: the run ${quoteValue(run.id)} is of the type ${run.run_type}; only an external run is given its result.`,
  );
}

function removedMeanwhile(): Problem {
  return badRequest('An upload of the result was removed meanwhile; upload it again.');
}

/** The uploads that a result names. */
class UploadedResult {
  readonly #parts: ExternalResultParts;
  readonly #applicationUid: string;
  readonly #result: ExternalResult;

  constructor(parts: ExternalResultParts, applicationUid: string, result: ExternalResult) {
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
        `${this.#field(kind)} is ${quoteValue(id)}, an upload of ${content.bytes} bytes; it may have ${bytesMax}.`,
      );
    }
    return content;
  }

  async json(kind: JsonSource['kind'], content: SharedContent): Promise<ParsedJson> {
    const subject = `${this.#field(kind)} is ${quoteValue(this.#id(kind))}, whose content`;
    const file = { bytes: content.bytes, load: async () => buffer(await content.open()) };
    const read = await readJsonOfAnySize(file, { kind, subject }, NO_MASK).catch((error: unknown) =>
      emptyParsedJson(`${subject} cannot be read: ${errorMessage(error)}`),
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
