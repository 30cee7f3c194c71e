/**
 * The manifest of a backup: all of its parts with their hashes, authenticated by a code from the master key. The backup
 * writes it last and then renames its folder, so that an unfinished backup has neither manifest nor name.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { deriveKey, writeFileDurably } from '../account/master-key.ts';
import { BackupError } from './backup-error.ts';

const FORMAT = 1;
const KEY_BYTES = 32;
/** Name of the file with the master key, in the data folder and in a backup. */
export const MASTER_KEY_FILE = 'master-key';
/** Other files to back up: the token of the first start, and the record that the sample apps were pushed. */
export const DATA_FOLDER_FILES = ['root-token', 'first-run.json'];

/** The file with the rows of one table. */
export interface TableFile {
  name: string;
  columns: string[];
  rows: number;
  bytes: number;
  sha256: string;
}

/** Content of `manifest.json`. */
export interface Manifest {
  format: typeof FORMAT;
  /** RFC 3339: the backup has the effect of every request that got its response before this instant. */
  taken_at: string;
  database: 'sqlite' | 'postgres';
  /** Names of the migrations that created the tables. */
  migrations: string[];
  tables: TableFile[];
  /** Last values of sequences. */
  numbers: { table: string; column: string; last: number }[];
  /** The number of blobs, and the hash of their list. */
  blobs: { count: number; sha256: string };
  /** Files of the data folder, with the master key unless the operator left it out. */
  files: { name: string; sha256: string }[];
}

/** Returns the path of the rows of a table in the folder of a backup. */
export const tablePath = (folder: string, name: string): string =>
  join(folder, 'tables', `${name}.jsonl.zst`);
const manifestPath = (folder: string): string => join(folder, 'manifest.json');

/** Writes the manifest with its code. */
export async function writeManifest(folder: string, manifest: Manifest, masterKey: Buffer): Promise<void> {
  const signed = { manifest, code: computeCode(manifest, masterKey) };
  await writeFileDurably(manifestPath(folder), `${JSON.stringify(signed, null, 2)}\n`);
}

/** Fields of the file, of which the code proves the manifest. */
interface SignedManifest {
  manifest?: Manifest;
  code?: unknown;
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
  let signed: SignedManifest | null = null;
  try {
    const parsed: SignedManifest | null = JSON.parse(text);
    signed = parsed;
  } catch {}
  if (typeof signed?.manifest !== 'object' || typeof signed.code !== 'string')
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

function computeCode(manifest: Manifest, masterKey: Buffer): string {
  return createHmac('sha256', deriveKey(masterKey, 'backups')).update(JSON.stringify(manifest)).digest('hex');
}

/** Returns the SHA-256 of a file in hex. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
