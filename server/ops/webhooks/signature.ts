/** Secrets of webhooks, which sign their deliveries. */
import { WEBHOOK_SECRET_PREFIX } from '@switchyard/contract/account/proofs/webhook-signature.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Encryptor } from '../../platform/database/encryption.ts';
import type { Random } from '../../platform/random.ts';
import type { WebhooksTable } from './schema.ts';

const SECRET_BYTES = 32;

/** Returns a new secret in the form of the Standard Webhooks specification: the prefix, then 32 bytes in Base64. */
export function generateSecret(random: Random): string {
  return WEBHOOK_SECRET_PREFIX + random.bytes(SECRET_BYTES).toString('base64');
}

/** The authenticated data; a change of it makes every stored secret unreadable. */
const formatBinding = (uid: string, account: AccountId): string[] => ['webhook', uid, account];

/** Encrypts a secret for its webhook. */
export function encryptSecret(encryptor: Encryptor, secret: string, uid: string, account: AccountId): Buffer {
  return encryptor.encrypt(secret, formatBinding(uid, account));
}

/** Returns the secrets that sign now, newest first. Throws a DecryptionError for another key or altered bytes. */
export function decryptSigningSecrets(
  encryptor: Encryptor,
  webhook: WebhooksTable,
  now: number,
): [string, ...string[]] {
  const binding = formatBinding(webhook.uid, webhook.account_id);
  const { previous_secret, previous_until } = webhook;
  const overlaps = previous_secret !== null && previous_until !== null && previous_until > now;
  return [
    encryptor.decrypt(webhook.secret, binding),
    ...(overlaps ? [encryptor.decrypt(previous_secret, binding)] : []),
  ];
}
