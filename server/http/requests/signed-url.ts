/** URLs that carry their own credential: what may be done, until when, and a signature over both. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { decodeBase64Url } from './base64url.ts';

export class UrlSigner {
  readonly #key: Buffer;
  readonly #clock: Clock;
  readonly #publicUrl: () => string;

  /** `publicUrl` is asked late: with port 0 it is known only once the server listens. */
  constructor(parts: { key: Buffer; clock: Clock; publicUrl: () => string }) {
    this.#key = parts.key;
    this.#clock = parts.clock;
    this.#publicUrl = parts.publicUrl;
  }

  /** The absolute URL of the path, good for the method and the query given until the time is over. */
  sign(method: 'GET' | 'PUT', path: string, seconds: number, query: Record<string, string> = {}): string {
    const expires = String(Math.floor(this.#clock.now() / 1000) + seconds);
    const signature = this.#signature(method, path, expires, query).toString('base64url');
    return `${this.#publicUrl()}${path}?${new URLSearchParams({ ...query, expires, signature }).toString()}`;
  }

  /** Why the URL is not good, or null when it is. */
  findRejection(
    method: 'GET' | 'PUT',
    path: string,
    given: { expires?: string; signature?: string },
    query: Record<string, string> = {},
  ): string | null {
    const expires = given.expires ?? '';
    const signature = decodeBase64Url(given.signature ?? '');
    const expected = this.#signature(method, path, expires, query);
    if (signature?.length !== expected.length || !timingSafeEqual(signature, expected))
      return 'The signature of the URL is not right.';
    if (Number(expires) * 1000 <= this.#clock.now()) return 'The URL has expired; ask for a new one.';
    return null;
  }

  #signature(method: string, path: string, expires: string, query: Record<string, string>): Buffer {
    const parts = Object.entries(query).sort(([one], [other]) => (one < other ? -1 : 1));
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([method, path, expires, parts]))
      .digest();
  }
}
