/**
 * The rights of each role, as one table. Operations name the right that they need; no other code decides about rights.
 */
export const ROLES = ['root', 'admin', 'developer', 'operator', 'viewer', 'unassigned'] as const;
export type Role = (typeof ROLES)[number];

/**
 * `public` needs no token. A role with `views` saves views of runs. `keys` allows a role to manage the keys that it
 * created; `account` all keys of the account. No role has `work`, which is the right of worker tokens alone.
 */
export const RIGHTS = [
  'public',
  'read',
  'read-secrets',
  'views',
  'run',
  'experiment',
  'write',
  'keys',
  'account',
  'server',
  'work',
] as const;
export type Right = (typeof RIGHTS)[number];

const RIGHTS_BY_ROLE: Record<Role, readonly Right[]> = {
  root: ['read', 'views', 'read-secrets', 'run', 'experiment', 'write', 'keys', 'account', 'server'],
  admin: ['read', 'views', 'read-secrets', 'run', 'experiment', 'write', 'keys', 'account'],
  developer: ['read', 'views', 'read-secrets', 'run', 'experiment', 'write', 'keys'],
  operator: ['read', 'views', 'run', 'experiment', 'keys'],
  viewer: ['read', 'views', 'keys'],
  unassigned: [],
};

/** Returns true if the role has the right; every role has `public`. */
export function hasRight(role: Role, right: Right): boolean {
  return right === 'public' || RIGHTS_BY_ROLE[role].includes(right);
}

/** Returns true if the granter has every right of the granted role; keys cannot exceed their creator. */
export function canGrant(granter: Role, granted: Role): boolean {
  return RIGHTS_BY_ROLE[granted].every((right) => RIGHTS_BY_ROLE[granter].includes(right));
}

/** Returns the roles that have a right, for messages and documentation. */
export function rolesWithRight(right: Right): readonly Role[] {
  return ROLES.filter((role) => hasRight(role, right));
}
