import type { Key } from '@switchyard/contract/account/account.ts';

/**
 * Returns the keys that were created through a key, directly or by way of others. The first keys of invited members are
 * included only with `isInvitedToo`.
 */
export function listDescendants(keys: readonly Key[], ancestor: string, isInvitedToo = false): Key[] {
  const found = new Set<string>([ancestor]);
  const descendants: Key[] = [];
  // A key is newer than its creator, so one pass from the oldest sees each creator first.
  for (const key of keys.toReversed()) {
    if (key.created_by === null || !found.has(key.created_by.key_id)) continue;
    if (key.created_by.invite === 'first' && !isInvitedToo) continue;
    found.add(key.id);
    descendants.push(key);
  }
  return descendants;
}
