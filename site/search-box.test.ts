/** The search box of the header in a browser, on the real pages and their server. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import type { SearchResponse } from '@switchyard/contract/site/search.ts';
import { startTestServer } from '@switchyard/server/testing/servers/test-server.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterEach, describe, expect, test } from 'vitest';
import { setUpSite } from './testing/built-site.ts';
import { findLowContrastText } from './testing/contrast.ts';

const at = setUpSite((site) => startTestServer({ site }));

const search = async (query: string): Promise<SearchResponse> => {
  const { status, body } = await at.site.request('GET', `/search/v1docs?q=${encodeURIComponent(query)}`);
  expect(status).toBe(200);
  return body as SearchResponse;
};

describe.skipIf(!hasBrowser)('the search box', () => {
  const overview = '/docs/get-started/quickstarts/overview';
  const narrow = { width: 390, height: 844 };
  const problems: string[] = [];
  let requests: string[] = [];

  async function visit(route: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await at.visitors.newPage({ viewport: { width: 1440, height: 900 }, ...options });
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('request', (request) => {
      if (/\/search|assets/.test(request.url())) requests.push(new URL(request.url()).pathname);
    });
    requests = [];
    await page.goto(`${at.site.url}${route}`, { waitUntil: 'load' });
    return page;
  }
  const findBox = (page: Page) => page.locator('[data-search-form] input');
  const searches = () => requests.filter((path) => path === '/search/v1docs');
  /** Returns the marked words of the list, once it is visible. */
  const options = async (page: Page) => {
    await page.getByRole('listbox').waitFor();
    return page.getByRole('option');
  };

  afterEach(() => {
    expect(problems.splice(0)).toEqual([]);
  });

  test('the slash focuses it, and only then its code is fetched', async () => {
    const page = await visit(overview);
    expect(requests.filter((path) => path.includes('search'))).toEqual([]);
    await page.keyboard.press('/');
    await page.locator('[role=combobox]').waitFor();
    expect(await findBox(page).evaluate((box) => box === document.activeElement)).toBe(true);
    expect(await findBox(page).inputValue()).toBe('');
    await page.keyboard.type('a/b');
    expect(await findBox(page).inputValue()).toBe('a/b');
  });

  test('shows hits with their path and marked words, moves by arrows and opens by Enter', async () => {
    const page = await visit('/');
    await page.keyboard.press('/');
    // One change of the text, because on a busy machine typing letter by letter sends several queries.
    await page.keyboard.insertText('push it');
    const hits = await options(page);
    const first = hits.first();
    const [best] = (await search('push it')).hits;
    expect(best?.type).toBe('section');
    expect(await first.locator('.result-way').textContent()).toBe(
      [best?.meta.pageSection, best?.meta.pageTitle].join(' / '),
    );
    expect(await first.locator('mark').first().textContent()).toMatch(/push/i);
    const box = findBox(page);
    expect(await box.getAttribute('aria-expanded')).toBe('true');
    expect(await box.getAttribute('aria-controls')).toBe(await page.getByRole('listbox').getAttribute('id'));
    const current = async () => {
      const id = await box.getAttribute('aria-activedescendant');
      expect(await page.locator('[role=option][aria-selected=true]').getAttribute('id')).toBe(id);
      return Number(id?.replace('search-result-', ''));
    };
    const count = await hits.count();
    expect(
      await page
        .getByRole('status')
        .filter({ hasText: /results?$/ })
        .textContent(),
    ).toBe(count === 1 ? '1 result' : `${count} results`);
    expect(await current()).toBe(0);
    await page.keyboard.press('ArrowUp');
    expect(await current()).toBe(count - 1);
    await page.keyboard.press('ArrowDown');
    expect(await current()).toBe(0);
    const target = String(await first.getAttribute('href'));
    await page.keyboard.press('Enter');
    await page.waitForURL(target);
  });

  test('B3: shows hits of words with hyphens', async () => {
    const page = await visit('/');
    await findBox(page).fill('or-tools');
    const hits = await options(page);
    expect(await hits.first().locator('mark').first().textContent()).toMatch(/^or-tools$/i);
    expect(await hits.count()).toBe((await search('or-tools')).hits.length);
  });

  test('quotes the query that has no results', async () => {
    const page = await visit('/');
    await findBox(page).fill('  qqqqzz  <i>wwwwzz</i> ');
    const status = page.locator('.search-status');
    await status.filter({ hasText: 'No results' }).waitFor();
    expect(await status.textContent()).toBe('No results for qqqqzz <i>wwwwzz</i>');
    expect(await status.isVisible()).toBe(true);
    expect(await findBox(page).getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?q=*');
    expect(await page.locator('.results').textContent()).toBe('No results for qqqqzz  <i>wwwwzz</i>');
  });

  test('Escape clears it and closes the list, and a second Escape leaves it', async () => {
    const page = await visit(overview);
    await findBox(page).fill('push');
    await options(page);
    await page.keyboard.press('Escape');
    expect(await findBox(page).inputValue()).toBe('');
    expect(await page.getByRole('listbox').isVisible()).toBe(false);
    expect(await findBox(page).evaluate((box) => box === document.activeElement)).toBe(true);
    await page.keyboard.press('Escape');
    expect(await findBox(page).evaluate((box) => box === document.activeElement)).toBe(false);
  });

  test.each(['Control+k', 'Meta+k'])('%s focuses it too, but not from a text field', async (keys) => {
    const page = await visit('/sign-up');
    await page.locator('form [name=email]').first().focus();
    await page.keyboard.press(keys);
    expect(await findBox(page).evaluate((box) => box === document.activeElement)).toBe(false);
    await page.locator('h1').click();
    await page.keyboard.press(keys);
    expect(await findBox(page).evaluate((box) => box === document.activeElement)).toBe(true);
  });

  test('offers the five places opened last while empty, with none active', async () => {
    const page = await visit(overview);
    const opened: string[] = [];
    for (const question of [
      'push it',
      'secrets',
      'webhooks',
      'rate limits',
      'pagination',
      'teams',
      'secrets',
    ]) {
      await findBox(page).fill(question);
      const first = (await options(page)).first();
      await first.locator('mark').first().waitFor();
      const target = String(await first.getAttribute('href'));
      opened.unshift(target);
      await page.keyboard.press('Enter');
      await page.waitForURL(target);
    }
    await page.goto(`${at.site.url}${overview}`);
    await page.keyboard.press('/');
    const list = page.getByRole('listbox', { name: 'Recently opened' });
    await list.waitFor();
    const texts = await list
      .getByRole('option')
      .evaluateAll((links) => links.map((link) => link instanceof HTMLAnchorElement && link.href));
    expect(texts).toEqual([...new Set(opened)].slice(0, 5));
    expect(await findBox(page).getAttribute('aria-activedescendant')).toBeNull();
    await page.keyboard.press('ArrowUp');
    expect(await list.getByRole('option').last().getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(texts[0] === false ? '' : String(texts[0]));
  });

  test('ignores stored places that are invalid', async () => {
    const page = await visit(overview);
    const texts = {
      sectionId: '',
      sectionHeader: '',
      content: '',
      meta: { pageSection: '', pageTitle: 'Page' },
    };
    const hit = (slug: string) => JSON.stringify([{ slug, ...texts }]);
    for (const stored of [
      '{',
      '7',
      '[null, 1, {"slug": 1}]',
      '[{"slug":"/docs"}]',
      hit('//'),
      hit('https://elsewhere.example/'),
    ]) {
      await page.evaluate((text) => localStorage.setItem('recent', text), stored);
      await page.reload();
      await page.keyboard.press('/');
      await page.locator('[role=combobox]').waitFor();
      expect(await page.getByRole('listbox').isVisible(), stored).toBe(false);
    }
  });

  test('sends one query after fast typing, and none for a cached response', async () => {
    const page = await visit(overview);
    await at.visitors.installClock(page, 0);
    await findBox(page).focus();
    await page.locator('[role=combobox]').waitFor();
    await page.clock.pauseAt(3_600_000);
    await page.keyboard.type('version');
    await page.clock.runFor(200);
    await options(page);
    expect(searches()).toHaveLength(1);
    await page.keyboard.type('s');
    await page.keyboard.press('Backspace');
    await page.clock.runFor(200);
    await options(page);
    expect(searches()).toHaveLength(1);
  });

  test('shows the response to the last query, in any order of responses', async () => {
    const page = await visit(overview);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/search/v1docs?q=push', async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    const request = page.waitForRequest('**/search/v1docs?q=push');
    await findBox(page).fill('push');
    await request;
    await findBox(page).fill('qqqqzz');
    await page.locator('.search-status').filter({ hasText: 'No results for qqqqzz' }).waitFor();
    release();
    await page.unrouteAll({ behavior: 'wait' });
    expect(await page.locator('.search-status').textContent()).toBe('No results for qqqqzz');
    expect(await page.getByRole('listbox').isVisible()).toBe(false);
  });

  test('reports a slow search and a failed one', async () => {
    const page = await visit(overview);
    let respond = (_status: number) => {};
    const held = new Promise<number>((resolve) => {
      respond = resolve;
    });
    await page.route('**/search/v1docs?q=push', async (route) =>
      route.fulfill({ status: await held, body: '{}' }),
    );
    await findBox(page).fill('push');
    const status = page.locator('.search-status');
    await status.filter({ hasText: 'Searching …' }).waitFor();
    respond(200);
    await status.filter({ hasText: 'The search does not respond. Press Enter to try again.' }).waitFor();
    expect(await page.getByRole('listbox').isVisible()).toBe(false);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?q=push');
  });

  test('shows the response of another service as text, without links out of the site', async () => {
    const page = await visit(overview);
    const meta = { pageNavLabel: 'A', pageSection: '<b>B</b>', pageTitle: 'C' };
    const hit = { content: '<script>alert(1)</script> pushed', sectionId: '"><i>', type: 'section', meta };
    const hits = [
      { ...hit, slug: overview, sectionHeader: '<img src=x onerror=alert(1)>' },
      { ...hit, slug: '//elsewhere.example/docs', sectionHeader: 'Elsewhere' },
      { ...hit, slug: 'javascript:alert(1)', sectionHeader: 'Script' },
    ];
    await page.route('**/search/v1docs?q=push', (route) =>
      route.fulfill({ json: { query: 'push', hits, marks: ['pushed'] } }),
    );
    await findBox(page).fill('push');
    const displayed = await options(page);
    expect(await displayed.count()).toBe(1);
    expect(await displayed.textContent()).toContain('<script>alert(1)</script> pushed');
    expect(await displayed.locator('img, b, i, script').count()).toBe(0);
  });

  test('ignores keys of an unfinished input method, and slashes of browser commands', async () => {
    const page = await visit(overview);
    await findBox(page).fill('push');
    await options(page);
    // Safari ends the composition before it sends the key that ended it.
    await findBox(page).dispatchEvent('keydown', { key: 'Enter', keyCode: 229 });
    await findBox(page).dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    await findBox(page).dispatchEvent('keydown', { key: 'Escape', isComposing: true });
    expect(await findBox(page).inputValue()).toBe('push');
    expect(new URL(page.url()).pathname).toBe(overview);
    await findBox(page).blur();
    for (const key of ['Control+/', 'Alt+/', 'Meta+/']) await page.keyboard.press(key);
    expect(await findBox(page).evaluate((box) => box === document.activeElement)).toBe(false);
  });

  test('a slash in a text field is text', async () => {
    const page = await visit('/search');
    await page.locator('[data-question]').focus();
    await page.keyboard.type('a/b');
    expect(await page.locator('[data-question]').inputValue()).toBe('a/b');
  });

  test('works on a phone, where it is an icon until its first use', async () => {
    const page = await visit(overview, { viewport: narrow, hasTouch: true, isMobile: true });
    const box = findBox(page);
    expect((await box.boundingBox())?.width).toBeLessThanOrEqual(44);
    await box.tap();
    await page.locator('[role=combobox]').waitFor();
    expect((await box.boundingBox())?.width).toBeGreaterThan(300);
    await page.keyboard.type('push it');
    const hits = await options(page);
    const list = await page.getByRole('listbox').boundingBox();
    expect(list?.x).toBeGreaterThanOrEqual(0);
    expect((list?.x ?? 0) + (list?.width ?? 0)).toBeLessThanOrEqual(narrow.width);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(
      0,
    );
    const target = String(await hits.first().getAttribute('href'));
    await hits.first().tap();
    await page.waitForURL(target);
  });

  test('loads a page of results without scripts', async () => {
    const page = await visit(overview, { javaScriptEnabled: false });
    await findBox(page).fill('push it');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?q=push+it');
    expect(await page.locator('[data-question]').inputValue()).toBe('push it');
    const first = page.locator('.results a').first();
    const target = String(await first.getAttribute('href'));
    await first.click();
    await page.waitForURL(`**${target}`);
  });

  test.for(['light', 'dark'] as const)('has enough contrast in the %s theme', async (colorScheme) => {
    const page = await visit(overview, { colorScheme });
    await findBox(page).fill('push');
    await options(page);
    expect(await page.evaluate(findLowContrastText, 4.5)).toEqual([]);
    await page.goto(`${at.site.url}/search?q=push`);
    expect(await page.evaluate(findLowContrastText, 4.5)).toEqual([]);
  });
});
