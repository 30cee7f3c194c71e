import { collectPageErrors, hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { measureLayoutShift } from '@switchyard/browser-testing/layout-shift.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { listRoutesOfEachKind, setUpSite } from './testing/built-site.ts';
import { findLowContrastText } from './testing/contrast.ts';
import { serveFolder } from './testing/serve-folder.ts';

const overview = '/docs/get-started/quickstarts/overview';
const customApp = '/docs/get-started/quickstarts/custom-app';
const wide = { width: 1440, height: 900 };
const narrow = { width: 390, height: 844 };
/** A page takes under a second, and there are many of them. */
const allPagesMs = 600_000;

const at = setUpSite(serveFolder);

/** A page of a fresh visitor. `problems` collects errors that the browser reports, such as a refused script. */
async function visit(
  route: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[] }> {
  const page = await at.visitors.newPage({
    viewport: wide,
    colorScheme: 'light',
    baseURL: at.site.url,
    ...options,
  });
  const problems: string[] = [];
  collectPageErrors(page, problems);
  await page.goto(route, { waitUntil: 'load' });
  return { page, problems };
}

describe.skipIf(!hasBrowser)('in a browser', () => {
  test('no kind of page shifts, has low contrast or breaks its policy', { timeout: allPagesMs }, async () => {
    const { page, problems } = await visit('/', { reducedMotion: 'reduce' });
    for (const [index, route] of listRoutesOfEachKind().entries()) {
      // A theme has the same layout as the other, so each page loads in one of the four views, and the views take turns.
      const viewports = index % 2 === 0 ? [wide, narrow] : [narrow, wide];
      const themes = index % 4 < 2 ? (['light', 'dark'] as const) : (['dark', 'light'] as const);
      await page.setViewportSize(viewports[0] ?? wide);
      await page.emulateMedia({ colorScheme: themes[0] });
      await page.goto(route, { waitUntil: 'load' });
      expect(await page.evaluate(measureLayoutShift), route).toBe(0);
      for (const viewport of viewports) {
        await page.setViewportSize(viewport);
        for (const colorScheme of themes) {
          await page.emulateMedia({ colorScheme });
          const view = `${route}, ${viewport.width} pixels wide, ${colorScheme}`;
          expect(await page.evaluate(findLowContrastText, 4.5), view).toEqual([]);
        }
      }
    }
    expect(problems).toEqual([]);
  });

  test.for([wide, narrow])('a page that arrives in pieces does not shift: %o', async (viewport) => {
    const { page } = await visit('/', { viewport });
    const session = await page.context().newCDPSession(page);
    const bytesPerSecond = 60_000;
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    });
    for (const route of [overview, customApp, '/docs/using-switchyard/reference/api/marketplace/runs']) {
      await page.goto(route, { waitUntil: 'load' });
      // Web Vitals call 0.1 good. Where a piece ends within the explorer, a browser without processor time shifts by 0.0004.
      expect(await page.evaluate(measureLayoutShift), route).toBeLessThan(0.005);
    }
  });

  test('the system sets the theme until the reader chooses, and again after choosing the system’s theme', async () => {
    const { page } = await visit(overview, { colorScheme: 'dark' });
    const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    const stored = () => page.evaluate(() => localStorage.getItem('theme'));
    const button = page.getByRole('button', { name: 'Dark theme' });
    expect(await button.getAttribute('aria-pressed')).toBe('true');
    await button.click();
    expect([await scheme(), await stored(), await button.getAttribute('aria-pressed')]).toEqual([
      'light',
      'light',
      'false',
    ]);
    await page.reload();
    expect(await scheme()).toBe('light');
    await button.click();
    expect([await scheme(), await stored()]).toEqual(['light dark', null]);
  });

  test('a screenshot has the theme of the page, and is light on paper', async () => {
    const { page } = await visit('/docs/using-switchyard/accounts/api-keys', { colorScheme: 'dark' });
    const readVisible = () =>
      page
        .locator('.picture img:visible')
        .evaluateAll((pictures) => pictures.map((picture) => picture.className));
    expect(await readVisible()).toEqual(['in-dark']);
    await page.getByRole('button', { name: 'Dark theme' }).click();
    expect(await readVisible()).toEqual(['in-light']);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await readVisible()).toEqual(['in-light']);
    await page.evaluate(() => document.documentElement.setAttribute('data-theme', 'dark'));
    expect(await readVisible()).toEqual(['in-dark']);
    await page.emulateMedia({ media: 'print' });
    expect(await readVisible()).toEqual(['in-light']);
  });

  test('the drawer opens in a narrow window, keeps the focus and returns the navigation', async () => {
    const { page } = await visit(overview, { viewport: narrow });
    const navigation = page.getByRole('navigation', { name: 'Documentation' });
    expect(await navigation.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    const dialog = page.getByRole('dialog', { name: 'Documentation' });
    await dialog.getByRole('link', { name: 'Write a custom app' }).waitFor();
    expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    await page.keyboard.press('Escape');
    expect(await dialog.isVisible()).toBe(false);
    // The dialog closes before its close event fires.
    await expect.poll(() => page.locator('#site-navigation > nav').count()).toBe(1);
    await page.getByRole('button', { name: 'Menu' }).click();
    await dialog.waitFor();
    await page.mouse.click(narrow.width - 5, 400);
    expect(await dialog.isVisible()).toBe(false);
  });

  test('the sidebar stays hidden on the next page until it is shown again', async () => {
    const { page } = await visit(overview);
    const navigation = page.getByRole('navigation', { name: 'Documentation' });
    await page.getByRole('button', { name: 'Hide navigation' }).click();
    expect(await navigation.isVisible()).toBe(false);
    await page.goto(customApp);
    expect(await navigation.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Show navigation' }).click();
    expect(await navigation.isVisible()).toBe(true);
  });

  test('tabs of one group switch together, by pointer and by arrow key, and the choice is stored', async () => {
    const { page } = await visit(customApp);
    const listSelectedTabs = () =>
      page
        .locator('[data-tabs=language] [data-panel]:visible')
        .evaluateAll((panels) => panels.map((panel) => panel.getAttribute('data-panel')));
    const node = page.getByRole('tab', { name: 'Node' }).first();
    expect(new Set(await listSelectedTabs())).toEqual(new Set(['Node']));
    await node.focus();
    await page.keyboard.press('ArrowRight');
    expect(new Set(await listSelectedTabs())).toEqual(new Set(['Python']));
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Python');
    await page.reload();
    expect(new Set(await listSelectedTabs())).toEqual(new Set(['Python']));
    await node.click();
    expect(new Set(await listSelectedTabs())).toEqual(new Set(['Node']));
  });

  test('a copied block is confirmed for three seconds', async () => {
    const { page } = await visit(customApp, { permissions: ['clipboard-read', 'clipboard-write'] });
    await at.visitors.installClock(page, 0);
    await page.clock.pauseAt(1000);
    const button = page.locator('[data-language=json] [data-copy]').first();
    await button.click();
    await page.locator('[data-copy=done]').waitFor();
    expect(await button.textContent()).toBe('Copied');
    expect(await page.getByRole('status').textContent()).toBe('Copied');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^\{\n {2}"parcels": \[/);
    await page.clock.fastForward(2999);
    expect(await button.textContent()).toBe('Copied');
    await page.clock.fastForward(1);
    expect([await button.textContent(), await page.getByRole('status').textContent()]).toEqual(['Copy', '']);
  });

  test('the contents list marks the current heading', async () => {
    const { page } = await visit(`${customApp}#run-it`);
    await page.locator('.contents [aria-current=location]', { hasText: 'Run it' }).waitFor();
    expect(await page.locator('.contents [aria-current=location]').count()).toBe(1);
  });

  test('the status page shows the health of the server', async () => {
    const { page } = await visit('/status');
    const health = page.locator('[data-address="/healthz"][data-state=well]');
    const readiness = page.locator('[data-address="/readyz"][data-state=unwell]');
    await Promise.all([health.waitFor(), readiness.waitFor()]);
    expect(await health.textContent()).toBe('/healthz ok');
    expect(await readiness.textContent()).toBe(
      '/readyz not ready: The server is shutting down.Containment of apps: sandbox',
    );
  });

  test('without scripts all text is readable, and controls that need one are hidden', async () => {
    const { page } = await visit(customApp, { javaScriptEnabled: false, viewport: narrow });
    expect(await page.locator('.needs-script:visible').count()).toBe(0);
    const panels = page.locator('[data-panel]');
    expect(await panels.count()).toBeGreaterThan(3);
    expect(await page.locator('[data-panel]:visible').count()).toBe(await panels.count());
    await page.getByRole('link', { name: 'Menu' }).click();
    const other = page
      .getByRole('navigation', { name: 'Documentation' })
      .getByRole('link', { name: 'Your first run' });
    expect(await other.isVisible()).toBe(true);
    await other.click();
    await page.waitForURL(`**${overview}`);
  });

  test('a printed page has the text alone', async () => {
    const { page } = await visit(customApp);
    await page.emulateMedia({ media: 'print' });
    for (const part of ['.header', '.sidebar', '.contents', '.neighbours', '.footer', '.copy'])
      expect(await page.locator(part).first().isVisible(), part).toBe(false);
    const panels = page.locator('[data-panel]');
    expect(await page.locator('[data-panel]:visible').count()).toBe(await panels.count());
  });

  test('reduced motion turns animations off', async () => {
    const { page } = await visit(overview, { viewport: narrow, reducedMotion: 'reduce' });
    await page.getByRole('button', { name: 'Menu' }).click();
    const moving = () =>
      page.evaluate(() => [
        getComputedStyle(document.documentElement).scrollBehavior,
        ...document.getAnimations().map((animation) => animation.constructor.name),
      ]);
    expect(await moving()).toEqual(['auto']);
  });

  test('the page for an unknown address offers a search and links', async () => {
    const { page } = await visit('/docs/nowhere');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found');
    await page.locator('main [name=q]').fill('push it');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?q=push+it');
  });

  test('the first tab stop skips to the content', async () => {
    const { page } = await visit(overview);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
  });
});
