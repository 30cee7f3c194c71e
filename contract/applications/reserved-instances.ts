/**
 * The instances that every application has by default. This file imports nothing because threads load it: a thread that
 * loads `instances.ts` as well starts in half a second instead of at once.
 */

/** Both ids refer to the newest executable; `devint` is the older name. */
export const RESERVED_INSTANCES = ['latest', 'devint'] as const;

/** Returns true for the ids of the newest executable. */
export function isLatest(instanceId: string): boolean {
  return RESERVED_INSTANCES.some((id) => id === instanceId);
}
