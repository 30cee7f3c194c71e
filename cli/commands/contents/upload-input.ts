/** Reads the input of a run or of a managed input from this machine, and uploads it. */
import { existsSync, openAsBlob, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { UPLOAD_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { CommandError } from '../../errors/command-error.ts';
import { packFolder } from '../../packing/pack.ts';
import type { Session } from '../../session/session.ts';
import { formatBytes } from '../../terminal/format-bytes.ts';
import { uploadContent } from '../../transfer/upload.ts';
import { showTransfer } from './transfer-progress.ts';

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
 * Uploads a file, a folder as an archive, or standard input for `-`, byte for byte. `option` names it in errors. Throws for a
 * file that does not exist, that is too large, or whose name ends with `.json` and that is not JSON.
 */
export async function uploadInput(
  session: Session,
  {
    application_id,
    source,
    option,
    format,
  }: {
    application_id: string;
    source: string;
    option: string;
    format?: FormatType | undefined;
  },
): Promise<UploadedInput> {
  const input = await readInput(session, source, option);
  const { content } = input;
  if (content.size > UPLOAD_BYTES_MAX)
    throw new CommandError(
      `${option} ${source} has ${formatBytes(content.size)}; an input has at most ${formatBytes(UPLOAD_BYTES_MAX)}.`,
    );
  const client = session.connect();
  const upload_id = await showTransfer(session, { label: 'Uploading', total: content.size }, (options) =>
    uploadContent(
      client,
      () => client.call('createRunUpload', { params: { application_id } }),
      content,
      options,
    ),
  );
  return { upload_id, format: format ?? input.format };
}

async function readInput({ terminal }: Session, source: string, option: string): Promise<LocalInput> {
  if (source === '-') {
    const content = new Blob([await buffer(terminal.in)]);
    if (content.size > 0) return { content };
    throw new CommandError(`${option} is "-", and standard input is empty.`);
  }
  const path = resolve(terminal.cwd, source);
  if (!existsSync(path)) throw new CommandError(`${option} is "${source}"; ${path} does not exist.`);
  if (statSync(path).isDirectory()) return { content: await packFolder(path), format: 'multi-file' };
  const content = await openAsBlob(path);
  if (/\.(tar\.gz|tgz)$/i.test(path)) return { content, format: 'multi-file' };
  if (/\.json$/i.test(path) && content.size <= CHECKED_JSON_BYTES_MAX)
    assertJson(await content.text(), `${option} ${source}`);
  return { content };
}

/** The server does not check uploads; the app would fail later. */
function assertJson(text: string, name: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new CommandError(
      `${name} is not valid JSON: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}
