/**
 * Measures the transferred bytes when a reader at a desk uses a page: searches, changes the theme, copies code, selects
 * a tab.
 */
import type { Browser, Page } from 'playwright-core';
import type { MeasuredServer } from './counting-server.ts';

const QUESTION = 'pagination';
const WAIT_MS = 10_000;

/** The controls of a builder, by selector. Code and tabs are optional; every page must have a search and a theme. */
type Controls = {
  /** A script that needs more than the server's policy for files allows; it is transferred anyway. */
  unguarded?: string;
  /** Opens the search, unless it is a box on the page. */
  openSearch?: string;
  searchBox: string;
  hit: string;
  changeTheme(page: Page): Promise<void>;
  copy: string;
  tab: string;
};

const CONTROLS: Readonly<Record<string, Controls>> = {
  Switchyard: {
    searchBox: '[data-search-form] input',
    hit: '.search-results .result',
    changeTheme: (page) => page.locator('[data-toggle-theme]').click(),
    copy: '[data-copy]:visible',
    tab: '[data-tab][aria-selected=false]:visible',
  },
  Docusaurus: {
    searchBox: '.navbar__search-input',
    hit: '[class*=suggestion_]',
    changeTheme: (page) => page.locator('[class*=colorModeToggle] button:visible').first().click(),
    copy: 'pre + [class*=buttonGroup] button >> nth=-1',
    tab: '[role=tab][aria-selected=false]:visible',
  },
  Starlight: {
    unguarded: '**/pagefind/pagefind-worker.js',
    openSearch: 'site-search button[data-open-modal]',
    searchBox: 'site-search input',
    hit: '.pagefind-ui__result, [class*=pf-result]',
    changeTheme: async (page) => {
      await page.locator('starlight-theme-select select:visible').first().selectOption('dark');
    },
    copy: '.expressive-code .copy button',
    tab: '[role=tab][aria-selected=false]:visible',
  },
};

/** Returns the bytes that using the page adds to those of showing it. */
export async function measureUsage(
  browser: Browser,
  server: MeasuredServer,
  name: string,
  route: string,
): Promise<number> {
  const controls = CONTROLS[name];
  if (!controls) throw new Error(`${name} has no entry in the table of controls; add one.`);
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  try {
    if (controls.unguarded)
      await context.route(controls.unguarded, async (route) => {
        const response = await route.fetch();
        const { 'content-security-policy': _, ...headers } = response.headers();
        await route.fulfill({ response, headers });
      });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    await page.goto(`${server.url}${route}`, { waitUntil: 'networkidle' });
    server.readAndResetBytes();
    await controls.changeTheme(page);
    for (const selector of [controls.copy, controls.tab]) {
      const control = page.locator(selector).first();
      // Some controls appear only under the pointer, which does not matter for the measurement.
      if ((await control.count()) > 0) await control.click({ force: true });
    }
    if (controls.openSearch) await page.locator(controls.openSearch).first().click();
    await page.locator(controls.searchBox).first().click();
    await page.keyboard.type(QUESTION, { delay: 60 });
    await page.locator(controls.hit).first().waitFor();
    await page.waitForLoadState('networkidle');
    return server.readAndResetBytes();
  } finally {
    await context.close();
  }
}
