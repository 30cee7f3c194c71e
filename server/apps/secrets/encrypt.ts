/**
 * Encryption of secrets at rest. A collection stores its whole list in JSON under one authenticated encryption, which is
 * bound to the collection and its account. A copy of the database reveals neither locations nor the number of secrets, and a
 * ciphertext moved to another collection cannot be decrypted.
 */
import { Secret } from '@switchyard/contract/applications/secrets.ts';
import type { AccountId, SecretsCollectionId } from '@switchyard/contract/schemas/ids.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';
import type { Encryptor } from '../../platform/database/encryption.ts';

/** The collection to which an encryption is bound. */
export interface SecretsOwner {
  account: AccountId;
  applicationUid: string;
  id: SecretsCollectionId;
}

/** The authenticated data; a change of it makes every stored collection unreadable. */
const formatBinding = ({ account, applicationUid, id }: SecretsOwner): string[] => [
  'secrets collection',
  id,
  account,
  applicationUid,
];

/** Encrypts the list of secrets for its collection. */
export function encryptSecrets(
  encryptor: Encryptor,
  secrets: readonly Secret[],
  owner: SecretsOwner,
): Buffer {
  const plain = secrets.map(({ type, location, value }) => ({ type, location, value }));
  return encryptor.encrypt(JSON.stringify(plain), formatBinding(owner));
}

const parseSecrets = createJsonParser(Type.Array(Secret));

/** Decrypts the list of secrets. Throws a DecryptionError for another collection, another key or altered bytes. */
export function decryptSecrets(encryptor: Encryptor, encrypted: Uint8Array, owner: SecretsOwner): Secret[] {
  return parseSecrets(encryptor.decrypt(encrypted, formatBinding(owner)), 'secrets_collections.encrypted');
}
