/** Goes through the pages of the console in one document, as a reader does who follows links. */
import type { Page, Request } from 'playwright-core';
import { expect } from 'vitest';

/** A page without an open request for so long has its data. */
const IDLE_MS = 500;
/** A page that follows a stream always has an open request, and shows its data by then. */
const IDLE_TIMEOUT_MS = 4_000;

/** Returns a function that waits until the page has its data after a change of its address. */
export function watchRequests(page: Page): () => Promise<void> {
  const open = new Set<Request>();
  let changed = performance.now();
  const count = (change: (request: Request) => void) => (request: Request) => {
    change(request);
    changed = performance.now();
  };
  page.on(
    'request',
    count((request) => open.add(request)),
  );
  const close = count((request) => open.delete(request));
  page.on('requestfinished', close);
  page.on('requestfailed', close);
  return async () => {
    const started = performance.now();
    changed = started;
    await expect
      .poll(() => {
        const now = performance.now();
        return (open.size === 0 && now - changed > IDLE_MS) || now - started > IDLE_TIMEOUT_MS;
      })
      .toBe(true);
  };
}

/** Goes to another page as a link of the console does: a document for each page would take four times as long. */
export async function follow(page: Page, address: string): Promise<void> {
  const before = await page.title();
  await page.evaluate((path) => history.pushState(null, '', path), address);
  await expect.poll(() => page.title()).not.toBe(before);
}
