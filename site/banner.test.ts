/** The announcement of the header in a browser, from the fetch to the day after. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { measureLayoutShift } from '@switchyard/browser-testing/layout-shift.ts';
import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { setUpSite } from './testing/built-site.ts';
import { findLowContrastText } from './testing/contrast.ts';
import { serveFolder } from './testing/serve-folder.ts';

const route = '/docs/get-started/quickstarts/overview';
const start = new Date('2026-11-20T12:00:00Z').getTime();
const day = 86_400_000;
const banner = {
  actionLabel: 'Read more',
  description: 'There is <b>news</b>.',
  url: '/docs',
  urlAttributeTitle: 'What is new',
};

const at = setUpSite(serveFolder);

/**
 * Resolves once the page has requested its banner. The script does so in a task after the others, and before the request
 * that this function waits for.
 */
function waitForBannerCheck(page: Page): Promise<void> {
  return page.evaluate(async () => {
    const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    await nextFrame();
    await nextFrame();
    await fetch('/healthz', { cache: 'no-store' });
    await nextFrame();
  });
}

describe.skipIf(!hasBrowser)('the announcement', () => {
  /** Opens a page with the given response to the banner request; counts the requests. */
  async function visit(fulfill: (route: Route) => Promise<void>, width = 1440) {
    const page = await at.visitors.newPage({ viewport: { width, height: 900 }, baseURL: at.site.url });
    let requestCount = 0;
    let reply = fulfill;
    await page.route('**/banner.json', (request) => {
      requestCount += 1;
      return reply(request);
    });
    await at.visitors.installClock(page, start);
    const go = async (at = start) => {
      await page.clock.setFixedTime(at);
      await page.goto(route, { waitUntil: 'load' });
      await waitForBannerCheck(page);
    };
    return {
      page,
      go,
      asked: () => requestCount,
      answer: (next: typeof fulfill) => {
        reply = next;
      },
      link: page.getByRole('link', { name: banner.actionLabel }),
      cache: () => page.evaluate(() => localStorage.getItem('banner')),
    };
  }
  const withBanner = (request: Route) => request.fulfill({ json: banner });

  test('is displayed as text with its link, without a layout shift', async () => {
    const { page, go, link } = await visit(withBanner);
    for (const width of [1440, 1000, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await go();
      await link.waitFor();
      expect(await link.getAttribute('href')).toBe('/docs');
      expect(await link.getAttribute('title')).toBe('What is new');
      expect(await page.getByText('There is <b>news</b>.').isVisible()).toBe(true);
      expect(await page.evaluate(measureLayoutShift)).toBe(0);
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
      ).toBeLessThanOrEqual(0);
      expect(await page.evaluate(findLowContrastText, 4.5)).toEqual([]);
      await page.evaluate(() => localStorage.clear());
    }
  });

  test('is fetched once a day', async () => {
    const { go, asked, link, cache } = await visit(withBanner);
    await go();
    await link.waitFor();
    expect(JSON.parse((await cache()) ?? '')).toEqual({ fetchedAt: start, banner });
    await go(start + day - 1);
    await link.waitFor();
    expect(asked()).toBe(1);
    await go(start + day);
    await link.waitFor();
    expect(asked()).toBe(2);
    expect(JSON.parse((await cache()) ?? '')).toEqual({ fetchedAt: start + day, banner });
  });

  const broken: [file: string, fulfill: (request: Route) => Promise<void>][] = [
    ['does not come', (request) => request.abort()],
    ['is an error', (request) => request.fulfill({ status: 500, json: banner })],
    ['is not JSON', (request) => request.fulfill({ body: '<!doctype html>' })],
    ['has other fields', (request) => request.fulfill({ json: { ...banner, actionLabel: 1 } })],
    ['is endless', (request) => request.fulfill({ body: JSON.stringify(banner) + ' '.repeat(20_000) })],
    [
      'leads to another server',
      (request) => request.fulfill({ status: 302, headers: { location: 'http://127.0.0.1:9/' } }),
    ],
    ['would run a script', (request) => request.fulfill({ json: { ...banner, url: 'javascript:alert(1)' } })],
  ];

  test('is cleared when the file is broken, and fetched again on the next page', async () => {
    const { go, asked, answer, link, cache } = await visit(withBanner);
    await go();
    await link.waitFor();
    for (const [index, [file, fulfill]] of broken.entries()) {
      answer(fulfill);
      await go(start + (index + 1) * day);
      expect(asked(), file).toBe(2 * index + 2);
      await expect.poll(cache, { message: file }).toBeNull();
      expect(await link.count(), file).toBe(0);
      answer(withBanner);
      await go(start + (index + 1) * day);
      expect(asked(), file).toBe(2 * index + 3);
      await link.waitFor();
    }
  });

  test('does not cover the end of the page when it is long', async () => {
    const long = `${'Many words of news. '.repeat(10)}${'x'.repeat(90)}`;
    const { page, go, link } = await visit(
      (request) => request.fulfill({ json: { ...banner, description: long } }),
      390,
    );
    await go();
    await link.waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(
      0,
    );
    const [bottom = 0, top = 0] = await page.evaluate(() => {
      scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
      const place = (selector: string) => document.querySelector(selector)?.getBoundingClientRect();
      return [place('.footer')?.bottom, place('.banner')?.top];
    });
    expect(bottom).toBeLessThanOrEqual(top);
  });

  test('stays hidden after a dismissal until there is another', async () => {
    const { page, go, answer, link } = await visit(withBanner);
    await go();
    await page.getByRole('button', { name: 'Hide this announcement' }).click();
    expect(await link.count()).toBe(0);
    await go(start + 1);
    expect(await link.count()).toBe(0);
    answer((request) => request.fulfill({ json: { ...banner, description: 'Other news.' } }));
    await go(start + day);
    await link.waitFor();
  });

  test('is absent in the shipped file, which is cached for a day too', async () => {
    const { page, go, asked, cache } = await visit((request) => request.continue());
    await go();
    await expect
      .poll(async () => JSON.parse((await cache()) ?? 'null'))
      .toEqual({ fetchedAt: start, banner: null });
    expect(await page.locator('.banner').textContent()).toBe('');
    await go(start + day - 1);
    expect(asked()).toBe(1);
  });
});
