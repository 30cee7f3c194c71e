/**
 * The manifest of a backup: all of its parts with their hashes, authenticated by a code from the master key. The backup
 * writes it last and then renames its folder, so that an unfinished backup has neither manifest nor name.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { formatValidationError } from '@switchyard/contract/presentation/validation-messages.ts';
import { stringEnum } from '@switchyard/contract/schemas/field-schemas.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import Type, { type Static } from 'typebox';
import { compileSchema } from '../../platform/http/requests/validation.ts';
import { deriveKey, writeFileDurably } from '../../platform/master-key.ts';
import { BackupError } from './backup-error.ts';

const FORMAT = 1;
const KEY_BYTES = 32;
/** Name of the file with the master key, in the data folder and in a backup. */
export const MASTER_KEY_FILE = 'master-key';
/** Other files to back up: the token of the first start, and the record that the sample apps were pushed. */
export const DATA_FOLDER_FILES = ['root-token', 'first-run.json'];

/** Names of tables and columns: one of another form could be a path. */
const Name = Type.String({
  pattern: '^[a-z][a-z0-9_]*$',
  description: 'The name of a table or column, in lowercase letters, digits and underscores.',
});
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** A SHA-256 in hex. */
export const SHA256 = /^[0-9a-f]{64}$/;
const Sha256 = Type.String({ pattern: SHA256.source, description: 'A SHA-256 in hex.' });

/** The file with the rows of one table. */
const TableFile = Type.Object({
  name: Name,
  columns: Type.Array(Name, { minItems: 1 }),
  rows: Count,
  bytes: Count,
  sha256: Sha256,
});
export type TableFile = Static<typeof TableFile>;

/**
 * Content of `manifest.json`. Restoring writes files and tables by the names in it. The backup holds the key of the code, so an
 * attacker can authenticate a changed manifest: valid names are only those that a backup writes.
 */
const Manifest = Type.Object({
  format: Type.Literal(FORMAT),
  /** RFC 3339: the backup has the effect of every request that got its response before this instant. */
  taken_at: Type.String({ format: 'date-time' }),
  database: stringEnum(['sqlite', 'postgres'], 'The database.'),
  /** Names of the migrations that created the tables. */
  migrations: Type.Array(Type.String()),
  tables: Type.Array(TableFile),
  /** Last values of sequences. */
  numbers: Type.Array(Type.Object({ table: Name, column: Name, last: Count })),
  /** The number of blobs, and the hash of their list. */
  blobs: Type.Object({ count: Count, sha256: Sha256 }),
  /** Files of the data folder, with the master key unless the operator left it out. */
  files: Type.Array(
    Type.Object({ name: stringEnum([MASTER_KEY_FILE, ...DATA_FOLDER_FILES], 'A file.'), sha256: Sha256 }),
  ),
});
export type Manifest = Static<typeof Manifest>;

/** Returns the path of the rows of a table in the folder of a backup. */
export const tablePath = (folder: string, name: string): string =>
  join(folder, 'tables', `${name}.jsonl.zst`);
const manifestPath = (folder: string): string => join(folder, 'manifest.json');

/** Writes the manifest with its code. */
export async function writeManifest(folder: string, manifest: Manifest, masterKey: Buffer): Promise<void> {
  const signed = { manifest, code: computeCode(manifest, masterKey) };
  await writeFileDurably(manifestPath(folder), `${JSON.stringify(signed, null, 2)}\n`);
}

/**
 * Reads the manifest of the folder and its master key. Throws BackupError when one of them is missing or they do not belong
 * together. `fromEnvironment` is the key of SWITCHYARD_KEY.
 */
export async function readManifest(
  folder: string,
  fromEnvironment: Buffer | null,
): Promise<{ manifest: Manifest; masterKey: Buffer }> {
  const text = await readFile(manifestPath(folder), 'utf8').catch(() => {
    throw new BackupError(
      `There is no whole backup in ${folder}: it has no manifest.json, so the backup did not finish. Use another backup.`,
    );
  });
  let signed: unknown;
  try {
    signed = JSON.parse(text);
  } catch {}
  if (!isRecord(signed) || !isRecord(signed.manifest) || typeof signed.code !== 'string')
    throw new BackupError(
      `${manifestPath(folder)} is not the manifest of a backup, or is incomplete. Use another backup.`,
    );
  const { manifest, code } = signed;
  if (manifest.format !== FORMAT)
    throw new BackupError(
      `The backup in ${folder} has the format ${JSON.stringify(manifest.format)}; this release reads ${FORMAT}. Restore it with the release that made it.`,
    );
  const masterKey = await readBackupKey(folder, fromEnvironment);
  const expectedCode = Buffer.from(computeCode(manifest, masterKey));
  const actualCode = Buffer.from(code);
  if (actualCode.length !== expectedCode.length || !timingSafeEqual(actualCode, expectedCode))
    throw new BackupError(
      `${manifestPath(folder)} does not fit the master key: the manifest was changed, or the key is that of another server. Set SWITCHYARD_KEY to the key of the server of the backup.`,
    );
  const validate = compileSchema(Manifest);
  if (!validate(manifest))
    throw new BackupError(
      `${manifestPath(folder)} is not the manifest of a backup: ${formatValidationError(validate.errors ?? [], 'file')} The backup was changed after it was made. Use another backup.`,
    );
  return { manifest, masterKey };
}

async function readBackupKey(folder: string, fromEnvironment: Buffer | null): Promise<Buffer> {
  const path = join(folder, MASTER_KEY_FILE);
  const storedKey = await readFile(path).catch(() => null);
  const key = fromEnvironment ?? storedKey;
  if (!key)
    throw new BackupError(
      `The backup in ${folder} does not hold the master key. Set SWITCHYARD_KEY to the key of the server of the backup.`,
    );
  if (storedKey && storedKey.length !== KEY_BYTES)
    throw new BackupError(`${path} has ${storedKey.length} bytes; it must have ${KEY_BYTES}.`);
  if (storedKey && !storedKey.equals(key))
    throw new BackupError(
      'SWITCHYARD_KEY is another key than the one in the backup. Unset it, or set it to the key of the server of the backup.',
    );
  return key;
}

function computeCode(manifest: object, masterKey: Buffer): string {
  return createHmac('sha256', deriveKey(masterKey, 'backups')).update(JSON.stringify(manifest)).digest('hex');
}

/** Returns the SHA-256 of a file in hex. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
