/** The signatures by which receivers of webhooks verify deliveries. The server and `switchyard webhooks listen` sign by it. */
import { createHmac } from 'node:crypto';

/** A secret is this prefix and 32 bytes in Base64 (Standard Webhooks 1.0.0). */
export const WEBHOOK_SECRET_PREFIX = 'whsec_';

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
    const key = Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64');
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
