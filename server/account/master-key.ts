/**
 * The one secret of the server, 32 random bytes, from which every key is derived: the signature of tokens, of URLs, of
 * page tokens. From the environment, so that several servers share it, else kept in the data folder.
 */
import { createPrivateKey, hkdfSync, type KeyObject } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { Random } from '../random.ts';

const KEY_BYTES = 32;
/** What stands before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410). */
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Reads the key in the data folder, or makes it. */
export async function loadOrCreateMasterKey(
  dataFolder: string,
  fromEnvironment: Buffer | null,
  random: Random,
): Promise<Buffer> {
  const kept = await readMasterKey(dataFolder, fromEnvironment);
  if (kept) return kept;
  const made = random.bytes(KEY_BYTES);
  await writeFileDurably(join(dataFolder, 'master-key'), made);
  return made;
}

/** The key of the environment, else the one in the data folder; null when there is none. */
export async function readMasterKey(
  dataFolder: string,
  fromEnvironment: Buffer | null,
): Promise<Buffer | null> {
  if (fromEnvironment) return fromEnvironment;
  const path = join(dataFolder, 'master-key');
  const kept = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (kept) {
    if (kept.length !== KEY_BYTES)
      throw new Error(
        `${path} has ${kept.length} bytes; it must have ${KEY_BYTES}. Put the right file back.`,
      );
  }
  return kept;
}

/** What the database keeps to tell whether a key is its own. */
export const computeKeyCheck = (masterKey: Buffer): string => deriveKey(masterKey, 'check').toString('hex');

export const WRONG_MASTER_KEY_MESSAGE =
  'The database was made with another master key: set SWITCHYARD_KEY to that key, or put its file master-key back into the data folder.';

/** A key for one purpose. */
export function deriveKey(
  masterKey: Buffer,
  purpose: 'urls' | 'pages' | 'tokens' | 'answers' | 'check' | 'secrets' | 'invites' | 'backups',
): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `switchyard ${purpose}`, KEY_BYTES));
}

/** The key that tokens are signed with. */
export function deriveTokenKey(masterKey: Buffer): KeyObject {
  return createPrivateKey({
    key: Buffer.concat([ED25519_PKCS8, deriveKey(masterKey, 'tokens')]),
    format: 'der',
    type: 'pkcs8',
  });
}

/** Writes a small file that only its owner may read, whole or not at all, and waits for the disk. */
export async function writeFileDurably(path: string, content: Buffer | string): Promise<void> {
  const written = `${path}.new`;
  const file = await open(written, 'w', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(written, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Refuses a key other than the one the database was made with: no token, URL or secret of before would be good. The first
 * server to come sets what the others are measured by.
 */
export async function checkMasterKey(
  database: Pick<Database, 'read' | 'transact'>,
  masterKey: Buffer,
): Promise<void> {
  const key_check = computeKeyCheck(masterKey);
  await database.transact((tx) =>
    tx
      .insertInto('installation')
      .values({ id: 1, key_check })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  );
  const row = await database.read.selectFrom('installation').select('key_check').executeTakeFirst();
  if (row?.key_check === key_check) return;
  throw new ConfigError(WRONG_MASTER_KEY_MESSAGE);
}
