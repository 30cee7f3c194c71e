/**
 * Admits a person of the identity provider to the account: the first sign-in adds the member and their key, later ones change
 * the role when the groups have changed. The key has the role of the member; sessions and ID tokens act with it. Removing the
 * member deletes the key, which ends both at once.
 *
 * Invariants: a removed member comes back by an invite alone. An address belongs to one person of the provider. An ID token
 * older than the newest one changes no role and revives no revoked key.
 */
import { canGrant, type Role } from '@switchyard/contract/roles.ts';
import type { AccountId, KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import { forbidden, quoteValue, unauthorized } from '../../platform/http/errors/problem.ts';
import { makeId, type Random } from '../../platform/random.ts';
import { type RevocationParts, revokeExcessRights } from '../account/access-changes.ts';
import { NO_INVITE } from '../account/invites.ts';
import { findMemberByOwner, insertMember, isRemovedMember, updateMember } from '../account/member-store.ts';
import { buildFirstKey } from '../account/new-account.ts';
import { type KeysTable, type MembersTable, normalizeEmail } from '../account/schema.ts';
import { findKey, insertKey, updateKeyRole } from '../account/store.ts';
import { systemEntry } from '../audit/entry.ts';
import { insertEntry } from '../audit/store.ts';
import type { Person } from './person.ts';
import type { SsoIdentitiesTable } from './schema.ts';
import { findIdentity, findIdentityByOwner, replaceIdentity } from './store.ts';

/** Role of a new member while the provider does not decide about roles. */
const DEFAULT_ROLE: Role = 'viewer';
const KEY_NAME = 'Single sign-on';
/** The services that an admission needs. */
export interface AdmissionParts extends RevocationParts {
  clock: Clock;
  random: Random;
}

/** A person who wants to act in an account, which is locked. */
export interface Admission {
  account: AccountId;
  issuer: string;
  person: Person;
  /** true for a sign-in in the console, whose ID token a nonce proves to be new. */
  isNew: boolean;
}

/** The account's knowledge of the person of an admission. */
interface Known {
  member: MembersTable | undefined;
  identity: SsoIdentitiesTable | undefined;
  /** false for an ID token that is older than another one of the person. */
  isNewest: boolean;
}

/**
 * Returns the key of the person, and adds or changes member and key where necessary. Throws a 403 for a removed member, a
 * changed address and an address of another person. Throws a 401 for an old token of a revoked key.
 */
export async function admitPerson(
  tx: Writer,
  parts: AdmissionParts,
  admission: Admission,
): Promise<KeysTable> {
  const { account: account_id, issuer, person } = admission;
  const owner = normalizeEmail(person.email);
  const member = await findMemberByOwner(tx, account_id, owner);
  const identity = await findBoundIdentity(tx, admission, member);
  const isNewest = admission.isNew || !identity || person.issuedAt > identity.issued_at;
  const known: Known = { member, identity, isNewest };
  const admitted = member
    ? await updateAdmittedMember(tx, parts, person, { ...known, member })
    : await provisionMember(tx, parts, admission);
  const role = admitted.role === 'root' ? (person.role ?? 'admin') : admitted.role;
  const key = await ensureKey(tx, parts, { ...admitted, role }, known);
  await replaceIdentity(tx, {
    ...{ account_id, issuer, subject: person.subject, owner, member_id: admitted.id, key_id: key.id },
    issued_at: Math.max(person.issuedAt, identity?.issued_at ?? 0),
    created_at: identity?.created_at ?? parts.clock.now(),
  });
  return key;
}

/** Returns the identity that binds the person to the member. Throws a 403 when person or address are bound otherwise. */
async function findBoundIdentity(
  tx: Writer,
  { account: account_id, issuer, person }: Admission,
  member: MembersTable | undefined,
): Promise<SsoIdentitiesTable | undefined> {
  const owner = normalizeEmail(person.email);
  const email = quoteValue(person.email);
  const own = await findIdentity(tx, { account_id, issuer, subject: person.subject });
  const sameAddress = await findIdentityByOwner(tx, { account_id, issuer, owner });
  if (own && own.owner !== owner) {
    const former = await findMemberByOwner(tx, account_id, own.owner);
    if (former?.id === own.member_id)
      throw forbidden(
        `Your address is ${email} now, and you are a member as ${quoteValue(former.email)}. An admin has to remove that member and invite the new address.`,
      );
  }
  if (!member) {
    if (own || sameAddress || (await isRemovedMember(tx, account_id, owner)))
      throw forbidden(`The member ${email} was removed from the account; an admin has to invite you again.`);
    return undefined;
  }
  if (sameAddress?.member_id === member.id && sameAddress.subject !== person.subject)
    throw forbidden(
      `The member ${email} is another person of the identity provider. An admin has to remove the member and invite the address again.`,
    );
  return own?.member_id === member.id ? own : undefined;
}

async function provisionMember(
  tx: Writer,
  { clock, random }: AdmissionParts,
  { account, person }: Admission,
): Promise<MembersTable> {
  const now = clock.now();
  const member: MembersTable = {
    id: makeId<MemberId>(random, 'mem'),
    account_id: account,
    email: person.email,
    owner: normalizeEmail(person.email),
    name: person.name,
    role: person.role ?? DEFAULT_ROLE,
    joined_at: now,
    ...NO_INVITE,
    created_at: now,
    updated_at: now,
  };
  await insertMember(tx, member);
  const resource = { member_id: member.id, role: member.role };
  await insertEntry(tx, systemEntry({ random, now }, 'provisionMember', account, resource));
  return member;
}

/**
 * Lets an invited person join, and gives a member the role of their groups. A member with the role root keeps it, because
 * root operates the server.
 */
async function updateAdmittedMember(
  tx: Writer,
  parts: AdmissionParts,
  person: Person,
  { member, isNewest }: Known & { member: MembersTable },
): Promise<MembersTable> {
  const { clock, random } = parts;
  const now = clock.now();
  const role = (isNewest && member.role !== 'root' && person.role) || member.role;
  if (member.joined_at !== null && role === member.role) return member;
  if (role !== member.role) {
    await revokeExcessRights(tx, parts, member, { role, keep: [], revoke: [], by: null });
    const resource = { member_id: member.id, role, previous_role: member.role };
    await insertEntry(tx, systemEntry({ random, now }, 'changeMemberRole', member.account_id, resource));
  }
  const changes = { role, joined_at: member.joined_at ?? now, ...NO_INVITE, updated_at: now };
  await updateMember(tx, member.id, changes);
  return { ...member, ...changes };
}

/** Returns the member's key of single sign-on, with the role of the member. */
async function ensureKey(
  tx: Writer,
  { clock, random }: AdmissionParts,
  member: MembersTable,
  { identity, isNewest }: Known,
): Promise<KeysTable> {
  const { role } = member;
  const key = identity && (await findKey(tx, identity.key_id));
  if (!key) {
    if (!isNewest)
      throw unauthorized('The key of this sign-in was revoked, which ended its ID tokens; sign in again.');
    const created = {
      ...buildFirstKey(member, makeId<KeyId>(random, 'key'), clock.now()),
      name: KEY_NAME,
    };
    await insertKey(tx, created);
    return created;
  }
  // An old token may lower the role of the key to that of the member, and never raise it.
  if (key.role === role || !(isNewest || canGrant(key.role, role))) return key;
  await updateKeyRole(tx, key.id, role);
  return { ...key, role };
}
