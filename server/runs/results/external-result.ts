/**
 * Results of external runs. The uploads become the results of the run, read by the same rules as those of apps. An invalid
 * upload is a 400 that names the field, before anything is written.
 */
import { buffer } from 'node:stream/consumers';
import { LOG_BYTES_MAX, OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { ExternalResult } from '@switchyard/contract/runs/external-runs.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { UploadId } from '@switchyard/contract/schemas/ids.ts';
import { isActionAllowed } from '@switchyard/contract/states.ts';
import { ContentRemovedError, type SharedContent } from '../../blobs/contents.ts';
import type { Writer } from '../../database/database.ts';
import { badRequest, Problem, quoteValue } from '../../http/errors/problem.ts';
import type { Context } from '../../http/handlers/context.ts';
import { errorMessage } from '../../log.ts';
import { NO_MASK } from '../../secrets/mask.ts';
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

type ExternalResultContext = Pick<Context, 'contents' | 'uploads' | 'clock' | 'random'>;

/** Reads the uploads of the result. Throws a 400 that names the invalid field. */
export async function prepareExternalResult(
  context: ExternalResultContext,
  applicationUid: string,
  result: ExternalResult,
  output: FormatType,
): Promise<PreparedResult> {
  const upload = new UploadedResult(context.uploads, applicationUid, result);
  const uploaded = await upload.content('output', OUTPUT_BYTES_MAX);
  const log = await upload.content('error', LOG_BYTES_MAX);
  const inOutput =
    uploaded && output === 'json' ? await upload.json('output', uploaded) : emptyParsedJson('');
  // As for an app that printed nothing: without JSON there is no output.
  const outputContent = output === 'json' && !inOutput.isPresent ? null : uploaded;
  const beside = async (kind: 'statistics' | 'metrics' | 'assets'): Promise<ParsedJson> => {
    const content = await upload.content(kind, OUTPUT_BYTES_MAX);
    return content ? upload.json(kind, content) : inOutput;
  };
  const statistics = addParseError(await beside('statistics'));
  const { metrics } = await beside('metrics');
  const { assets } = await beside('assets');

  const now = context.clock.now();
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
    end.assets = await prepareAssets(context, assets.assets, now, end.contents);
  } catch (error) {
    await discardContents(end.contents);
    throw error;
  }
  return end;
}

/** Prepares the result of a run that exists. Throws a 400 when the run takes no result, and for an invalid one. */
export async function prepareResultOfRun(
  context: ExternalResultContext,
  run: RunsTable,
  result: ExternalResult,
): Promise<PreparedResult> {
  if (!isActionAllowed('submitResult', run.status))
    throw badRequest(
      run.run_type === 'external'
        ? `result: the run ${quoteValue(run.id)} is ${run.status} already; a result is given once.`
        : `result: the run ${quoteValue(run.id)} is of the type ${run.run_type}; only an external run is given its result.`,
    );
  return prepareExternalResult(context, run.application_uid, result, run.output_format);
}

/** Ends the external run with its result. Throws a 400 when it has ended meanwhile. */
export async function insertExternalResult(
  tx: Writer,
  run: RunsTable,
  result: PreparedResult,
): Promise<void> {
  if (!(await endExternalRun(tx, run, result.finalColumns)))
    throw badRequest(`result: the run ${quoteValue(run.id)} has ended meanwhile.`);
  await insertResultContents(tx, run.id, result);
}

/**
 * Throws the refusal of a result, and discards its contents. After any other error the result may have been stored, so its
 * contents stay for the clean-up.
 */
export async function rejectResult(error: unknown, result: PreparedResult): Promise<never> {
  const refusal =
    error instanceof ContentRemovedError
      ? badRequest('An upload of the result was removed meanwhile; upload it again.')
      : error;
  if (refusal instanceof Problem) await discardContents(result.contents);
  throw refusal;
}

/** The uploads that a result names. */
class UploadedResult {
  readonly #uploads: Context['uploads'];
  readonly #applicationUid: string;
  readonly #result: ExternalResult;

  constructor(uploads: Context['uploads'], applicationUid: string, result: ExternalResult) {
    this.#uploads = uploads;
    this.#applicationUid = applicationUid;
    this.#result = result;
  }

  async content(kind: JsonSource['kind'] | 'error', bytesMax: number): Promise<SharedContent | null> {
    const id = this.#id(kind);
    if (id === null) return null;
    const content = await this.#uploads.use(this.#applicationUid, id, 'content', this.#field(kind));
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
