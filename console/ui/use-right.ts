import { hasRight, type Right } from '@switchyard/contract/roles.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { accountQuery } from '../client/session.ts';

/** Returns true if the role of the signed-in person has the right. A page shows an action only with its right. */
export function useRight(right: Right): boolean {
  const { data } = useSuspenseQuery(accountQuery);
  return hasRight(data.key.role, right);
}
