/** The search of the real pages: what readers ask, through the server, and the box in a browser. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SearchAnswer, SearchHit } from '@switchyard/contract/search.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/server.ts';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { buildSite } from './build.ts';
import { hasBrowser, launchBrowser } from './testing/browser.ts';
import { faintWords } from './testing/contrast.ts';
import { heldOut, questions } from './testing/questions.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-questions-'));
const outDir = join(folder, 'dist');
let server: TestServer;

const ask = async (query: string): Promise<SearchAnswer> => {
  const { status, body } = await server.ask('GET', `/search/v1docs?q=${encodeURIComponent(query)}`);
  expect(status).toBe(200);
  return body as SearchAnswer;
};

beforeAll(async () => {
  await buildSite({ outDir, quick: true });
  server = await startTestServer({ site: outDir });
}, 180_000);
afterAll(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('what readers ask', () => {
  test.each([
    ['the thirty', questions],
    ['those held out', heldOut],
  ])('is answered in the first three hits, 29 times of 30: %s', async (_which, list) => {
    const files = readdirSync(outDir, { recursive: true, encoding: 'utf8' });
    const routes = files
      .filter((path) => path.endsWith('.html'))
      .map((path) => `/${path.slice(0, -'.html'.length)}`);
    const answers = ({ slug }: Pick<SearchHit, 'slug'>, page: string) =>
      slug === page || slug.startsWith(`${page}/`);
    const missed: string[] = [];
    let asked = 0;
    for (const { ask: question, page, pending } of list) {
      if (!routes.some((slug) => answers({ slug }, page))) {
        console.warn(`SKIPPING “${question}”: ${page} is not there yet.`);
        expect(pending, `${page} is neither there nor marked as pending`).toBe(true);
        continue;
      }
      if (pending) console.warn(`“${question}” need not be marked as pending any more: ${page} is there.`);
      asked += 1;
      const { hits } = await ask(question);
      if (!hits.slice(0, 3).some((hit) => answers(hit, page))) {
        missed.push(
          `${question}: ${hits
            .slice(0, 3)
            .map(({ slug }) => slug)
            .join(', ')} and not ${page}`,
        );
      }
    }
    expect(asked).toBeGreaterThan(0);
    const allowed = asked - Math.floor((29 / 30) * asked);
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(allowed);
  });

  test('operations are found by their names, at the pages that show them, in the promised shape', async () => {
    const [hit] = (await ask('createRun')).hits;
    expect(hit).toMatchObject({
      type: 'operation',
      sectionId: 'create-run',
      sectionHeader: expect.any(String),
    });
    expect(hit?.slug).toMatch(/^\/docs\/using-switchyard\/reference\/api\//);
    const { hits } = await ask('next_page_token');
    expect(hits.some(({ type }) => type === 'operation')).toBe(true);
    for (const one of hits)
      expect(Object.keys(one).toSorted()).toEqual([
        'content',
        'meta',
        'sectionHeader',
        'sectionId',
        'slug',
        'type',
      ]);
  });

  test('every hit leads to a heading that is there', async () => {
    for (const { ask: question } of questions) {
      for (const { slug, sectionId } of (await ask(question)).hits) {
        const answer = await fetch(`${server.url}${slug}`);
        expect(answer.status, slug).toBe(200);
        if (sectionId !== '') expect(await answer.text(), slug).toContain(` id="${sectionId}"`);
      }
    }
  });
});

describe.skipIf(!hasBrowser)('the search box', () => {
  const overview = '/docs/get-started/quickstarts/overview';
  const narrow = { width: 390, height: 844 };
  let browser: Browser;
  let open: Page[] = [];
  const complaints: string[] = [];
  let requests: string[] = [];

  async function visit(route: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const page = await context.newPage();
    open.push(page);
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('request', (request) => {
      if (/\/search|assets/.test(request.url())) requests.push(new URL(request.url()).pathname);
    });
    requests = [];
    await page.goto(`${server.url}${route}`, { waitUntil: 'load' });
    return page;
  }
  const boxOf = (page: Page) => page.locator('[data-search-form] input');
  const searches = () => requests.filter((path) => path === '/search/v1docs');
  /** The words marked in the list, once it is there. */
  const options = async (page: Page) => {
    await page.getByRole('listbox').waitFor();
    return page.getByRole('option');
  };

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterEach(async () => {
    await Promise.all(open.map((page) => page.context().close()));
    open = [];
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(() => browser?.close());

  test('is reached by the slash, and its code is fetched no sooner', async () => {
    const page = await visit(overview);
    expect(requests.filter((path) => path.includes('search'))).toEqual([]);
    await page.keyboard.press('/');
    await page.locator('[role=combobox]').waitFor();
    expect(await boxOf(page).evaluate((box) => box === document.activeElement)).toBe(true);
    expect(await boxOf(page).inputValue()).toBe('');
    await page.keyboard.type('a/b');
    expect(await boxOf(page).inputValue()).toBe('a/b');
  });

  test('shows hits with their way and marked words, moves by arrows and opens by Enter', async () => {
    const page = await visit('/');
    await page.keyboard.press('/');
    // All at once: on a busy machine the typing rests between two letters.
    await page.keyboard.insertText('push it');
    const hits = await options(page);
    const first = hits.first();
    const [best] = (await ask('push it')).hits;
    expect(best?.type).toBe('section');
    expect(await first.locator('.result-way').textContent()).toBe(
      [best?.meta.pageSection, best?.meta.pageTitle].join(' / '),
    );
    expect(await first.locator('mark').first().textContent()).toMatch(/push/i);
    const box = boxOf(page);
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

  test('says exactly what it found nothing for', async () => {
    const page = await visit('/');
    await boxOf(page).fill('  qqqqzz  <i>wwwwzz</i> ');
    const status = page.locator('.search-status');
    await status.filter({ hasText: 'No results' }).waitFor();
    expect(await status.textContent()).toBe('No results for qqqqzz <i>wwwwzz</i>');
    expect(await status.isVisible()).toBe(true);
    expect(await boxOf(page).getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?q=*');
    expect(await page.locator('.results').textContent()).toBe('No results for qqqqzz  <i>wwwwzz</i>');
  });

  test('Escape clears it and closes the list, and again leaves it', async () => {
    const page = await visit(overview);
    await boxOf(page).fill('push');
    await options(page);
    await page.keyboard.press('Escape');
    expect(await boxOf(page).inputValue()).toBe('');
    expect(await page.getByRole('listbox').isVisible()).toBe(false);
    expect(await boxOf(page).evaluate((box) => box === document.activeElement)).toBe(true);
    await page.keyboard.press('Escape');
    expect(await boxOf(page).evaluate((box) => box === document.activeElement)).toBe(false);
  });

  test('asks once for what is typed in one go, and not again for what it knows', async () => {
    const page = await visit(overview);
    await page.clock.install({ time: 0 });
    await boxOf(page).focus();
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

  test('shows the answer to the last question, in whatever order answers come', async () => {
    const page = await visit(overview);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/search/v1docs?q=push', async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    const asked = page.waitForRequest('**/search/v1docs?q=push');
    await boxOf(page).fill('push');
    await asked;
    await boxOf(page).fill('qqqqzz');
    await page.locator('.search-status').filter({ hasText: 'No results for qqqqzz' }).waitFor();
    release();
    await page.unrouteAll({ behavior: 'wait' });
    expect(await page.locator('.search-status').textContent()).toBe('No results for qqqqzz');
    expect(await page.getByRole('listbox').isVisible()).toBe(false);
  });

  test('leaves the slash to whoever writes', async () => {
    const page = await visit('/search');
    await page.locator('[data-question]').focus();
    await page.keyboard.type('a/b');
    expect(await page.locator('[data-question]').inputValue()).toBe('a/b');
  });

  test('works on a phone, where it is an icon until it is used', async () => {
    const page = await visit(overview, { viewport: narrow, hasTouch: true, isMobile: true });
    const box = boxOf(page);
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

  test('without scripts leads to a page of results', async () => {
    const page = await visit(overview, { javaScriptEnabled: false });
    await boxOf(page).fill('push it');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?q=push+it');
    expect(await page.locator('[data-question]').inputValue()).toBe('push it');
    const first = page.locator('.results a').first();
    const target = String(await first.getAttribute('href'));
    await first.click();
    await page.waitForURL(`**${target}`);
  });

  test.for(['light', 'dark'] as const)('can be read in the %s theme', async (colorScheme) => {
    const page = await visit(overview, { colorScheme });
    await boxOf(page).fill('push');
    await options(page);
    expect(await page.evaluate(faintWords, 4.5)).toEqual([]);
    await page.goto(`${server.url}/search?q=push`);
    expect(await page.evaluate(faintWords, 4.5)).toEqual([]);
  });
});
