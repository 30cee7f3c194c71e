/**
 * Answers that carry content: the output as JSON inside the run's body, spliced in as the app printed it, or a download
 * URL in its place.
 */
import { Readable } from 'node:stream';
import { DIRECT_OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import type { Content, Contents } from '../../blobs/contents.ts';
import { FILE_CHUNK_BYTES } from '../../blobs/hashed-file.ts';
import { badRequest } from '../../http/errors/problem.ts';
import type { RawResponse } from '../../http/handlers/handler.ts';
import { errorMessage } from '../../log.ts';
import type { Uploads } from '../../uploads/uploads.ts';
import type { RunsTable } from '../store/schema.ts';

const STDERR_SHOWN_BYTES = 64 * 1024;

interface Parts {
  contents: Contents;
  uploads: Uploads;
}

export const contentTypeForFormat = (format: RunsTable['output_format']): string =>
  isArchive(format)
    ? 'application/gzip'
    : format === 'text'
      ? 'text/plain; charset=utf-8'
      : 'application/json';

/** The body with `output` and `error_log` added. The output goes out as the app printed it, never parsed on the way. */
export async function respondWithOutput(
  parts: Parts,
  run: RunsTable,
  body: object,
  format: 'json' | 'url' | undefined,
): Promise<RawResponse> {
  const errorLog = await errorLogOf(parts.contents, run);
  const head = JSON.stringify({ ...body, ...(errorLog ? { error_log: errorLog } : {}) });
  const output = await outputOf(parts, run, format);
  const open = head.slice(0, -1);
  const before = `${open}${open === '{' ? '' : ','}"output":`;
  const raw =
    output === null
      ? `${head}\n`
      : typeof output === 'string'
        ? `${before}${output}}\n`
        : Readable.from(around(before, output, '}\n'), { objectMode: false });
  // The piece that was read last, its text, and the piece that is being sent.
  return {
    status: 200,
    raw,
    contentType: 'application/json; charset=utf-8',
    memoryBytes: 3 * FILE_CHUNK_BYTES,
  };
}

/** A large output goes out as it is read: a caller that does not read holds a chunk of it in memory, not the whole. */
async function* around(before: string, content: Content, after: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  yield before;
  for await (const chunk of await content.open()) yield decoder.decode(chunk as Buffer, { stream: true });
  yield decoder.decode() + after;
}

/** Where the output can be got without a token, or null when there is none. */
export function createOutputUrl({ uploads }: Pick<Parts, 'uploads'>, run: RunsTable): string | null {
  if (run.output_content_id === null) return null;
  return uploads.downloadUrl(run.output_content_id, contentTypeForFormat(run.output_format));
}

/** Throws the 400 for content that is only handed out by URL: archives, and what is longer than an answer carries. */
export function assertInlineContent(
  what: 'input' | 'output',
  format: RunsTable['output_format'],
  bytes: number,
  bytesMax: number,
): void {
  if (isArchive(format)) {
    throw badRequest(`The ${what} of the run is an archive (format ${format}); ask for it with format=url.`);
  }
  if (what === 'output' && format === 'text')
    throw badRequest('The output of the run is text, not a JSON object; ask for it with format=url.');
  if (bytes > bytesMax) {
    throw badRequest(
      `The ${what} of the run has ${bytes} bytes, more than the ${bytesMax} that are answered directly; ask for it with format=url.`,
    );
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws the 400 for an input that was uploaded as JSON and is none: apps may take it, an answer in JSON cannot. */
export function assertValidJson(input: Buffer): void {
  try {
    JSON.parse(strictUtf8.decode(input));
  } catch (error) {
    throw badRequest(
      `The input of the run was uploaded as JSON and is none (${errorMessage(error)}); ask for it with format=url.`,
    );
  }
}

const HELD_BYTES_MAX = 64 * 1024;

/** The output as JSON text, or as content where it is large; null when there is none. */
async function outputOf(
  { contents, uploads }: Parts,
  run: RunsTable,
  format: 'json' | 'url' | undefined,
): Promise<string | Content | null> {
  if (run.output_content_id === null) return null;
  if (format === 'url') return JSON.stringify({ url: createOutputUrl({ uploads }, run) });
  assertInlineContent('output', run.output_format, run.output_bytes, DIRECT_OUTPUT_BYTES_MAX);
  if (run.output_bytes > HELD_BYTES_MAX) return (await contents.find(run.output_content_id)) ?? null;
  return (await contents.read(run.output_content_id))?.toString('utf8') ?? null;
}

async function errorLogOf(
  contents: Contents,
  run: RunsTable,
): Promise<{ error: string; stdout: string; stderr: string } | null> {
  if (!isTerminal(run.status) || run.status === 'succeeded') return null;
  const stdout = run.stdout_content_id === null ? undefined : await contents.read(run.stdout_content_id);
  const stderr =
    run.log_content_id === null ? undefined : await contents.readTail(run.log_content_id, STDERR_SHOWN_BYTES);
  return { error: run.error, stdout: stdout?.toString('utf8') ?? '', stderr: stderr?.toString('utf8') ?? '' };
}
