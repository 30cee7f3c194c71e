/** Polls for changes by another process or the host, which send no notification. */
import { vi } from 'vitest';

const TIMEOUT_MS = 60_000;
const INTERVAL_MS = 25;

/** Resolves with the first result of `check` that is not empty; throws after a minute, with the description of the condition. */
export function waitUntil<T>(
  condition: string,
  check: () => T | null | false | undefined | Promise<T | null | false | undefined>,
): Promise<T> {
  return vi.waitFor(
    async () => {
      const found = await check();
      if (found === null || found === undefined || found === false)
        throw new Error(`The condition does not hold after ${TIMEOUT_MS} ms: ${condition}`);
      return found;
    },
    { timeout: TIMEOUT_MS, interval: INTERVAL_MS },
  );
}
