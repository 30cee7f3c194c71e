/** The settings of single sign-on: the `SWITCHYARD_OIDC_` variables, which server/platform/config.ts passes. */
import { ROLES, type Role } from '@switchyard/contract/roles.ts';
import { type AccountId, ID_PATTERN } from '@switchyard/contract/schemas/ids.ts';
import { ConfigError } from '../config-error.ts';
import { type Environment, readRequired } from './read-setting.ts';

/** The identity provider, and the people that it may sign in. */
export interface SsoSettings {
  /** The issuer as the provider writes it. */
  issuer: string;
  clientId: string;
  /** null for a public client. */
  clientSecret: string | null;
  /** The client of the command line, whose ID tokens are bearer tokens; null for none. */
  cliClientId: string | null;
  /** E-mail domains in lower case. */
  domains: readonly string[];
  /** The role of each group, and of everybody as `*`; null while the provider does not decide about roles. */
  groupRoles: ReadonlyMap<string, Role> | null;
  /** The claim with the groups: its name, or a path such as `realm_access.roles`. */
  groupsClaim: string;
  scopes: string;
  /** The account that people join; null for the oldest one. */
  account: AccountId | null;
}

export const SSO_VARIABLES = [
  'SWITCHYARD_OIDC_ISSUER',
  'SWITCHYARD_OIDC_CLIENT_ID',
  'SWITCHYARD_OIDC_CLIENT_SECRET',
  'SWITCHYARD_OIDC_CLI_CLIENT_ID',
  'SWITCHYARD_OIDC_DOMAINS',
  'SWITCHYARD_OIDC_ROLES',
  'SWITCHYARD_OIDC_GROUPS_CLAIM',
  'SWITCHYARD_OIDC_SCOPES',
  'SWITCHYARD_OIDC_ACCOUNT',
] as const;

/** The roles that a provider may grant: root operates the server, and `unassigned` has no rights. */
const GRANTED_ROLES = ROLES.filter((role) => role !== 'root' && role !== 'unassigned');
const DOMAIN = /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+$/;
const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Returns the settings, or null without an issuer. Throws a ConfigError for a wrong or missing one. */
export function readSsoSettings(env: Environment): SsoSettings | null {
  const issuer = readIssuer(env);
  if (issuer === null) return null;
  return {
    issuer,
    clientId: readRequired(env, 'SWITCHYARD_OIDC_CLIENT_ID', {
      neededBy: 'SWITCHYARD_OIDC_ISSUER',
      meaning: 'the id of the client at the identity provider',
    }),
    clientSecret: env.SWITCHYARD_OIDC_CLIENT_SECRET || null,
    cliClientId: env.SWITCHYARD_OIDC_CLI_CLIENT_ID || null,
    domains: readDomains(env),
    groupRoles: readGroupRoles(env),
    groupsClaim: env.SWITCHYARD_OIDC_GROUPS_CLAIM || 'groups',
    scopes: readScopes(env),
    account: readAccount(env),
  };
}

function readIssuer(env: Environment): string | null {
  const value = env.SWITCHYARD_OIDC_ISSUER;
  if (!value) {
    const other = SSO_VARIABLES.find((name) => env[name]);
    if (other === undefined) return null;
    throw new ConfigError(
      `${other} is set without SWITCHYARD_OIDC_ISSUER, so the identity provider is unknown. Set both, or neither.`,
    );
  }
  const url = URL.canParse(value) ? new URL(value) : null;
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK_HOSTS.has(url.hostname));
  if (!url || !isSafe || url.search || url.hash || url.username || url.password)
    throw new ConfigError(
      `SWITCHYARD_OIDC_ISSUER is "${value}"; it must be the https:// address of the issuer, without user, "?" and "#". Only an issuer on this machine may have http://.`,
    );
  return value;
}

function readDomains(env: Environment): string[] {
  const name = 'SWITCHYARD_OIDC_DOMAINS';
  const domains = readRequired(env, name, {
    neededBy: 'SWITCHYARD_OIDC_ISSUER',
    meaning: 'the e-mail domains whose people may sign in, such as example.com,example.org',
  })
    .split(',')
    .map((one) => one.trim().toLowerCase());
  const wrong = domains.find((domain) => !DOMAIN.test(domain));
  if (wrong !== undefined)
    throw new ConfigError(
      `${name} has "${wrong}"; it must be domains separated by commas, such as example.com,example.org.`,
    );
  return domains;
}

/** Parses `planners=operator,/staff/admins=admin,*=viewer`. */
function readGroupRoles(env: Environment): ReadonlyMap<string, Role> | null {
  const text = env.SWITCHYARD_OIDC_ROLES;
  if (!text) return null;
  const roles = new Map<string, Role>();
  for (const part of text.split(',')) {
    const end = part.lastIndexOf('=');
    const group = part.slice(0, Math.max(end, 0)).trim();
    const role = GRANTED_ROLES.find((one) => one === part.slice(end + 1).trim());
    if (group === '' || role === undefined || roles.has(group))
      throw new ConfigError(
        `SWITCHYARD_OIDC_ROLES has "${part.trim()}"; it must be group=role, each group once, with a role of ${GRANTED_ROLES.join(', ')}.`,
      );
    roles.set(group, role);
  }
  return roles;
}

function readAccount(env: Environment): AccountId | null {
  const value = env.SWITCHYARD_OIDC_ACCOUNT;
  if (!value) return null;
  if (isId<AccountId>(value)) return value;
  throw new ConfigError(
    `SWITCHYARD_OIDC_ACCOUNT is "${value}"; it must be the id of an account, such as account-01jd3v7k9mq2z5x8.`,
  );
}

function isId<Id extends string>(value: string): value is Id {
  return new RegExp(ID_PATTERN).test(value);
}

function readScopes(env: Environment): string {
  const scopes = env.SWITCHYARD_OIDC_SCOPES || 'openid email profile';
  if (/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(scopes) && scopes.split(' ').includes('openid')) return scopes;
  throw new ConfigError(
    `SWITCHYARD_OIDC_SCOPES is "${scopes}"; it must be scopes separated by spaces, with openid among them.`,
  );
}
