/**
 * Secrets as they lie in the database: the whole list in JSON, sealed for its collection in its account. The list is sealed
 * as one, so that not even locations and numbers of secrets can be read, and no secret moved to another collection.
 */
import type { AccountId, SecretsCollectionId } from '@switchyard/contract/ids.ts';
import type { Secret } from '@switchyard/contract/secrets.ts';
import type { Seal } from '../database/seal.ts';

/** Whose secrets they are. */
export interface SecretsPlace {
  account: AccountId;
  applicationUid: string;
  id: SecretsCollectionId;
}

const written = ({ account, applicationUid, id }: SecretsPlace): string[] => [
  'secrets collection',
  id,
  account,
  applicationUid,
];

export function sealSecrets(seal: Seal, secrets: readonly Secret[], place: SecretsPlace): Buffer {
  const plain = secrets.map(({ type, location, value }) => ({ type, location, value }));
  return seal.close(JSON.stringify(plain), written(place));
}

/** Throws SealBrokenError when they were sealed for another place or with another key. */
export function openSecrets(seal: Seal, sealed: Uint8Array, place: SecretsPlace): Secret[] {
  return JSON.parse(seal.open(sealed, written(place))) as Secret[];
}
