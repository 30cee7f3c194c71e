/** Actions on a page as a whole, and on its headings. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { builtSiteFolder, setUpSite } from './testing/built-site.ts';
import { serveFolder } from './testing/serve-folder.ts';

const customApp = '/docs/get-started/quickstarts/custom-app';
const firstRun = '/docs/get-started/quickstarts/overview';
const runs = '/docs/using-switchyard/reference/api/runs';
const mayCopy = { permissions: ['clipboard-read', 'clipboard-write'] };

const at = setUpSite(serveFolder);

const copied = (page: Page) => page.evaluate(() => navigator.clipboard.readText());
/** Fetches the Markdown of a page, with the server's own address in it. */
const written = (route: string) =>
  readFileSync(join(builtSiteFolder, `${route}.md`), 'utf8').replace(/^```.*?^```/gms, (code) =>
    code.replaceAll('http://127.0.0.1:8080', at.site.url),
  );

describe.skipIf(!hasBrowser)('on a page', () => {
  async function visit(route: string, options: BrowserContextOptions = mayCopy): Promise<Page> {
    const page = await at.visitors.newPage({
      viewport: { width: 1440, height: 900 },
      baseURL: at.site.url,
      ...options,
    });
    await page.goto(route, { waitUntil: 'load' });
    return page;
  }

  test('the task, the group and the page around it are links, each to a page', async () => {
    const page = await visit(runs);
    const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link');
    expect(await crumbs.allTextContents()).toEqual(['Reference', 'Interfaces', 'API reference']);
    const addresses = await crumbs.evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(addresses).toEqual([
      '/docs/using-switchyard/reference/cli',
      '/docs/using-switchyard/reference/cli',
      '/docs/using-switchyard/reference/api',
    ]);
    for (const address of addresses) expect((await fetch(`${at.site.url}${address}`)).status).toBe(200);
  });

  test.each([customApp, runs])('%s is copied as Markdown, confirmed for three seconds', async (route) => {
    const page = await visit(route);
    await at.visitors.installClock(page, 0);
    await page.clock.pauseAt(1000);
    const button = page.getByRole('button', { name: 'Copy page' });
    await button.click();
    const done = page.locator('[data-copy-page][data-copy=done]');
    await done.waitFor();
    expect(await done.textContent()).toBe('Copied');
    expect(await page.getByRole('status').textContent()).toBe('Copied');
    expect(await copied(page)).toBe(written(route));
    await page.clock.fastForward(2999);
    expect(await done.textContent()).toBe('Copied');
    await page.clock.fastForward(1);
    expect(await button.textContent()).toBe('Copy page');
  });

  test('the Markdown of an address that shows the first page below it is that of the page', async () => {
    const page = await visit('/docs');
    await page.getByRole('button', { name: 'Copy page' }).click();
    await page.locator('[data-copy=done]').waitFor();
    expect(await copied(page)).toBe(written(firstRun));
    expect(await page.getByRole('link', { name: 'View as Markdown' }).getAttribute('href')).toBe(
      '/docs/get-started/quickstarts/overview.md',
    );
  });

  test('a failed copy shows a message and copies nothing', async () => {
    const page = await visit(customApp);
    await page.evaluate(() => navigator.clipboard.writeText('before'));
    await page.route('**/*.md', (route) => route.fulfill({ status: 503, body: 'Busy' }));
    await page.getByRole('button', { name: 'Copy page' }).click();
    await page.locator('[data-copy=done]').waitFor();
    expect(await page.locator('[data-copy=done]').textContent()).toBe('Not copied');
    expect(await copied(page)).toBe('before');
  });

  test('a page over plain HTTP, where scripts have no clipboard, is copied too', async () => {
    const page = await at.visitors.newPage({ baseURL: at.site.url, ...mayCopy });
    await page.addInitScript(() => {
      const { clipboard } = navigator;
      Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined });
      addEventListener('give-back', () =>
        Object.defineProperty(navigator, 'clipboard', { value: clipboard }),
      );
    });
    await page.goto(customApp, { waitUntil: 'load' });
    expect(await page.evaluate(() => typeof navigator.clipboard)).toBe('undefined');
    const button = page.getByRole('button', { name: 'Copy page' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.locator('[data-copy=done]').waitFor();
    expect(await page.evaluate(() => document.activeElement?.hasAttribute('data-copy-page'))).toBe(true);
    await page.evaluate(() => dispatchEvent(new Event('give-back')));
    expect(await copied(page)).toBe(written(customApp));
  });

  test('a permalink copies its address, confirms it for three seconds, and scrolls there', async () => {
    const page = await visit(customApp);
    await at.visitors.installClock(page, 0);
    await page.clock.pauseAt(1000);
    await page.locator('#push-it').hover();
    await page.getByRole('link', { name: 'Link to “Push it”' }).click();
    const toast = page.locator('.toast');
    await toast.waitFor({ state: 'attached' });
    await page.clock.runFor(100);
    expect(await toast.textContent()).toBe('Link copied');
    expect(await toast.evaluate((element) => getComputedStyle(element).position)).toBe('fixed');
    expect(await copied(page)).toBe(`${at.site.url}${customApp}#push-it`);
    expect(page.url()).toBe(`${at.site.url}${customApp}#push-it`);
    await page.clock.runFor(3000);
    expect(await toast.textContent()).toBe('');
  });

  test('a permalink opened in another tab does not change the clipboard', async () => {
    const page = await visit(customApp);
    await page.evaluate(() => navigator.clipboard.writeText('before'));
    await page.locator('#push-it').hover();
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Link to “Push it”' }).click({ modifiers: ['Control'] });
    await (await opened).close();
    expect(await copied(page)).toBe('before');
  });

  test('one button unfolds and folds the whole reference', async () => {
    const page = await visit(runs);
    const folded = page.locator('.api details:not([open])');
    const all = await page.locator('.api details').count();
    expect(all).toBeGreaterThan(10);
    expect(await folded.count()).toBe(all);
    await page.getByRole('button', { name: 'Expand all' }).click();
    expect(await folded.count()).toBe(0);
    await page.getByRole('button', { name: 'Collapse all' }).click();
    expect(await folded.count()).toBe(all);
    const guide = await visit(customApp);
    expect(await guide.getByRole('button', { name: 'Expand all' }).count()).toBe(0);
  });

  test('the samples of the reference call the server of the page', async () => {
    const page = await visit(runs);
    await page.getByRole('button', { name: 'Expand all' }).click();
    const samples = (await page.locator('.api [data-panel] code').allTextContents()).map((text) =>
      text.trim(),
    );
    const requests = samples.filter((sample) => sample.includes('/v1/'));
    expect(requests.length).toBeGreaterThanOrEqual(9);
    for (const request of requests) expect(request).toContain(`${at.site.url}/v1/`);
    await page.locator('.api [data-panel=curl] .code').first().hover();
    await page.locator('.api [data-panel=curl] [data-copy]').first().click();
    await page.locator('[data-copy=done]').waitFor();
    expect(await copied(page)).toContain(`'${at.site.url}/v1/applications/`);
  });

  test('B7: the code of a guide calls the address of its server, also when copied', async () => {
    const url = at.site.url.replace('127.0.0.1', 'localhost');
    const page = await visit(firstRun, { ...mayCopy, baseURL: url });
    const code = page.locator('pre code').filter({ hasText: 'export SWITCHYARD_URL=' });
    expect(await code.textContent()).toContain(`export SWITCHYARD_URL=${url}\n`);
    const block = page.locator('figure.code').filter({ has: code });
    await block.hover();
    await block.getByRole('button', { name: 'Copy' }).click();
    await page.locator('[data-copy=done]').waitFor();
    expect(await copied(page)).toBe(await code.textContent());
    const blocks = await page.locator('article pre').allTextContents();
    expect(blocks.filter((text) => text.includes('127.0.0.1'))).toEqual([]);
    await page.getByRole('button', { name: 'Copy page' }).click();
    await page.locator('[data-copy-page][data-copy=done]').waitFor();
    expect(await copied(page)).toBe(written(firstRun).replaceAll(at.site.url, url));
    expect(await page.locator('article').textContent()).toContain('listens on http://127.0.0.1:8080');
  });

  test('without scripts its Markdown is a link, and there is no button', async () => {
    const page = await visit(runs, { javaScriptEnabled: false });
    expect(await page.locator('.page-actions > :visible').allTextContents()).toEqual(['View as Markdown']);
  });
});
