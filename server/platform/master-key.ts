/**
 * The master key of the server: 32 random bytes, from which every other key is derived, such as those that sign tokens, URLs
 * and page tokens. It comes from the environment, so that several servers share it, or from the data folder.
 */
import { createPrivateKey, hkdfSync, type KeyObject } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from './config.ts';
import type { Database } from './database/database.ts';
import type { Random } from './random.ts';

const KEY_BYTES = 32;
/** The PKCS #8 prefix of the 32 bytes of an Ed25519 private key (RFC 8410, section 7). */
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Returns the master key, as `readMasterKey` does; creates it in the data folder when there is none. */
export async function loadOrCreateMasterKey(
  dataFolder: string,
  fromEnvironment: Buffer | null,
  random: Random,
): Promise<Buffer> {
  const existing = await readMasterKey(dataFolder, fromEnvironment);
  if (existing) return existing;
  const created = random.bytes(KEY_BYTES);
  await writeFileDurably(join(dataFolder, 'master-key'), created);
  return created;
}

/**
 * Returns the master key of the environment, else of the data folder; null when there is none. Throws for a file of another
 * length, because a truncated key makes every token and secret unreadable.
 */
export async function readMasterKey(
  dataFolder: string,
  fromEnvironment: Buffer | null,
): Promise<Buffer | null> {
  if (fromEnvironment) return fromEnvironment;
  const path = join(dataFolder, 'master-key');
  const key = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (key && key.length !== KEY_BYTES) {
    throw new Error(`${path} has ${key.length} bytes; it must have ${KEY_BYTES}. Put the right file back.`);
  }
  return key;
}

/** Computes the hexadecimal check value by which the database recognises its master key. */
export const computeKeyCheck = (masterKey: Buffer): string => deriveKey(masterKey, 'check').toString('hex');

/** The error of a server and of a restore with another master key than the one of the database. */
export const WRONG_MASTER_KEY_MESSAGE =
  'The database was made with another master key: set SWITCHYARD_KEY to that key, or put its file master-key back into the data folder.';

/** The uses of derived keys. A purpose that was released never changes. */
type KeyPurpose =
  | ('urls' | 'pages' | 'tokens' | 'answers' | 'check' | 'secrets')
  | ('invites' | 'shares' | 'backups' | 'sign-ons' | 'run-tokens' | 'worker-tokens' | 'device-codes');

/** Derives the 32-byte key for a purpose: HKDF-SHA-256 (RFC 5869) without salt, with `switchyard <purpose>` as info. */
export function deriveKey(masterKey: Buffer, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `switchyard ${purpose}`, KEY_BYTES));
}

/** Derives the Ed25519 private key that signs tokens. */
export function deriveTokenKey(masterKey: Buffer): KeyObject {
  return createPrivateKey({
    key: Buffer.concat([ED25519_PKCS8, deriveKey(masterKey, 'tokens')]),
    format: 'der',
    type: 'pkcs8',
  });
}

/**
 * Writes a small file with mode 0600 atomically, by a rename. The file and its directory are on disk when the promise
 * resolves.
 */
export async function writeFileDurably(path: string, content: Buffer | string): Promise<void> {
  const temporaryPath = `${path}.new`;
  const file = await open(temporaryPath, 'w', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporaryPath, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Throws a ConfigError for a master key other than the one that created the database, because it could read no earlier token,
 * URL or secret. The first server that starts on a database stores its check value.
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
