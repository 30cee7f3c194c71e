/** The frame of a page, on the real server, with unusual settings of browser and system. */
import { collectPageErrors, hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { startTestServer } from '@switchyard/server/testing/servers/test-server.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterEach, describe, expect, test } from 'vitest';
import { setUpSite } from './testing/built-site.ts';

const overview = '/docs/get-started/quickstarts/overview';
const customApp = '/docs/get-started/quickstarts/custom-app';
const narrow = { width: 390, height: 844 };

const at = setUpSite((site) => startTestServer({ site }));
const problems: string[] = [];

/** A page of a fresh visitor, before anything is fetched. */
async function arrive(options: BrowserContextOptions = {}): Promise<Page> {
  const viewport = { width: 1440, height: 900 };
  const page = await at.visitors.newPage({
    viewport,
    colorScheme: 'light',
    baseURL: at.site.url,
    ...options,
  });
  collectPageErrors(page, problems);
  return page;
}

async function visit(route: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await arrive(options);
  await page.goto(route, { waitUntil: 'load' });
  return page;
}

const style = (page: Page, selector: string, name: string): Promise<string> =>
  page
    .locator(selector)
    .first()
    .evaluate((element, property) => getComputedStyle(element).getPropertyValue(property), name);
const isDark = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    const [red = 255] = getComputedStyle(document.body).backgroundColor.match(/\d+/g)?.map(Number) ?? [];
    return red < 128;
  });

describe.skipIf(!hasBrowser)('the frame', () => {
  afterEach(() => {
    expect(problems.splice(0)).toEqual([]);
  });

  test('fits a page enlarged four times', async () => {
    const page = await visit('/', { viewport: { width: 320, height: 256 } });
    const routes = [
      '/',
      overview,
      customApp,
      '/docs/using-switchyard/reference/api/runs',
      '/docs/use-cases/vehicle-routing/time-windows',
      '/docs/releases/latest',
      '/search?q=push',
      '/sign-up',
      '/status',
      '/nowhere',
    ];
    for (const route of routes) {
      await page.goto(route, { waitUntil: 'load' });
      expect(await page.evaluate(() => document.documentElement.scrollWidth), route).toBeLessThanOrEqual(320);
      const openConsole = page.locator('.header').getByRole('link', { name: 'Open console' });
      expect(await openConsole.getAttribute('href'), route).toBe('/console');
      expect(await openConsole.isVisible(), route).toBe(true);
      expect(await page.getByRole('button', { name: 'Dark theme' }).isVisible(), route).toBe(true);
    }
  });

  test('the space bar opens the menu, and the page behind it does not scroll', async () => {
    const page = await visit(customApp, { viewport: narrow });
    const menu = page.getByRole('button', { name: 'Menu' });
    expect(await menu.getAttribute('aria-haspopup')).toBe('dialog');
    await menu.focus();
    await page.keyboard.press('Space');
    await page.getByRole('dialog', { name: 'Documentation' }).waitFor();
    await page.mouse.move(narrow.width - 10, 400);
    await page.mouse.wheel(0, 500);
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await menu.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  test('the drawer is closed on a page that the reader returns to', async () => {
    const page = await visit(customApp, { viewport: narrow });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('dialog', { name: 'Documentation' }).waitFor();
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })));
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.locator('#site-navigation > nav').waitFor({ state: 'attached' });
  });

  test('the theme follows the system while the page is open, and the choice of another window', async () => {
    const page = await visit(overview);
    expect(await isDark(page)).toBe(false);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await isDark(page)).toBe(true);
    const button = (pressed: boolean) => page.getByRole('button', { name: 'Dark theme', pressed });
    await button(true).waitFor();
    const other = await page.context().newPage();
    await other.emulateMedia({ colorScheme: 'dark' });
    await other.goto(customApp);
    await other.getByRole('button', { name: 'Dark theme' }).click();
    await page.locator('html[data-theme=light]').waitFor();
    await button(false).waitFor();
    expect(await isDark(page)).toBe(false);
  });

  test('a tab chosen in another window is selected here too', async () => {
    const page = await visit(customApp);
    const other = await page.context().newPage();
    await other.goto(customApp);
    await other.getByRole('tab', { name: 'Python' }).first().click();
    await page.locator('[role=tab][aria-selected=true]', { hasText: 'Python' }).first().waitFor();
    expect(await page.locator('[data-panel=Node]:visible').count()).toBe(0);
  });

  test('stored choices apply before the first paint', async () => {
    const page = await visit(overview);
    await page.evaluate(() => {
      localStorage.setItem('theme', 'dark');
      localStorage.setItem('sidebar', 'collapsed');
    });
    await page.addInitScript(() => {
      new MutationObserver((_changes, observer) => {
        if (!document.body) return;
        observer.disconnect();
        Object.assign(globalThis, { atFirst: { ...document.documentElement.dataset } });
      }).observe(document, { childList: true, subtree: true });
    });
    await page.reload();
    const atFirst = await page.evaluate(() => (globalThis as { atFirst?: unknown }).atFirst);
    expect(atFirst).toEqual({ theme: 'dark', sidebar: 'collapsed' });
  });

  test('without storage choices last as long as the page is open', async () => {
    const page = await arrive();
    await page.addInitScript(() => {
      Object.defineProperty(globalThis, 'localStorage', {
        get() {
          throw new DOMException('The operation is insecure.', 'SecurityError');
        },
      });
    });
    await page.goto(customApp, { waitUntil: 'networkidle' });
    await page.getByRole('button', { name: 'Dark theme' }).click();
    expect(await isDark(page)).toBe(true);
    await page.getByRole('tab', { name: 'Python' }).first().click();
    expect(await page.locator('[data-panel=Node]:visible').count()).toBe(0);
    await page.getByRole('button', { name: 'Hide navigation' }).click();
    expect(await page.getByRole('navigation', { name: 'Documentation' }).isVisible()).toBe(false);
  });

  test('a printed page is light in the dark theme', async () => {
    const page = await visit(customApp);
    await page.getByRole('button', { name: 'Dark theme' }).click();
    await page.emulateMedia({ media: 'print' });
    expect(await isDark(page)).toBe(false);
  });

  test('forced colours keep selected and marked elements distinguishable', async () => {
    const page = await visit(customApp, { forcedColors: 'active' });
    expect(await style(page, '[role=tab][aria-selected=true]', 'outline-style')).toBe('solid');
    expect(await style(page, '[role=tab][aria-selected=false]', 'outline-style')).toBe('none');
    await page.locator('[data-search-form] input').fill('push');
    await page.getByRole('listbox').waitFor();
    expect(await style(page, '.result[aria-selected=true]', 'outline-style')).toBe('solid');
    expect(await style(page, '.result[aria-selected=false]', 'outline-style')).toBe('none');
    expect(await style(page, '.result mark', 'color')).toBe(await style(page, '.result', 'color'));
    expect(await style(page, '.result mark', 'text-decoration-line')).toBe('underline');
  });

  test('a page that fits into the window marks no heading at its top', async () => {
    const page = await visit(overview);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width: 1440, height });
    await page.reload();
    await page.locator('[data-toggle-theme][aria-pressed]').waitFor();
    const last = await page.locator('.contents a').last().textContent();
    expect(await page.locator('.contents [aria-current=location]').allTextContents()).not.toContain(last);
  });

  test('without clipboard access a block is copied by selection, or selected for the keyboard', async () => {
    const page = await visit(customApp);
    await page.evaluate(() => {
      const refused = () => Promise.reject(new DOMException('Denied.', 'NotAllowedError'));
      Object.defineProperty(navigator, 'clipboard', { value: { writeText: refused } });
    });
    const button = page.locator('[data-language=json] [data-copy]').first();
    await button.click();
    await page.locator('[data-copy=done]').waitFor();
    expect(await button.textContent()).toBe('Copied');
    await page.evaluate(() => {
      document.execCommand = () => false;
    });
    await button.click();
    await button.filter({ hasText: 'Selected: copy it with the keyboard' }).waitFor();
    expect(await page.evaluate(() => getSelection()?.toString())).toMatch(/^\{\n {2}"parcels"/);
  });

  test('every tab stop is visible, and the header covers none', async () => {
    const page = await visit(customApp, { reducedMotion: 'reduce' });
    const faults = new Set<string>();
    let stops = 0;
    for (; stops < 200; stops += 1) {
      await page.keyboard.press('Tab');
      const fault = await page.evaluate(() => {
        const at = document.activeElement;
        if (!(at instanceof HTMLElement) || at === document.body) return 'end';
        const { outlineStyle, outlineWidth } = getComputedStyle(at);
        const name = `${at.tagName}.${at.className} ${at.textContent.slice(0, 20)}`;
        if (outlineStyle === 'none' || outlineWidth === '0px') return `${name} has no outline`;
        const { bottom, top } = at.getBoundingClientRect();
        const header = document.querySelector('.header');
        const below = header?.getBoundingClientRect().bottom ?? 0;
        if (!header?.contains(at) && !at.matches('.skip-link') && bottom <= below)
          return `${name} is covered`;
        return top >= innerHeight ? `${name} is below the window` : '';
      });
      if (fault === 'end') break;
      if (fault !== '') faults.add(fault);
    }
    expect(stops).toBeGreaterThan(30);
    expect([...faults]).toEqual([]);
  });

  test('an unknown address shows the error page at any depth', async () => {
    const page = await visit('/docs/a/b/c/d/e');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found');
    expect(await style(page, '.header', 'position')).toBe('sticky');
    await page.getByRole('link', { name: 'first page of the documentation' }).click();
    await page.waitForURL(`**${overview}`);
  });

  test('the policy of the server allows only scripts of the build', async () => {
    const { headers } = await fetch(`${at.site.url}${overview}`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const page = await visit(overview);
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'globalThis.ran = true';
      document.body.append(script);
    });
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
    expect(problems.splice(0).join()).toContain('Content Security Policy');
  });
});
