/** Decisions about accounts that need no database. */
import { hasRight, type Role } from '@switchyard/contract/roles.ts';

/**
 * The role that a change would leave an account without, though it has to have it: root where there was one, and anyone
 * who may manage the account; null when nothing is missing.
 */
export function findMissingRole(before: readonly Role[], after: readonly Role[]): Role | null {
  if (before.includes('root') && !after.includes('root')) return 'root';
  const manages = (role: Role): boolean => hasRight(role, 'account');
  return before.some(manages) && !after.some(manages) ? 'admin' : null;
}
