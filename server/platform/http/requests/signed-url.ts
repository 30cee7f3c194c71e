/** Signed URLs: a URL with an expiry and a signature over method, path, query and expiry authorises one request without a token. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { decodeBase64Url } from './base64url.ts';

/** Signs URLs with HMAC-SHA-256, and verifies them. */
export class UrlSigner {
  readonly #key: Buffer;
  readonly #clock: Clock;
  readonly #publicUrl: () => string;

  /** `publicUrl` is a function, because with port 0 the address is known only when the server listens. */
  constructor(parts: { key: Buffer; clock: Clock; publicUrl: () => string }) {
    this.#key = parts.key;
    this.#clock = parts.clock;
    this.#publicUrl = parts.publicUrl;
  }

  /** Returns the absolute URL of the path. It is valid for the method and the query, and expires after `seconds`. */
  sign(method: 'GET' | 'PUT', path: string, seconds: number, query: Record<string, string> = {}): string {
    const expires = String(Math.floor(this.#clock.now() / 1000) + seconds);
    const signature = this.#signature(method, path, expires, query).toString('base64url');
    return `${this.#publicUrl()}${path}?${new URLSearchParams({ ...query, expires, signature }).toString()}`;
  }

  /**
   * Returns the sentence that tells the caller why the URL is not valid, or null for a valid one. The object `query` has the
   * signed parameters without `expires` and `signature`. A later end than that of the URL is `renewedUntil`, in milliseconds.
   */
  findRejection(
    method: 'GET' | 'PUT',
    path: string,
    credential: { expires?: string; signature?: string; renewedUntil?: number },
    query: Record<string, string> = {},
  ): string | null {
    const expires = credential.expires ?? '';
    const signature = decodeBase64Url(credential.signature ?? '');
    const expected = this.#signature(method, path, expires, query);
    if (signature?.length !== expected.length || !timingSafeEqual(signature, expected))
      return 'The signature of the URL does not match the request; request a new URL, and use it unchanged.';
    const validUntil = Math.max(Number(expires) * 1000, credential.renewedUntil ?? 0);
    if (validUntil <= this.#clock.now()) return 'The URL has expired; request a new one.';
    return null;
  }

  #signature(method: string, path: string, expires: string, query: Record<string, string>): Buffer {
    const parts = Object.entries(query).sort(([one], [other]) => (one < other ? -1 : 1));
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([method, path, expires, parts]))
      .digest();
  }
}
