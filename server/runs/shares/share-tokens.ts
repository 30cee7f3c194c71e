/**
 * Tokens of share links: the id of the link and an HMAC-SHA-256 over id and expiry. The database holds no token, and
 * nobody can compute one from an id. The row decides whether the link works, so it can be revoked.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { decodeBase64Url } from '../../platform/http/requests/base64url.ts';
import type { RunSharesTable } from './schema.ts';

type SignedFields = Pick<RunSharesTable, 'id' | 'expires_at'>;

/** Writes and checks the tokens of share links. */
export class ShareTokens {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  encode(share: SignedFields): string {
    return `${share.id}.${this.#mac(share).toString('base64url')}`;
  }

  /** Returns the id in the token, which `matches` must confirm. */
  readId(token: string): string {
    return token.split('.', 1)[0] ?? '';
  }

  /** Returns true when the token is that of the link. */
  matches(token: string, share: SignedFields): boolean {
    const mac = decodeBase64Url(token.slice(share.id.length + 1));
    const expected = this.#mac(share);
    return mac?.length === expected.length && timingSafeEqual(mac, expected);
  }

  #mac({ id, expires_at }: SignedFields): Buffer {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([id, expires_at]))
      .digest();
  }
}
