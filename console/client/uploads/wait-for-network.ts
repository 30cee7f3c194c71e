/** Waits that long, and less when the browser is online again. Throws the reason of the signal once it is aborted. */
export function waitForNetwork(pauseMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const listening = new AbortController();
    const end = (report: () => void) => {
      clearTimeout(timer);
      listening.abort();
      report();
    };
    const timer = setTimeout(() => end(resolve), pauseMs);
    addEventListener('online', () => end(resolve), { signal: listening.signal });
    signal.addEventListener('abort', () => end(() => reject(signal.reason)), { signal: listening.signal });
  });
}
