/** The keys of a simulated identity provider, and the tokens that it signs: right ones, and those that a server must refuse. */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { Draws } from '../kernel/draws.ts';

export const CLIENT_ID = 'console';
export const CLI_CLIENT_ID = 'command-line';
export const ISSUER = 'https://identity.example.com';
/** An ID token is valid for this time. */
export const TOKEN_SECONDS = 120;

/** What is wrong with a token; `none` for a right one. */
export const TRICKS = [
  ...['none', 'audience', 'expired', 'future', 'key', 'unsigned', 'issuer'],
  ...['nonce', 'unverified', 'domain', 'groups'],
] as const;
export type Trick = (typeof TRICKS)[number];

/** A person whom the provider knows. */
export interface Person {
  subject: string;
  email: string;
  groups: readonly string[];
}

interface Key {
  id: string;
  key: KeyObject;
}

/** The beginning of a private key of Ed25519 (RFC 8410), before its 32 bytes. */
const PRIVATE_KEY_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SECONDS = 1000;

/** Signs tokens, and rotates its keys. */
export class TokenSigner {
  readonly #draws: Draws;
  /** The newest last; the key set has them all. */
  #keys: Key[];
  #formerKeys: Key[] = [];
  #rotations = 0;

  constructor(draws: Draws) {
    this.#draws = draws;
    this.#keys = [this.#createKey()];
  }

  #createKey(): Key {
    this.#rotations += 1;
    const der = Buffer.concat([PRIVATE_KEY_PREFIX, this.#draws.bytes(32)]);
    return {
      id: `key-${this.#rotations}`,
      key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
    };
  }

  /** Signs with a new key from now on; the key set keeps the old ones only when it is asked to. */
  rotate(keepsOld: boolean): void {
    this.#formerKeys = this.#keys;
    this.#keys = [...(keepsOld ? this.#keys : []), this.#createKey()];
  }

  /** Returns the key set; a stale one is that before the last rotation. */
  formatKeys(isStale: boolean): object {
    const keys = isStale && this.#formerKeys.length > 0 ? this.#formerKeys : this.#keys;
    return {
      keys: keys.map(({ id, key }) => ({
        ...createPublicKey(key).export({ format: 'jwk' }),
        ...{ kid: id, use: 'sig', alg: 'EdDSA' },
      })),
    };
  }

  /** Returns an ID token of the person; `now` is the time of the provider in milliseconds. */
  issue(
    { subject, email, groups }: Person,
    { audience, nonce, now, trick }: { audience: string; nonce?: string; now: number; trick: Trick },
  ): string {
    const ageSeconds = trick === 'expired' ? TOKEN_SECONDS + 600 : trick === 'future' ? -600 : 0;
    const issuedAt = Math.floor(now / SECONDS) - ageSeconds;
    const claims = {
      iss: trick === 'issuer' ? 'https://other.example.com' : ISSUER,
      sub: subject,
      aud: trick === 'audience' ? 'another-client' : audience,
      iat: issuedAt,
      ...(trick === 'future' ? { nbf: issuedAt } : {}),
      exp: issuedAt + TOKEN_SECONDS,
      ...(nonce === undefined ? {} : { nonce: trick === 'nonce' ? 'another-nonce' : nonce }),
      email: trick === 'domain' ? email.replace('@example.com', '@example.net') : email,
      email_verified: trick !== 'unverified',
      groups: trick === 'groups' ? ['strangers'] : groups,
    };
    return this.#sign(claims, trick);
  }

  #sign(claims: object, trick: Trick): string {
    const newest = this.#keys.at(-1);
    if (!newest) throw new Error('The provider has no key.');
    const header = trick === 'unsigned' ? { alg: 'none' } : { alg: 'EdDSA', kid: newest.id };
    const text = [header, claims].map((part) => encode(JSON.stringify(part))).join('.');
    if (trick === 'unsigned') return `${text}.`;
    // Another key under the same id: somebody else signs.
    const { key } = trick === 'key' ? this.#createKey() : newest;
    return `${text}.${encode(sign(null, Buffer.from(text), key))}`;
  }
}

const encode = (content: string | Buffer): string => Buffer.from(content).toString('base64url');
