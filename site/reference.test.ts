/** The API reference: its pages show every operation once, and their controls work. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import cloud from '@switchyard/contract/openapi/cloud.json' with { type: 'json' };
import marketplace from '@switchyard/contract/openapi/marketplace.json' with { type: 'json' };
import { listOperations } from '@switchyard/explorer/model/operation/read-operation.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { builtSiteFolder, setUpSite } from './testing/built-site.ts';
import { findLowContrastText } from './testing/contrast.ts';
import { serveFolder } from './testing/serve-folder.ts';

const reference = '/docs/using-switchyard/reference/api';
const runs = `${reference}/runs`;

/** Lists the anchors of operations on the pages of a folder. */
function listOperationAnchors(below: string, isIn: (path: string) => boolean): string[] {
  return readdirSync(join(builtSiteFolder, below), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html') && isIn(path))
    .flatMap((path) => {
      const html = readFileSync(join(builtSiteFolder, below, path), 'utf8');
      return [...html.matchAll(/<section class="api"><h2 id="([^"]*)"/g)].map(([, id = '']) => id);
    })
    .sort();
}

describe('the reference', () => {
  test.for([
    ['cloud', cloud, (path: string) => !path.startsWith('marketplace')],
    ['marketplace', marketplace, (path: string) => path.startsWith('marketplace')],
  ] as const)('shows every operation of %s once', ([, document, isIn]) => {
    const all = listOperations(document).map(({ id }) => id);
    expect(listOperationAnchors(reference, isIn)).toEqual(all.sort());
  });
});

test('the pages of the commands have each command of switchyard once', () => {
  const listCommands = (page: string) => {
    const html = readFileSync(
      join(builtSiteFolder, `docs/using-switchyard/reference/cli/${page}.html`),
      'utf8',
    );
    return [...html.matchAll(/<h2 id="[^"]*">switchyard ([a-z -]+?) *</g)].map(([, name = '']) => name);
  };
  const own = listCommands('commands');
  const account = listCommands('account-commands');
  expect(own).toEqual(expect.arrayContaining(['login', 'promote', 'push', 'run', 'runs', 'runs get']));
  expect(account).toEqual(expect.arrayContaining(['backup', 'keys list', 'webhooks listen', 'usage']));
  expect(new Set([...own, ...account]).size).toBe(own.length + account.length);
});

describe.skipIf(!hasBrowser)('in a browser', () => {
  const at = setUpSite(serveFolder);

  async function visit(route: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await at.visitors.newPage({ colorScheme: 'light', baseURL: at.site.url, ...options });
    await page.goto(route, { waitUntil: 'load' });
    return page;
  }

  test('the toggle says View and Hide, and works by keyboard', async () => {
    const page = await visit(runs);
    const toggle = page.locator('.api-details > summary').first();
    const label = () => toggle.locator('span:visible').first().textContent();
    expect(await label()).toBe('View');
    await toggle.focus();
    await page.keyboard.press('Enter');
    expect(await label()).toBe('Hide');
    await page.getByText('Query parameters').first().waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('application_id');
    await toggle.focus();
    await page.keyboard.press('Space');
    expect(await label()).toBe('View');
  });

  test('a toggle names its operation for screen readers', async () => {
    const page = await visit(runs);
    const summary = page.locator('.api-details > summary').first();
    expect(await summary.textContent()).toContain('the details of “Create a run”');
    expect(await page.getByRole('heading', { level: 2, name: 'Create a run' }).count()).toBe(1);
  });

  test('visible fields and responses link to themselves', async () => {
    const page = await visit(`${runs}#create-run.body.options`);
    for (const route of [`${runs}#create-run.body.options`, runs]) {
      // An address without a fragment loads the page again.
      if (route === runs) await page.goto(route, { waitUntil: 'load' });
      const details = page.locator('.api-details').first();
      if (route === runs) await details.locator('> summary').click();
      await page.waitForFunction(() => document.querySelector('.api-details[open] .api-self[href]') !== null);
      for (const kind of ['.api-field', '.api-response']) {
        const places = details.locator(kind);
        const ids = await places.evaluateAll((all) => all.map(({ id }) => `#${id}`));
        const link = kind === '.api-field' ? '.api-name' : '.api-self';
        expect(
          await details
            .locator(link)
            .evaluateAll((all) => all.map((one) => decodeURIComponent(one.getAttribute('href') ?? ''))),
        ).toEqual(ids);
      }
    }
  });

  test('a link to a field unfolds its operation, with a script and without', async () => {
    const field = 'create-run.body.configuration.queuing.priority';
    for (const javaScriptEnabled of [true, false]) {
      const page = await visit(`${runs}#${field}`, { javaScriptEnabled });
      const target = page.locator(`[id="${field}"]`);
      await target.waitFor({ state: 'visible' });
      const box = await target.boundingBox();
      expect(box?.y).toBeGreaterThan(0);
      expect(box?.y).toBeLessThan(page.viewportSize()?.height ?? 0);
    }
  });

  test('a link on the page unfolds its target too', async () => {
    const page = await visit(runs);
    await page.evaluate(() => {
      location.hash = '#create-run.202.body.run_id';
    });
    await page.locator('[id="create-run.202.body.run_id"]').waitFor({ state: 'visible' });
  });

  test('a second click on a link unfolds its target again', async () => {
    const page = await visit(runs);
    const field = page.locator('[id="cancel-run.path.run_id"]');
    await page.evaluate(() => {
      const extra = document.createElement('a');
      extra.href = '#cancel-run.path.run_id';
      extra.textContent = 'To the field';
      document.querySelector('main')?.prepend(extra);
    });
    const toField = page.getByRole('link', { name: 'To the field' });
    await toField.click();
    await field.waitFor({ state: 'visible' });
    await page.evaluate(() => {
      for (const one of document.querySelectorAll('details')) one.open = false;
    });
    await field.waitFor({ state: 'hidden' });
    await toField.click();
    await field.waitFor({ state: 'visible' });
  });

  test('the language of samples stays the same on all operations and pages', async () => {
    const page = await visit(runs);
    await page.locator('.api-details > summary').first().click();
    await page.getByRole('tab', { name: 'Python' }).first().click();
    await page.goto(`${reference}/versions`);
    await page.locator('.api-details > summary').nth(1).click();
    const texts = await page
      .locator('[data-panel]:visible')
      .evaluateAll((panels) => panels.map((panel) => panel.getAttribute('data-panel')));
    expect(texts).toEqual(['Python']);
  });

  test('a sample is copied unchanged', async () => {
    const page = await visit(runs, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.locator('.api-details > summary').nth(1).click();
    const code = page.locator('.api').nth(1).locator('[data-language=bash]');
    await code.hover();
    await code.getByRole('button', { name: 'Copy' }).click();
    await page.locator('[data-copy=done]').waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(text).toBe(
      `curl -X PATCH '${at.site.url}/v1/applications/APPLICATION_ID/runs/RUN_ID/cancel' \\\n  -H "Authorization: Bearer $SWITCHYARD_TOKEN"`,
    );
  });

  test('unfolded pages have no low contrast and do not scroll sideways', async () => {
    const page = await visit(runs, { reducedMotion: 'reduce' });
    for (const name of ['runs', 'run-results', 'applications', 'accounts']) {
      await page.goto(`${reference}/${name}`, { waitUntil: 'load' });
      expect(await page.locator('.api').count(), name).toBeGreaterThan(1);
      await page.evaluate(() => {
        for (const details of document.querySelectorAll<HTMLDetailsElement>('.api details'))
          details.open = true;
      });
      for (const viewport of [
        { width: 390, height: 844 },
        { width: 1440, height: 900 },
      ]) {
        await page.setViewportSize(viewport);
        expect(
          await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
          name,
        ).toBeLessThanOrEqual(0);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const view = `${name}, ${viewport.width} pixels wide, ${colorScheme}`;
          expect(await page.evaluate(findLowContrastText, 4.5), view).toEqual([]);
        }
      }
    }
  });

  test('without a script everything unfolds and all samples are visible', async () => {
    const page = await visit(runs, { javaScriptEnabled: false });
    await page.locator('.api-details > summary').first().click();
    const first = page.locator('.api').first();
    expect(await first.locator('[data-panel]:visible').count()).toBe(3);
    await first.locator('.api-response > summary').first().click();
    await first.locator('[id="create-run.202.body.run_id"]').waitFor({ state: 'visible' });
  });

  test('a page sends no API request', async () => {
    const page = await visit(runs);
    await page.waitForLoadState('networkidle');
    const calls: string[] = [];
    page.on('request', (request) => calls.push(request.url()));
    for (const summary of await page.locator('.api-details > summary').all()) await summary.click();
    await page.getByRole('tab', { name: 'JavaScript' }).first().click();
    expect(calls).toEqual([]);
  });
});
