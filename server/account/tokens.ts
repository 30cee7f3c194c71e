/**
 * Bearer tokens: JWTs signed with Ed25519. Verified tokens are remembered, because verifying one on every request halves
 * the throughput; whether the key still lets in is asked of the store each time.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { ROLES, type Role } from '@switchyard/contract/roles.ts';
import { type AccountId, ID_PATTERN, type KeyId } from '@switchyard/contract/schemas/ids.ts';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../clock.ts';

export interface TokenClaims {
  key: KeyId;
  account: AccountId;
  role: Role;
  /** Milliseconds since the epoch; null for a token that does not expire. */
  expiresAt: number | null;
}

const ALGORITHM = 'EdDSA';
const VERIFIED_TOKENS_MAX = 10_000;

export class Tokens {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #clock: Clock;
  readonly #verified = new Map<string, TokenClaims>();

  constructor(privateKey: KeyObject, clock: Clock) {
    this.#privateKey = privateKey;
    this.#publicKey = createPublicKey(privateKey);
    this.#clock = clock;
  }

  sign(claims: { key: KeyId; account: AccountId; role: Role }): Promise<string> {
    return new SignJWT({ account: claims.account, role: claims.role })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
      .setSubject(claims.key)
      .setIssuedAt(Math.floor(this.#clock.now() / 1000))
      .sign(this.#privateKey);
  }

  /** null for whatever is not a token of ours that is good now. */
  async verify(token: string): Promise<TokenClaims | null> {
    const claims = this.#verified.get(token) ?? (await this.#check(token));
    if (!claims || (claims.expiresAt !== null && claims.expiresAt <= this.#clock.now())) return null;
    if (this.#verified.size >= VERIFIED_TOKENS_MAX) this.#verified.clear();
    this.#verified.set(token, claims);
    return claims;
  }

  async #check(token: string): Promise<TokenClaims | null> {
    try {
      const { payload } = await jwtVerify(token, this.#publicKey, {
        algorithms: [ALGORITHM],
        currentDate: new Date(this.#clock.now()),
      });
      const role = ROLES.find((one) => one === payload.role);
      if (!isId(payload.sub) || !isId(payload.account) || role === undefined) return null;
      return {
        key: payload.sub as KeyId,
        account: payload.account as AccountId,
        role,
        expiresAt: payload.exp === undefined ? null : payload.exp * 1000,
      };
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
      throw error;
    }
  }
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}
const ID = new RegExp(ID_PATTERN);
