/** Waits for what another process or the host does, of which this one gets no news: it looks again and again. */
import { vi } from 'vitest';

const TIMEOUT_MS = 20_000;
const INTERVAL_MS = 25;

/** Resolves with what `look` finds; throws with `what` when it finds nothing for twenty seconds. */
export function waitUntil<T>(
  what: string,
  look: () => T | null | false | undefined | Promise<T | null | false | undefined>,
): Promise<T> {
  return vi.waitFor(
    async () => {
      const found = await look();
      if (found === null || found === undefined || found === false)
        throw new Error(`After ${TIMEOUT_MS} ms it is still not so: ${what}`);
      return found;
    },
    { timeout: TIMEOUT_MS, interval: INTERVAL_MS },
  );
}
