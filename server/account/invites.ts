/**
 * Invites: text that carries its own credential, who it is for and until when, with a signature. That it is good once
 * stands with the member, whose open invite it names.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../clock.ts';
import { forbidden } from '../http/errors/problem.ts';
import { decodeBase64Url } from '../http/requests/base64url.ts';

export interface InviteClaims {
  account: AccountId;
  inviteId: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

const MAC_BYTES = 32;

export class Invites {
  readonly #key: Buffer;
  readonly #clock: Clock;

  constructor(key: Buffer, clock: Clock) {
    this.#key = key;
    this.#clock = clock;
  }

  encode({ account, inviteId, expiresAt }: InviteClaims): string {
    const payload = Buffer.from(JSON.stringify([account, inviteId, expiresAt]));
    return Buffer.concat([this.#mac(payload), payload]).toString('base64url');
  }

  /** Throws the 403 that says why the invite is not good. */
  decode(invite: string): InviteClaims {
    const bytes = decodeBase64Url(invite);
    const payload = bytes?.subarray(MAC_BYTES);
    if (!bytes || !payload?.length || !timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#mac(payload)))
      throw forbidden('The invite is not one of this server; it may have been copied incompletely.');
    const [account, inviteId, expiresAt] = JSON.parse(payload.toString()) as [AccountId, string, number];
    if (expiresAt <= this.#clock.now())
      throw forbidden('The invite has expired; ask whoever invited you for a new one.');
    return { account, inviteId, expiresAt };
  }

  #mac(payload: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(payload).digest();
  }
}
