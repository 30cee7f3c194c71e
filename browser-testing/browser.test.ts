/** The browser that the test files of a worker share. */
import { expect, test } from 'vitest';
import { BrowserSession, hasBrowser } from './browser.ts';

test.skipIf(!hasBrowser)('a file has a new browser after that of the last file crashed', async () => {
  const crashed = new BrowserSession();
  await crashed.launch();
  const browser = (await crashed.newPage({})).context().browser();
  if (!browser) throw new Error('The page belongs to a browser.');
  const session = await browser.newBrowserCDPSession();
  const disconnected = new Promise((resolve) => browser.once('disconnected', resolve));
  await session.send('Browser.crash').catch(() => undefined);
  await disconnected;
  const next = new BrowserSession();
  await next.launch();
  const page = await next.newPage({});
  expect(await page.evaluate('1 + 1')).toBe(2);
  await next.closePages();
});
