/**
 * What a backup says of itself: everything that it consists of, with hashes, under a code that only the master key makes.
 * It is written last, and the folder of the backup gets its name after it, so that what was cut off is never taken for
 * a backup.
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
export const MASTER_KEY_FILE = 'master-key';
/** Beside the key: the token of the first start, and that the sample apps were pushed. */
export const DATA_FOLDER_FILES = ['root-token', 'first-run.json'];

export interface TableFile {
  name: string;
  columns: string[];
  rows: number;
  bytes: number;
  sha256: string;
}

export interface Manifest {
  format: typeof FORMAT;
  /** RFC 3339: what was answered before this instant is in it. */
  taken_at: string;
  database: 'sqlite' | 'postgres';
  /** Names of those that had made the tables. */
  migrations: string[];
  tables: TableFile[];
  /** Where the numbering of tables had come to. */
  numbers: { table: string; column: string; last: number }[];
  /** How many there are, and the hash of their list. */
  blobs: { count: number; sha256: string };
  /** Files of the data folder; the key is among them unless it was left out. */
  files: { name: string; sha256: string }[];
}

export const tablePath = (folder: string, name: string): string =>
  join(folder, 'tables', `${name}.jsonl.zst`);
const manifestPath = (folder: string): string => join(folder, 'manifest.json');

export async function writeManifest(folder: string, manifest: Manifest, masterKey: Buffer): Promise<void> {
  const signed = { manifest, code: codeOf(manifest, masterKey) };
  await writeFileDurably(manifestPath(folder), `${JSON.stringify(signed, null, 2)}\n`);
}

/**
 * Reads the manifest of the folder and the master key that belongs to it, and throws BackupError when one of them is not
 * there or they do not belong together. `fromEnvironment` is the key that was given beside the backup.
 */
export async function readManifest(
  folder: string,
  fromEnvironment: Buffer | null,
): Promise<{ manifest: Manifest; masterKey: Buffer }> {
  const text = await readFile(manifestPath(folder), 'utf8').catch(() => {
    throw new BackupError(
      `There is no whole backup in ${folder}: it has no manifest.json, which a backup gets last.`,
    );
  });
  let signed: { manifest?: Manifest; code?: unknown } | null = null;
  try {
    signed = JSON.parse(text) as { manifest?: Manifest; code?: unknown };
  } catch {}
  if (typeof signed?.manifest !== 'object' || typeof signed.code !== 'string')
    throw new BackupError(`${manifestPath(folder)} is not the manifest of a backup, or was cut off.`);
  const { manifest, code } = signed;
  if (manifest.format !== FORMAT)
    throw new BackupError(
      `The backup in ${folder} has the format ${JSON.stringify(manifest.format)}; this release reads ${FORMAT}.`,
    );
  const masterKey = await keyOf(folder, fromEnvironment);
  const right = Buffer.from(codeOf(manifest, masterKey));
  const given = Buffer.from(code);
  if (given.length !== right.length || !timingSafeEqual(given, right))
    throw new BackupError(
      `${manifestPath(folder)} does not fit the master key: the manifest was changed, or the key is that of another server.`,
    );
  return { manifest, masterKey };
}

async function keyOf(folder: string, fromEnvironment: Buffer | null): Promise<Buffer> {
  const path = join(folder, MASTER_KEY_FILE);
  const kept = await readFile(path).catch(() => null);
  const key = fromEnvironment ?? kept;
  if (!key)
    throw new BackupError(
      `The backup in ${folder} was made without the master key; set SWITCHYARD_KEY to the key of the server it was made of.`,
    );
  if (kept && kept.length !== KEY_BYTES)
    throw new BackupError(`${path} has ${kept.length} bytes; it must have ${KEY_BYTES}.`);
  if (kept && !kept.equals(key))
    throw new BackupError(
      'SWITCHYARD_KEY is another key than the one in the backup; unset it, or set it to that of the server the backup was made of.',
    );
  return key;
}

function codeOf(manifest: Manifest, masterKey: Buffer): string {
  return createHmac('sha256', deriveKey(masterKey, 'backups')).update(JSON.stringify(manifest)).digest('hex');
}

/** SHA-256 of a file, in hex. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
