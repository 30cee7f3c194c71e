/** axe-core checks a page of each kind, and the states of pages after input. all-pages.test.ts checks every page. */
import {
  findUnmarkedLinks,
  loadAxe,
  runAxe,
  runAxeOnRoute,
  runAxeWithContrast,
} from '@switchyard/browser-testing/axe.ts';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { startTestServer } from '@switchyard/server/testing/servers/test-server.ts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { listRoutesOfEachKind, setUpSite } from './testing/built-site.ts';
import { openHiddenFrame } from './testing/hidden-frame.ts';

const overview = '/docs/get-started/quickstarts/overview';
/** The navigation is the same on every page, except for its mark of the page. */
const kindWithNavigation = '/docs/get-started/quickstarts/custom-app';
/** Home, a guide with tabs, an operation, a field list, pictures, a release, a form, plain text. */
const kinds = [
  '/',
  kindWithNavigation,
  '/docs/using-switchyard/reference/api/runs',
  '/docs/using-switchyard/experiments/shadow',
  '/docs/use-cases/vehicle-routing/fleet',
  '/docs/releases/latest',
  '/sign-up',
  '/terms',
];
/** A page takes under a second, and there are many of them. */
const allPagesMs = 900_000;
const at = setUpSite((site) => startTestServer({ site }));

describe.skipIf(!hasBrowser)('axe finds nothing', () => {
  async function visit(
    route: string,
    width = 1440,
    prepare?: (page: Page) => Promise<unknown>,
  ): Promise<Page> {
    const page = await at.visitors.newPage({
      viewport: { width, height: 900 },
      baseURL: at.site.url,
      reducedMotion: 'reduce',
    });
    await prepare?.(page);
    await page.goto(route, { waitUntil: 'load' });
    return page;
  }

  test('on a page of each kind, before its scripts', { timeout: allPagesMs }, async () => {
    const page = await visit('/');
    await loadAxe(page);
    const found: string[] = [];
    for (const route of listRoutesOfEachKind()) found.push(...(await runAxeOnRoute(page, route, 'all')));
    expect(found).toEqual([]);
  });

  test.each(['all', 'content'] as const)('%s rules find the faults of a wrong page', async (rules) => {
    const page = await visit('/');
    await page.route('**/wrong', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>No</title><img src="/a.png">' }),
    );
    const { frame } = await openHiddenFrame(page);
    // The page is last, because the frame ends with its document.
    for (const target of [frame, page]) {
      await loadAxe(target);
      expect(await runAxeOnRoute(target, '/terms', rules)).toEqual([]);
      const found = await runAxeOnRoute(target, '/wrong', rules);
      expect(found).toContainEqual(expect.stringMatching(/^\/wrong: html-has-lang: /));
      expect(found).toContain('/wrong: image-alt: <img src="/a.png">');
    }
  });

  // browser.test.ts measures contrast in the dark theme too, on a page of each kind.
  test('on a page of each kind in both themes, with the navigation of one', {
    timeout: allPagesMs,
  }, async () => {
    const page = await visit('/');
    const found: string[] = [];
    for (const route of kinds) {
      const parts = route === kindWithNavigation ? 'all' : 'without navigation';
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(route, { waitUntil: 'load' });
      const findings = await runAxeWithContrast(page, parts);
      await page.emulateMedia({ colorScheme: 'dark' });
      findings.push(...(await findUnmarkedLinks(page, parts)));
      found.push(...findings.map((finding) => `${route}: ${finding}`));
    }
    expect(found).toEqual([]);
  });

  test('in an open search, with and without results', async () => {
    const page = await visit(overview);
    const box = page.locator('[data-search-form] input');
    await box.fill('push');
    await page.getByRole('listbox').waitFor();
    expect(await runAxe(page)).toEqual([]);
    await box.fill('qqqqzz');
    await page.locator('.search-status').filter({ hasText: 'No results' }).waitFor();
    expect(await runAxe(page)).toEqual([]);
  });

  test('on the search page with results', async () => {
    expect(await runAxe(await visit('/search?q=push'))).toEqual([]);
  });

  test.each([1440, 390])('beside an announcement in a window of %i pixels', async (width) => {
    const banner = {
      actionLabel: 'Read',
      description: 'News.',
      url: '/docs',
      urlAttributeTitle: 'What is new',
    };
    const page = await visit('/status', width, (fresh) =>
      fresh.route('**/banner.json', (route) => route.fulfill({ json: banner })),
    );
    await page.getByRole('link', { name: 'Read', exact: true }).waitFor();
    expect(await runAxe(page)).toEqual([]);
  });

  test('in the open drawer, which is a modal dialog', async () => {
    const page = await visit(overview, 390);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.locator('dialog:modal').waitFor();
    expect(await runAxe(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Menu');
  });
});
