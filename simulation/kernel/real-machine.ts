/** What the kernel itself needs of the real machine. Load it before `takeOverHost` replaces the rest. */

const realSetImmediate = setImmediate;
const realSetTimeout = setTimeout;
const realClearTimeout = clearTimeout;
const now = performance.now.bind(performance);

/** Resolves in the next turn of the event loop: all promises that could continue have continued. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => realSetImmediate(() => resolve()));

/** Resolves after the time of the real machine, or before it when `wake` is called. */
export function sleepReally(ms: number): { ended: Promise<void>; wake(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = realSetTimeout(resolve, ms);
  return {
    ended: promise,
    wake() {
      realClearTimeout(timer);
      resolve();
    },
  };
}

/** Milliseconds of the real machine, which only reports show. */
export const measureRealTime = (): number => now();
