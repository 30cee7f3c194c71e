/** What the kernel itself needs of the real machine. Load it before `takeOverHost` replaces the rest. */

const realSetImmediate = setImmediate;

/** Resolves in the next turn of the event loop: all promises that could continue have continued. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => realSetImmediate(() => resolve()));
