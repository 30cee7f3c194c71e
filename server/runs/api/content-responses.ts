/**
 * Responses with the output of a run: inserted into the body byte for byte, as the app printed it, or replaced by a
 * download URL.
 */
import { Readable } from 'node:stream';
import { decodeUtf8, NotUtf8Error } from '@switchyard/contract/decode-utf8.ts';
import { formatMarkedJson } from '@switchyard/contract/exact-json.ts';
import { DIRECT_OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import type { Uploads } from '../../apps/uploads/uploads.ts';
import type { Content, Contents } from '../../platform/blobs/contents.ts';
import { FILE_CHUNK_BYTES } from '../../platform/blobs/hashed-file.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import type { RawResponse } from '../../platform/http/handlers/handler.ts';
import { errorMessage } from '../../platform/log.ts';
import type { RunsTable } from '../store/schema.ts';

const ERROR_LOG_BYTES_MAX = 64 * 1024;

interface Parts {
  contents: Contents;
  uploads: Uploads;
}

/** Returns the media type of an input or output. */
export const contentTypeForFormat = (format: RunsTable['output_format']): string =>
  isArchive(format)
    ? 'application/gzip'
    : format === 'text'
      ? 'text/plain; charset=utf-8'
      : 'application/json';

/** Adds `output` and `error_log` to the body. Throws a 400 for an output that is only available at a URL. */
export async function respondWithOutput(
  parts: Parts,
  run: RunsTable,
  body: object,
  format: 'json' | 'url' | undefined,
): Promise<RawResponse> {
  const errorLog = await readErrorLog(parts.contents, run);
  const head = formatMarkedJson({ ...body, ...(errorLog ? { error_log: errorLog } : {}) });
  const output = await readOutput(parts, run, format);
  const open = head.slice(0, -1);
  const before = `${open}${open === '{' ? '' : ','}"output":`;
  const raw =
    output === null
      ? `${head}\n`
      : typeof output === 'string'
        ? `${before}${output}}\n`
        : Readable.from(streamBetween(before, output, '}\n'), { objectMode: false });
  // `memoryBytes`: the last read chunk, its text, and the chunk in the socket.
  return {
    status: 200,
    raw,
    contentType: 'application/json; charset=utf-8',
    memoryBytes: 3 * FILE_CHUNK_BYTES,
  };
}

/** Streams a large output: for a caller that does not read, the server holds one chunk in memory. */
async function* streamBetween(before: string, content: Content, after: string): AsyncGenerator<string> {
  // It drops a byte order mark, which may stand before JSON but not inside it.
  const decoder = new TextDecoder('utf-8');
  yield before;
  for await (const chunk of await content.open()) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode() + after;
}

/**
 * Returns a signed download URL of the output. A run of files that ended without any has that of an empty archive: the
 * published client unpacks the archive of every ended run, and shows `error_log` after that. Null for other runs without one.
 */
export function createOutputUrl({ uploads }: Pick<Parts, 'uploads'>, run: RunsTable): string | null {
  if (run.output_content_id === null)
    return run.output_format !== 'json' && isTerminal(run.status) ? uploads.emptyArchiveUrl() : null;
  return uploads.downloadUrl(run.output_content_id, contentTypeForFormat(run.output_format));
}

/** Throws a 400 for content that is only available at a URL: archives, text outputs, and content above `bytesMax`. */
export function assertInlineContent(
  content: 'input' | 'output',
  format: RunsTable['output_format'],
  bytes: number,
  bytesMax: number,
): void {
  if (isArchive(format)) {
    throw badRequest(
      `The ${content} of the run is an archive (format ${format}); request it with format=url.`,
    );
  }
  if (content === 'output' && format === 'text')
    throw badRequest('The output of the run is text, not a JSON object; request it with format=url.');
  if (bytes > bytesMax) {
    throw badRequest(
      `The ${content} of the run has ${bytes} bytes, more than the ${bytesMax} that a response may have; request it with format=url.`,
    );
  }
}

/** Returns the text of a JSON input. Throws a 400 for another one: uploads are not checked, and a response cannot contain it. */
export function decodeJsonInput(input: Buffer): string {
  try {
    const text = decodeUtf8(input);
    JSON.parse(text);
    return text;
  } catch (error) {
    const kind = error instanceof NotUtf8Error ? 'UTF-8' : 'JSON';
    throw badRequest(
      `The input of the run was uploaded as JSON, but is not ${kind} (${errorMessage(error)}); request it with format=url.`,
    );
  }
}

/** Returns the text of an input. Throws a 400 for bytes in another encoding. */
export function decodeTextInput(input: Buffer): string {
  try {
    return decodeUtf8(input);
  } catch (error) {
    throw badRequest(
      `The input of the run is text, but not UTF-8 (${errorMessage(error)}); request it with format=url.`,
    );
  }
}

const BUFFERED_OUTPUT_BYTES_MAX = 64 * 1024;

/** Returns the output as JSON text, or as content when it is large; null for a run without output. */
async function readOutput(
  { contents, uploads }: Parts,
  run: RunsTable,
  format: 'json' | 'url' | undefined,
): Promise<string | Content | null> {
  if (run.output_content_id === null) return null;
  if (format === 'url') return JSON.stringify({ url: createOutputUrl({ uploads }, run) });
  assertInlineContent('output', run.output_format, run.output_bytes, DIRECT_OUTPUT_BYTES_MAX);
  if (run.output_bytes > BUFFERED_OUTPUT_BYTES_MAX)
    return (await contents.find(run.output_content_id)) ?? null;
  const output = await contents.read(run.output_content_id);
  return output ? new TextDecoder('utf-8').decode(output) : null;
}

async function readErrorLog(
  contents: Contents,
  run: RunsTable,
): Promise<{ error: string; stdout: string; stderr: string } | null> {
  if (!isTerminal(run.status) || run.status === 'succeeded') return null;
  const stdout = run.stdout_content_id === null ? undefined : await contents.read(run.stdout_content_id);
  const stderr =
    run.log_content_id === null
      ? undefined
      : await contents.readTail(run.log_content_id, ERROR_LOG_BYTES_MAX);
  return { error: run.error, stdout: stdout?.toString('utf8') ?? '', stderr: stderr?.toString('utf8') ?? '' };
}
