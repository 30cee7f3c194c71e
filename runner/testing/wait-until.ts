/** Waits for a condition that no event announces, by polling. */
import { vi } from 'vitest';

const TIMEOUT_MS = 60_000;
const INTERVAL_MS = 10;

/** Resolves when `isReached` returns true; throws an error that names the condition after a minute. */
export async function waitUntil(condition: string, isReached: () => boolean): Promise<void> {
  await vi.waitFor(
    () => {
      if (!isReached()) throw new Error(`Not reached within ${TIMEOUT_MS} ms: ${condition}`);
    },
    { timeout: TIMEOUT_MS, interval: INTERVAL_MS },
  );
}
