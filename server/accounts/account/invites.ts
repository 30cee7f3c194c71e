/**
 * Invites are signed texts that name the account, the invite and its expiry. A member row stores the id of its open
 * invite, so that each invite works once.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { INVITE_TTL_SECONDS } from '@switchyard/contract/limits.ts';
import { type AccountId, idSchema, type KeyId } from '@switchyard/contract/schemas/ids.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';
import type { Clock } from '../../platform/clock.ts';
import { forbidden } from '../../platform/http/errors/problem.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import { decodeBase64Url } from '../../platform/http/requests/base64url.ts';
import { type Random, randomText } from '../../platform/random.ts';
import { type MembersTable, normalizeEmail } from './schema.ts';

/** The signed content of an invite. */
export interface InviteClaims {
  account: AccountId;
  inviteId: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** With 5 bits a character, 130 random bits: an invite id cannot be guessed. */
const INVITE_ID_CHARS = 26;
/** Length of an HMAC-SHA-256. */
const MAC_BYTES = 32;

const parseClaims = createJsonParser(
  Type.Tuple([idSchema<AccountId>('The account.'), Type.String(), Type.Number()]),
);

/** Encodes claims as `base64url(HMAC-SHA-256 || JSON)` and verifies such texts. */
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

  /** Returns the claims of the invite. Throws a 403 for a wrong signature or an expired invite. */
  decode(invite: string): InviteClaims {
    const bytes = decodeBase64Url(invite);
    const payload = bytes?.subarray(MAC_BYTES);
    if (!bytes || !payload?.length || !timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#mac(payload)))
      throw forbidden('The invite is not one of this server; it may have been copied incompletely.');
    // The signature proves that `encode` wrote the payload.
    const [account, inviteId, expiresAt] = parseClaims(payload.toString(), 'The invite');
    if (expiresAt <= this.#clock.now())
      throw forbidden('The invite has expired; ask the person who invited you for a new one.');
    return { account, inviteId, expiresAt };
  }

  #mac(payload: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(payload).digest();
  }
}

/** The columns of an open invite. */
export interface OpenInvite {
  invite_id: string;
  /** Milliseconds since 1970. */
  invite_expires_at: number;
  /** Normalised address of the member who invites. */
  invited_by: string;
  invited_by_key: KeyId;
}

/** The columns of a member without an open invite. */
export const NO_INVITE = {
  ...{ invite_id: null, invite_expires_at: null },
  ...{ invited_by: null, invited_by_key: null },
};

/** Returns the columns of a new invite of the caller. */
export function createInvite(
  { clock, random }: { clock: Clock; random: Random },
  caller: Pick<Caller, 'email' | 'key'>,
): OpenInvite {
  return {
    invite_id: randomText(random, INVITE_ID_CHARS),
    invite_expires_at: clock.now() + INVITE_TTL_SECONDS * 1000,
    invited_by: normalizeEmail(caller.email),
    invited_by_key: caller.key,
  };
}

/** Returns the signed text of the member's open invite. */
export function encodeInvite(invites: Invites, { account_id }: MembersTable, open: OpenInvite): string {
  return invites.encode({
    account: account_id,
    inviteId: open.invite_id,
    expiresAt: open.invite_expires_at,
  });
}

/** Returns the address of the page on which the person accepts the invite. */
export function formatInviteUrl(
  { invites, publicUrl }: { invites: Invites; publicUrl(): string },
  member: MembersTable,
  open: OpenInvite,
): string {
  const invite = encodeInvite(invites, member, open);
  return `${publicUrl()}/sign-up?${new URLSearchParams({ invite }).toString()}`;
}
