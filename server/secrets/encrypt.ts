/**
 * Secrets as they lie in the database: the whole list in JSON, sealed for its collection in its account. The list is sealed
 * as one, so that not even locations and numbers of secrets can be read, and no secret moved to another collection.
 */

import type { Secret } from '@switchyard/contract/applications/secrets.ts';
import type { AccountId, SecretsCollectionId } from '@switchyard/contract/schemas/ids.ts';
import type { Encryptor } from '../database/encryption.ts';

/** Whose secrets they are. */
export interface SecretsOwner {
  account: AccountId;
  applicationUid: string;
  id: SecretsCollectionId;
}

const written = ({ account, applicationUid, id }: SecretsOwner): string[] => [
  'secrets collection',
  id,
  account,
  applicationUid,
];

export function sealSecrets(seal: Encryptor, secrets: readonly Secret[], place: SecretsOwner): Buffer {
  const plain = secrets.map(({ type, location, value }) => ({ type, location, value }));
  return seal.encrypt(JSON.stringify(plain), written(place));
}

/** Throws SealBrokenError when they were sealed for another place or with another key. */
export function openSecrets(seal: Encryptor, sealed: Uint8Array, place: SecretsOwner): Secret[] {
  return JSON.parse(seal.decrypt(sealed, written(place))) as Secret[];
}
