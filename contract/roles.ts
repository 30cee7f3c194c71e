/**
 * Roles and what each may do, as one table. Operations name the right they need; nothing else decides about rights.
 */
export const ROLES = ['root', 'admin', 'developer', 'operator', 'viewer', 'unassigned'] as const;
export type Role = (typeof ROLES)[number];

/**
 * `public` needs no token. `keys` lets a role manage the keys it made itself; `account` those of the whole account.
 */
export const RIGHTS = [
  'public',
  'read',
  'read-secrets',
  'run',
  'experiment',
  'write',
  'keys',
  'account',
  'server',
] as const;
export type Right = (typeof RIGHTS)[number];

const TABLE: Record<Role, readonly Right[]> = {
  root: ['read', 'read-secrets', 'run', 'experiment', 'write', 'keys', 'account', 'server'],
  admin: ['read', 'read-secrets', 'run', 'experiment', 'write', 'keys', 'account'],
  developer: ['read', 'read-secrets', 'run', 'experiment', 'write', 'keys'],
  operator: ['read', 'run', 'experiment', 'keys'],
  viewer: ['read', 'keys'],
  unassigned: [],
};

export function hasRight(role: Role, right: Right): boolean {
  return right === 'public' || TABLE[role].includes(right);
}

/** A key may only make keys whose rights it has itself. */
export function canGrant(granter: Role, granted: Role): boolean {
  return TABLE[granted].every((right) => TABLE[granter].includes(right));
}

/** The roles that hold a right, for messages and documentation. */
export function rolesWithRight(right: Right): readonly Role[] {
  return ROLES.filter((role) => hasRight(role, right));
}
