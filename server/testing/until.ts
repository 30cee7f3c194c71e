/** Waits for what another process or the host does, of which this one gets no news: it looks again and again. */
import { vi } from 'vitest';

const WITHIN_MS = 20_000;
const EVERY_MS = 25;

/** Resolves with what `look` finds; throws with `what` when it finds nothing for twenty seconds. */
export function until<T>(
  what: string,
  look: () => T | null | false | undefined | Promise<T | null | false | undefined>,
): Promise<T> {
  return vi.waitFor(
    async () => {
      const found = await look();
      if (found === null || found === undefined || found === false)
        throw new Error(`After ${WITHIN_MS} ms it is still not so: ${what}`);
      return found;
    },
    { timeout: WITHIN_MS, interval: EVERY_MS },
  );
}
