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
import { NO_MASK } from '@switchyard/worker/log/mask.ts';
import {
  emptyParsedJson,
  type JsonSource,
  type ParsedJson,
} from '@switchyard/worker/results/parse-result-json.ts';
import { addParseError } from '@switchyard/worker/results/read-results.ts';
import { ContentRemovedError, type SharedContent } from '../../platform/blobs/contents.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { errorMessage } from '../../platform/log.ts';
import type { RunsTable } from '../store/schema.ts';
import { endExternalRun } from '../store/transitions.ts';
import { prepareAssets } from './prepare-assets.ts';
import {
  buildReportColumns,
  discardContents,
  insertResultContents,
  type PreparedResult,
} from './prepared-result.ts';

type ExternalResultContext = Pick<Context, 'contents' | 'uploads' | 'clock' | 'random' | 'jsonReader'>;

/**
 * Reads the uploads of the result and prepares its columns, contents and assets. `output` is the output format of the run.
 * Throws a 400 that names the invalid field.
 */
export async function prepareExternalResult(
  context: ExternalResultContext,
  applicationUid: string,
  result: ExternalResult,
  output: FormatType,
): Promise<PreparedResult> {
  const upload = new UploadedResult(context, applicationUid, result);
  const uploaded = await upload.openContent('output', OUTPUT_BYTES_MAX);
  const log = await upload.openContent('error', LOG_BYTES_MAX);
  const inOutput =
    uploaded && output === 'json' ? await upload.readJson('output', uploaded) : emptyParsedJson('');
  // An empty JSON output counts as no output, as for an app that prints nothing.
  const outputContent = output === 'json' && !inOutput.isPresent ? null : uploaded;
  /** Reads the upload of the kind; without one, the result has the block of the output. */
  const readPart = async (kind: 'statistics' | 'metrics' | 'assets'): Promise<ParsedJson> => {
    const content = await upload.openContent(kind, OUTPUT_BYTES_MAX);
    return content ? upload.readJson(kind, content) : inOutput;
  };
  const statistics = addParseError(await readPart('statistics'));
  const { metrics } = await readPart('metrics');
  const { assets } = await readPart('assets');

  const now = context.clock.now();
  const prepared: PreparedResult = {
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
    contents: [outputContent, log].filter((content) => content !== null),
    assets: [],
  };
  try {
    prepared.assets = await prepareAssets(context, assets.assets, now, prepared.contents);
  } catch (error) {
    await discardContents(prepared.contents);
    throw error;
  }
  return prepared;
}

/** Prepares the result of an existing run. Throws a 400 when the run accepts no result, and for an invalid result. */
export async function prepareResultOfRun(
  context: ExternalResultContext,
  run: RunsTable,
  result: ExternalResult,
): Promise<PreparedResult> {
  if (!isActionAllowed('submitResult', run.status))
    throw badRequest(
      run.run_type === 'external'
        ? `result: the run ${quoteValue(run.id)} has already ended: it is ${run.status}. A run accepts its result once; create a new run.`
        : `result: the run ${quoteValue(run.id)} is of the type ${run.run_type}. Only an external run accepts a result; leave the field out.`,
    );
  return prepareExternalResult(context, run.application_uid, result, run.output_format);
}

/** Ends the external run with its result. Throws a 400 when another request has ended it since it was read. */
export async function insertExternalResult(
  tx: Writer,
  run: RunsTable,
  result: PreparedResult,
): Promise<void> {
  if (!(await endExternalRun(tx, run, result.finalColumns)))
    throw badRequest(
      `result: the run ${quoteValue(run.id)} ended during the request. A run accepts its result once; create a new run.`,
    );
  await insertResultContents(tx, run.id, result);
}

/**
 * Rethrows the error of a transaction that stores a result; a removed upload becomes a 400. Discards the contents of a
 * rejected result. After any other error the result may have been stored, so the clean-up job decides about its contents.
 */
export async function rejectResult(error: unknown, result: PreparedResult): Promise<never> {
  const rejection =
    error instanceof ContentRemovedError
      ? badRequest('result: one of its uploads was removed during the request. Upload the content again.')
      : error;
  if (rejection instanceof Problem) await discardContents(result.contents);
  throw rejection;
}

/** Reads the uploads that a result names. */
class UploadedResult {
  readonly #context: Pick<Context, 'uploads' | 'jsonReader'>;
  readonly #applicationUid: string;
  readonly #result: ExternalResult;

  constructor(
    context: Pick<Context, 'uploads' | 'jsonReader'>,
    applicationUid: string,
    result: ExternalResult,
  ) {
    this.#context = context;
    this.#applicationUid = applicationUid;
    this.#result = result;
  }

  /** Returns the uploaded content; null when the result names no upload of the kind. Throws a 400 for an invalid upload. */
  async openContent(kind: JsonSource['kind'] | 'error', bytesMax: number): Promise<SharedContent | null> {
    const id = this.#id(kind);
    if (id === null) return null;
    const content = await this.#context.uploads.use(this.#applicationUid, id, 'content', this.#field(kind));
    if (content.bytes > bytesMax) {
      throw badRequest(
        `${this.#field(kind)} is ${quoteValue(id)}, an upload of ${content.bytes} bytes; it may have ${bytesMax}.`,
      );
    }
    return content;
  }

  /** Parses the content as JSON. Throws a 400 when it is not one JSON object. */
  async readJson(kind: JsonSource['kind'], content: SharedContent): Promise<ParsedJson> {
    const subject = `${this.#field(kind)} is ${quoteValue(this.#id(kind))}, whose content`;
    const file = { bytes: content.bytes, load: async () => buffer(await content.open()) };
    const parsed = await this.#context.jsonReader
      .read(file, { kind, subject }, NO_MASK)
      .catch((error: unknown) => emptyParsedJson(`${subject} cannot be read: ${errorMessage(error)}`));
    if (parsed.error !== '') throw badRequest(parsed.error);
    return parsed;
  }

  #field(kind: JsonSource['kind'] | 'error'): string {
    return `result.${kind}_upload_id`;
  }

  #id(kind: JsonSource['kind'] | 'error'): UploadId | null {
    return this.#result[`${kind}_upload_id`] || null;
  }
}
