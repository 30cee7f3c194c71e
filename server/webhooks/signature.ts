/** Secrets of webhooks, and the signatures that receivers check deliveries by. */
import { createHmac } from 'node:crypto';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Encryptor } from '../database/encryption.ts';
import type { Random } from '../random.ts';
import type { WebhooksTable } from './schema.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** As the Standard Webhooks specification writes one: the prefix, then the bytes in Base64. */
export function generateSecret(random: Random): string {
  return PREFIX + random.bytes(SECRET_BYTES).toString('base64');
}

const placeOf = (uid: string, account: AccountId): string[] => ['webhook', uid, account];

export function sealSecret(seal: Encryptor, secret: string, uid: string, account: AccountId): Buffer {
  return seal.encrypt(secret, placeOf(uid, account));
}

/** The secrets that sign now, newest first. Throws SealBrokenError for what was sealed with another key. */
export function openSigningSecrets(
  seal: Encryptor,
  webhook: WebhooksTable,
  now: number,
): [string, ...string[]] {
  const open = (sealed: Uint8Array) => seal.decrypt(sealed, placeOf(webhook.uid, webhook.account_id));
  const { previous_secret, previous_until } = webhook;
  const overlaps = previous_secret !== null && previous_until !== null && previous_until > now;
  return [open(webhook.secret), ...(overlaps ? [open(previous_secret)] : [])];
}

/**
 * Headers that say who sent the body and when. Three families, for receivers that know one of them:
 * - `Switchyard-Signature: t=<seconds>,v1=<hex>`, HMAC-SHA256 of `<t>.<body>` with the secret as it is written; one v1 for
 *   each secret.
 * - `Nextmv-Signature`, the same with the newest secret alone: its receivers read one v1.
 * - `webhook-id`, `webhook-timestamp`, `webhook-signature` of Standard Webhooks 1.0.0: HMAC-SHA256 of `<id>.<t>.<body>`
 *   with the bytes that the secret spells in Base64; one `v1,<base64>` for each secret.
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
