/** Reads the secrets of a collection for the start of an app. */
import type { Secret } from '@switchyard/contract/applications/secrets.ts';
import type { Reader } from '../../platform/database/database.ts';
import { DecryptionError, type Encryptor } from '../../platform/database/encryption.ts';
import { quoteValue } from '../../platform/http/errors/problem.ts';
import { decryptSecrets, type SecretsOwner } from './encrypt.ts';
import { findCollection } from './store.ts';

/** Returns the secrets, or the message that says why they are not available. */
export async function readSecrets(
  db: Reader,
  encryptor: Encryptor,
  owner: SecretsOwner,
): Promise<{ secrets: Secret[] } | { error: string }> {
  const subject = `The secrets collection ${quoteValue(owner.id)} of the run`;
  const row = await findCollection(db, owner.applicationUid, owner.id);
  if (!row) return { error: `${subject} was deleted before the app was started.` };
  try {
    return { secrets: decryptSecrets(encryptor, row.secrets, owner) };
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    return {
      error: `${subject} cannot be decrypted: it was altered, or written with another master key.`,
    };
  }
}
