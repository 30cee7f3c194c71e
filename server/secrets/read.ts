/** What an app that is started now is given of a collection. */
import type { Secret } from '@switchyard/contract/secrets.ts';
import type { Reader } from '../database/database.ts';
import { type Seal, SealBrokenError } from '../database/seal.ts';
import { shown } from '../http/problem.ts';
import { openSecrets, type SecretsPlace } from './encrypt.ts';
import { findCollection } from './store.ts';

/** The secrets, or why there are none to be had, as a sentence. */
export async function readSecrets(
  db: Reader,
  seal: Seal,
  place: SecretsPlace,
): Promise<{ secrets: Secret[] } | { error: string }> {
  const named = `The secrets collection ${shown(place.id)} of the run`;
  const row = await findCollection(db, place.applicationUid, place.id);
  if (!row) return { error: `${named} was deleted before the app was started.` };
  try {
    return { secrets: openSecrets(seal, row.secrets, place) };
  } catch (error) {
    if (!(error instanceof SealBrokenError)) throw error;
    return {
      error: `${named} cannot be decrypted: it was altered, or written with another master key.`,
    };
  }
}
