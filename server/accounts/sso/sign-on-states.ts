/**
 * The state of a single sign-on between its start and its callback. The server stores nothing: the browser has a secret in a
 * cookie, and state, nonce and code verifier derive from it under a key of the server. A state therefore proves that this
 * server started the sign-in in this browser, and when it expires.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { SIGN_IN_LINK_MINUTES } from '@switchyard/contract/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { unauthorized } from '../../platform/http/errors/problem.ts';
import type { Random } from '../../platform/random.ts';

const SIGN_ON_MS = SIGN_IN_LINK_MINUTES * 60_000;
/** The life of the cookie. */
export const SIGN_ON_SECONDS = SIGN_ON_MS / 1000;
const SECRET_BYTES = 32;

/** The values that tie the requests of one sign-in together. */
export interface SignOn {
  /** The query parameter that comes back from the provider. */
  state: string;
  /** The claim that the ID token must have. */
  nonce: string;
  /** The verifier of PKCE (RFC 7636). */
  codeVerifier: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** Starts sign-ins and recognises their callbacks. */
export class SignOnStates {
  readonly #key: Buffer;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(key: Buffer, clock: Clock, random: Random) {
    this.#key = key;
    this.#clock = clock;
    this.#random = random;
  }

  /** Returns a new sign-in and the secret for the cookie of its browser. */
  create(): { secret: string; signOn: SignOn } {
    const secret = this.#random.bytes(SECRET_BYTES).toString('base64url');
    return { secret, signOn: this.#derive(secret, this.#clock.now() + SIGN_ON_MS) };
  }

  /**
   * Returns the sign-in that the browser with the secret started. Throws a 401 for a state that is absent or expired, or that
   * another browser, another server or nobody started.
   */
  recognize(secret: string | null, state: string | null): SignOn {
    if (!state) throw unauthorized('The callback has no state, so no sign-in of this server began it.');
    if (!secret) throw unauthorized(OTHER_BROWSER_MESSAGE);
    const signOn = this.#derive(secret, Number.parseInt(state, 36) || 0);
    if (!timingSafeEqual(hash(signOn.state), hash(state))) throw unauthorized(OTHER_BROWSER_MESSAGE);
    if (signOn.expiresAt <= this.#clock.now())
      throw unauthorized(`The sign-in is older than ${SIGN_IN_LINK_MINUTES} minutes; sign in again.`);
    return signOn;
  }

  #derive(secret: string, expiresAt: number): SignOn {
    const derive = (purpose: string): string =>
      createHmac('sha256', this.#key).update(`${purpose} ${expiresAt} ${secret}`).digest('base64url');
    return {
      state: `${expiresAt.toString(36)}.${derive('state')}`,
      nonce: derive('nonce'),
      codeVerifier: derive('verifier'),
      expiresAt,
    };
  }
}

/** Returns bytes of one length for texts of any length, which `timingSafeEqual` needs. */
function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const OTHER_BROWSER_MESSAGE =
  'The state of the callback is not one of this browser: the sign-in began elsewhere, or a newer one replaced it. Sign in again.';
