/** Signed-in pages of the console for measurements. */
import type { Browser, Page } from 'playwright-core';
import { CONSOLE_HEADER } from '../../contract/console-header.ts';
import type { StartedServer } from '../server/harness.ts';

const LAPTOP = { width: 1280, height: 800 };

/** Server and browser of the benchmark. */
export interface Bench {
  server: StartedServer;
  browser: Browser;
}

/** Calls `measure` with a page of a new visitor, who is signed in and has an empty cache. */
export async function visit<Result>(
  { server, browser }: Bench,
  measure: (page: Page) => Promise<Result>,
  { slowdown = 1 }: { slowdown?: number } = {},
): Promise<Result> {
  const context = await browser.newContext({ viewport: LAPTOP });
  try {
    const { url: origin, token } = server;
    const response = await context.request.post(`${origin}/v1/account/sessions`, {
      headers: { authorization: `Bearer ${token}`, origin, [CONSOLE_HEADER]: '1' },
      data: {},
    });
    if (!response.ok()) throw new Error(`The sign-in failed: ${response.status()}.`);
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    return await measure(page);
  } finally {
    await context.close();
  }
}

/** Waits until the page has nothing to do, and returns the ms since its navigation began. */
export function waitForIdle(page: Page): Promise<number> {
  return page.evaluate(
    () => new Promise<number>((resolve) => requestIdleCallback(() => resolve(performance.now()))),
  );
}

/** Records frames during `useControls`, and returns the longest one in ms. */
export async function measureLongestFrame(page: Page, useControls: () => Promise<void>): Promise<number> {
  const recorder = await page.evaluateHandle(() => {
    const record = { longest: 0, last: performance.now(), isStopped: false };
    const next = () => {
      const now = performance.now();
      record.longest = Math.max(record.longest, now - record.last);
      record.last = now;
      if (!record.isStopped) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    return record;
  });
  await useControls();
  return recorder.evaluate((record) => {
    record.isStopped = true;
    return record.longest;
  });
}
