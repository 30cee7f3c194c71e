/**
 * The instances that every application has without anybody making them. A file of its own that imports nothing: threads
 * load it, and a thread that loads `instances.ts` beside it starts in half a second instead of at once.
 */

/** Both names mean the executable pushed last; the second is the old one. */
export const RESERVED_INSTANCES = ['latest', 'devint'] as const;

/** Whether the id stands for the executable pushed last. */
export function isLatest(instanceId: string): boolean {
  return (RESERVED_INSTANCES as readonly string[]).includes(instanceId);
}
