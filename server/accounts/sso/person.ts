/** The person that verified claims of an identity provider describe, and their role. Pure. */
import { EMAIL_CHARS_MAX } from '@switchyard/contract/limits.ts';
import { canGrant, type Role } from '@switchyard/contract/roles.ts';
import { forbidden, quoteValue, truncate } from '../../platform/http/errors/problem.ts';
import type { SsoSettings } from '../../platform/settings/sso-settings.ts';

/** Claims of an ID token or of the userinfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>;

/** A person whom the settings allow to sign in. */
export interface Person {
  subject: string;
  email: string;
  /** Empty when the provider gives none. */
  name: string;
  /** The role of the person's groups; null while the provider does not decide about roles. */
  role: Role | null;
  /** Issue time of the ID token, in milliseconds since the epoch. */
  issuedAt: number;
}

/** OpenID Connect Core 1.0, section 2. */
const SUBJECT_CHARS_MAX = 255;
const PERSON_NAME_CHARS_MAX = 48;
/** Groups of one person. Providers send at most some hundreds. */
const GROUPS_MAX = 5_000;
/**
 * Words of ASCII with dots between them (RFC 5322, section 3.2.3), and a host. The lower-case form of some other letters is an
 * ASCII letter, so an address with one would become that of another person.
 */
const EMAIL = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*@[a-z0-9-]+(\.[a-z0-9-]+)*$/i;

/** Returns the person of verified claims. Throws a 403 for one whom the settings do not allow to sign in. */
export function readPerson(claims: Claims, settings: SsoSettings): Person {
  const { sub, iat, name } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > SUBJECT_CHARS_MAX || sub.includes('\0'))
    throw forbidden(
      `The identity provider names you ${quoteValue(sub)}; the claim sub must be a text of 1 to ${SUBJECT_CHARS_MAX} characters.`,
    );
  return {
    subject: sub.toWellFormed(),
    email: readEmail(claims, settings.domains),
    name: typeof name === 'string' ? cleanName(name) : '',
    role: settings.groupRoles && readRole(claims, settings.groupRoles, settings.groupsClaim),
    issuedAt: typeof iat === 'number' ? Math.floor(iat * 1000) : 0,
  };
}

/** Returns true when the claims lack something that the userinfo endpoint may have. */
export function isIncomplete(claims: Claims, settings: SsoSettings): boolean {
  const lacksGroups = settings.groupRoles !== null && readClaim(claims, settings.groupsClaim) === undefined;
  return claims.email === undefined || claims.email_verified === undefined || lacksGroups;
}

/**
 * Returns the claims of the ID token, completed by those of the userinfo endpoint. An address and its verification come from one
 * of the two: the verification of one address says nothing about another.
 */
export function completeClaims({ email, email_verified, ...claims }: Claims, more: Claims): Claims {
  const address = email === undefined || email_verified === undefined ? {} : { email, email_verified };
  return { ...more, ...claims, ...address };
}

function readEmail({ email, email_verified }: Claims, domains: readonly string[]): string {
  if (typeof email !== 'string')
    throw forbidden(
      'The identity provider gives no e-mail address for you; its operator has to add the claim email.',
    );
  if (email.length > EMAIL_CHARS_MAX || !EMAIL.test(email))
    throw forbidden(
      `Your e-mail address is ${quoteValue(email)}; single sign-on needs one in ASCII, at most ${EMAIL_CHARS_MAX} characters long, without quotes and brackets.`,
    );
  // Anybody can enter the address of another person at a provider that does not verify it.
  if (email_verified !== true && email_verified !== 'true')
    throw forbidden(
      `The identity provider has not verified your e-mail address ${quoteValue(email)}: the claim email_verified is not true.`,
    );
  const domain = email.slice(email.indexOf('@') + 1).toLowerCase();
  if (!domains.includes(domain))
    throw forbidden(
      `Your e-mail address is ${quoteValue(email)}; this server admits ${domains.map((one) => `@${one}`).join(', ')} by single sign-on.`,
    );
  return email;
}

/** Returns the strongest role of the person's groups and of `*`. Throws a 403 when none of them has one. */
function readRole(claims: Claims, roles: ReadonlyMap<string, Role>, name: string): Role {
  const claim = readClaim(claims, name);
  const groups: unknown[] = Array.isArray(claim) ? claim : [claim];
  if (groups.length > GROUPS_MAX)
    throw forbidden(
      `The claim ${truncate(name)} has ${groups.length} groups; this server reads at most ${GROUPS_MAX}. The operator of the identity provider has to send fewer.`,
    );
  // A set has at most one entry for each role, however many groups have it.
  const granted = new Set<Role>();
  for (const group of ['*', ...groups]) {
    const role = typeof group === 'string' ? roles.get(group) : undefined;
    if (role !== undefined) granted.add(role);
  }
  const all = [...granted];
  const strongest = all.find((role) => all.every((other) => canGrant(role, other)));
  if (strongest !== undefined) return strongest;
  throw forbidden(
    `None of your groups has a role on this server: the claim ${truncate(name)} is ${quoteValue(claim)}. The operator maps groups with SWITCHYARD_OIDC_ROLES.`,
  );
}

/** Returns the claim with the name, else the one at the path that the name spells with dots. */
function readClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

/** Returns the name without control characters, at most as long as the API accepts one. */
function cleanName(name: string): string {
  return name
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, PERSON_NAME_CHARS_MAX)
    .toWellFormed();
}
