/** What an app that is started now is given of a collection. */
import type { Secret } from '@switchyard/contract/applications/secrets.ts';
import type { Reader } from '../database/database.ts';
import { DecryptionError, type Encryptor } from '../database/encryption.ts';
import { quoteValue } from '../http/errors/problem.ts';
import { openSecrets, type SecretsOwner } from './encrypt.ts';
import { findCollection } from './store.ts';

/** The secrets, or why there are none to be had, as a sentence. */
export async function readSecrets(
  db: Reader,
  seal: Encryptor,
  place: SecretsOwner,
): Promise<{ secrets: Secret[] } | { error: string }> {
  const named = `The secrets collection ${quoteValue(place.id)} of the run`;
  const row = await findCollection(db, place.applicationUid, place.id);
  if (!row) return { error: `${named} was deleted before the app was started.` };
  try {
    return { secrets: openSecrets(seal, row.secrets, place) };
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    return {
      error: `${named} cannot be decrypted: it was altered, or written with another master key.`,
    };
  }
}
