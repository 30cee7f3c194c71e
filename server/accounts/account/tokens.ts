/**
 * Bearer tokens: JWTs signed with Ed25519. Verified tokens are cached, because a verification on every request halves the
 * throughput. Their keys are not cached: each request reads its key from the database.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { ROLES, type Role } from '@switchyard/contract/roles.ts';
import { type AccountId, ID_PATTERN, type KeyId } from '@switchyard/contract/schemas/ids.ts';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../platform/clock.ts';

/** The verified content of a token. */
export interface TokenClaims {
  key: KeyId;
  account: AccountId;
  role: Role;
  /** Milliseconds since the epoch; null for a token that does not expire. */
  expiresAt: number | null;
}

const ALGORITHM = 'EdDSA';
const VERIFIED_TOKENS_MAX = 10_000;

/** Signs and verifies the tokens of this server. */
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

  /** Returns the claims of a token that this server signed and that is valid now; null for any other text. */
  async verify(token: string): Promise<TokenClaims | null> {
    const claims = this.#verified.get(token) ?? (await this.#verifySignature(token));
    if (!claims || (claims.expiresAt !== null && claims.expiresAt <= this.#clock.now())) return null;
    if (this.#verified.size >= VERIFIED_TOKENS_MAX) this.#verified.clear();
    this.#verified.set(token, claims);
    return claims;
  }

  async #verifySignature(token: string): Promise<TokenClaims | null> {
    try {
      const { payload } = await jwtVerify(token, this.#publicKey, {
        algorithms: [ALGORITHM],
        currentDate: new Date(this.#clock.now()),
      });
      const role = ROLES.find((one) => one === payload.role);
      if (!isId<KeyId>(payload.sub) || !isId<AccountId>(payload.account) || role === undefined) return null;
      return {
        key: payload.sub,
        account: payload.account,
        role,
        expiresAt: payload.exp === undefined ? null : payload.exp * 1000,
      };
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
      throw error;
    }
  }
}

/** Returns true for text in the form of an id; a lookup with other text, such as a zero byte, makes PostgreSQL fail. */
function isId<Id extends string>(value: unknown): value is Id {
  return typeof value === 'string' && ID.test(value);
}
const ID = new RegExp(ID_PATTERN);
