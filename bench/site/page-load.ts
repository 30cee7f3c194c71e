/** One load of a page by a new visitor with a slow phone, and the times at which parts become visible. */
import type { Browser, CDPSession } from 'playwright-core';
import type { MeasuredServer } from './counting-server.ts';

/**
 * Lighthouse's slow 4G: 150 ms round trip, 1.6 Mbit/s down and 0.75 up. A browser can only delay whole requests, so
 * Lighthouse sets 3.75 times the delay, for the round trips before the first byte, and nine tenths of the rates.
 */
export const SLOW_4G = { latencyMs: 562.5, downKbps: 1474.56, upKbps: 675 };
export const CPU_SLOWDOWN = 4;
const PHONE = { width: 412, height: 823 };

/** Measurements of one page load; times are in milliseconds. */
export type PageLoad = {
  /** Transferred bytes and requests until the network was idle. */
  bytes: number;
  requests: number;
  /** Largest contentful paint. */
  lcpMs: number;
  /** Time above 50 ms of each task after the first paint. */
  tbtMs: number;
  /** The longest task, including those before the first paint. */
  longestTaskMs: number;
  /** Sum of all layout shifts. */
  cls: number;
};

/** The measurements that the page records during its load. */
type Notes = { lcp: number; fcp: number; cls: number; tasks: { start: number; duration: number }[] };

/** Runs in the page before all other scripts. */
function recordMeasurements(): void {
  const notes: Notes = { lcp: 0, fcp: 0, cls: 0, tasks: [] };
  const watch = (type: string, note: (entry: PerformanceEntry) => void) =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true });
  watch('largest-contentful-paint', ({ startTime }) => {
    notes.lcp = startTime;
  });
  watch('paint', ({ name, startTime }) => {
    if (name === 'first-contentful-paint') notes.fcp = startTime;
  });
  watch('layout-shift', (entry) => {
    notes.cls += 'value' in entry ? Number(entry.value) : 0;
  });
  watch('longtask', ({ startTime: start, duration }) => notes.tasks.push({ start, duration }));
  Object.assign(globalThis, { notes });
}

async function slowDown(session: CDPSession): Promise<void> {
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: SLOW_4G.latencyMs,
    downloadThroughput: (SLOW_4G.downKbps * 1000) / 8,
    uploadThroughput: (SLOW_4G.upKbps * 1000) / 8,
  });
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
}

/** Loads the page with an empty cache on a slow phone. Throws unless the response is 200. */
export async function measurePageLoad(
  browser: Browser,
  server: MeasuredServer,
  route: string,
): Promise<PageLoad> {
  const context = await browser.newContext({ viewport: PHONE, deviceScaleFactor: 2, colorScheme: 'light' });
  try {
    const page = await context.newPage();
    let requests = 0;
    context.on('request', () => {
      requests += 1;
    });
    await slowDown(await context.newCDPSession(page));
    await page.addInitScript(recordMeasurements);
    server.readAndResetBytes();
    const response = await page.goto(`${server.url}${route}`, { waitUntil: 'load' });
    if (response?.status() !== 200) throw new Error(`${route} returned ${response?.status()}.`);
    await page.waitForLoadState('networkidle');
    const notes = await page.evaluate<Notes>('globalThis.notes');
    return {
      bytes: server.readAndResetBytes(),
      requests,
      lcpMs: notes.lcp,
      tbtMs: notes.tasks
        .filter(({ start }) => start >= notes.fcp)
        .reduce((sum, { duration }) => sum + duration - 50, 0),
      longestTaskMs: Math.max(0, ...notes.tasks.map(({ duration }) => duration)),
      cls: notes.cls,
    };
  } finally {
    await context.close();
  }
}
