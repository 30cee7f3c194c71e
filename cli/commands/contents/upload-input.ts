/** Reads the input of a run or of a managed input from this machine, and uploads it. */
import { createHash } from 'node:crypto';
import { existsSync, openAsBlob, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { decodeUtf8, NotUtf8Error } from '@switchyard/contract/decode-utf8.ts';
import { UPLOAD_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { CommandError } from '../../errors/command-error.ts';
import { packFolder } from '../../packing/pack.ts';
import type { Session } from '../../session/session.ts';
import { uploadContent } from '../../transfer/upload.ts';
import { showUpload } from './transfer-progress.ts';

/** Larger files are not read into memory to check them. */
const CHECKED_JSON_BYTES_MAX = 64 * 1024 * 1024;

interface LocalInput {
  content: Blob;
  /** The format that the file must have, when its kind says so. */
  format?: FormatType;
}

/** An upload with its format; undefined where the app and the instance decide. */
export interface UploadedInput {
  upload_id: string;
  format: FormatType | undefined;
}

/**
 * Uploads a file, a folder as an archive, or standard input for `-`, byte for byte. `option` names it in errors. With an
 * idempotency key, the same content gets the same upload again. Throws for a file that does not exist, that is too large, or
 * whose name ends with `.json` and that is not JSON.
 */
export async function uploadInput(
  session: Session,
  {
    application_id,
    source,
    option,
    format,
    idempotencyKey,
  }: {
    application_id: string;
    source: string;
    option: string;
    format?: FormatType | undefined;
    idempotencyKey?: string | undefined;
  },
): Promise<UploadedInput> {
  const input = await readInput(session, source, option);
  const { content } = input;
  if (content.size > UPLOAD_BYTES_MAX)
    throw new CommandError(
      `${option} ${source} has ${formatBytes(content.size)}; an upload has at most ${formatBytes(UPLOAD_BYTES_MAX)}.`,
    );
  const upload_id = await sendContent(session, { application_id, content, idempotencyKey });
  return { upload_id, format: format ?? input.format };
}

interface SentContent {
  application_id: string;
  content: Blob;
  idempotencyKey: string | undefined;
}

/** Uploads the content and returns the id of the upload. */
async function sendContent(
  session: Session,
  { application_id, content, idempotencyKey }: SentContent,
): Promise<string> {
  const target = {
    application_id,
    operation: 'createRunUpload' as const,
    ...(idempotencyKey !== undefined && {
      idempotencyKey: await deriveUploadKey(idempotencyKey, content),
    }),
  };
  return showUpload(session, content.size, (options) =>
    uploadContent(session.connect(), target, content, options),
  );
}

/**
 * Returns the key of the upload for that of the run. The same content needs the same upload, because a request with another
 * one is another request. Another content needs another upload, so that the server refuses the key for it.
 */
async function deriveUploadKey(idempotencyKey: string, content: Blob): Promise<string> {
  const hash = createHash('sha256').update(`${idempotencyKey}\n`);
  for await (const chunk of content.stream()) hash.update(chunk);
  return `upload-${hash.digest('hex')}`;
}

async function readInput({ terminal, output }: Session, source: string, option: string): Promise<LocalInput> {
  if (source === '-') {
    const content = new Blob([await buffer(terminal.in)]);
    if (content.size > 0) return { content };
    throw new CommandError(`${option} is "-", and standard input is empty.`);
  }
  const path = resolve(terminal.cwd, source);
  if (!existsSync(path)) throw new CommandError(`${option} is "${source}"; ${path} does not exist.`);
  if (statSync(path).isDirectory())
    return { content: await packFolder(path, output.note), format: 'multi-file' };
  const content = await openAsBlob(path);
  if (/\.(tar\.gz|tgz)$/i.test(path)) return { content, format: 'multi-file' };
  if (/\.json$/i.test(path) && content.size <= CHECKED_JSON_BYTES_MAX)
    assertJson(new Uint8Array(await content.arrayBuffer()), `${option} ${source}`);
  return { content };
}

/** The server does not check uploads; the app would fail later. */
function assertJson(bytes: Uint8Array, name: string): void {
  try {
    JSON.parse(decodeUtf8(bytes));
  } catch (error) {
    throw new CommandError(
      `${name} is not valid ${error instanceof NotUtf8Error ? 'UTF-8' : 'JSON'}: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}
