/** The roles that an account must always have. */
import { hasRight, type Role } from '@switchyard/contract/roles.ts';

/**
 * Returns the required role that a change removes from an account, or null. Required are root, where the account had one,
 * and any role that can manage the account, reported as admin.
 */
export function findMissingRole(before: readonly Role[], after: readonly Role[]): Role | null {
  if (before.includes('root') && !after.includes('root')) return 'root';
  const canManage = (role: Role): boolean => hasRight(role, 'account');
  return before.some(canManage) && !after.some(canManage) ? 'admin' : null;
}
