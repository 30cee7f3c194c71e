/** Secrets of webhooks, and the signatures by which receivers verify deliveries. */
import { createHmac } from 'node:crypto';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Encryptor } from '../database/encryption.ts';
import type { Random } from '../random.ts';
import type { WebhooksTable } from './schema.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Returns a new secret in the form of the Standard Webhooks specification: the prefix, then 32 bytes in Base64. */
export function generateSecret(random: Random): string {
  return PREFIX + random.bytes(SECRET_BYTES).toString('base64');
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

/**
 * Returns the headers that prove sender and time of the body, in three formats for different receivers:
 * - `Switchyard-Signature: t=<seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<body>` with the text of the secret, one v1 for each
 *   secret.
 * - `Nextmv-Signature`: the same with the newest secret alone, because its receivers read one v1.
 * - `webhook-id`, `webhook-timestamp`, `webhook-signature` of Standard Webhooks 1.0.0: HMAC-SHA256 of `<id>.<t>.<body>`
 *   with the Base64-decoded bytes of the secret, one `v1,<base64>` for each secret.
 */
export function createSignatureHeaders(message: {
  id: string;
  at: number;
  body: string;
  secrets: readonly [string, ...string[]];
}): Record<string, string> {
  const { id, body, secrets } = message;
  const seconds = String(Math.floor(message.at / 1000));
  const hex = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'),
  );
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  });
  return {
    'switchyard-signature': [`t=${seconds}`, ...hex.map((one) => `v1=${one}`)].join(','),
    'nextmv-signature': `t=${seconds},v1=${hex[0]}`,
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.join(' '),
  };
}
