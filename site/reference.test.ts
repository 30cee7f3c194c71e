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
      return [...html.matchAll(/<div class="api-words"><h2 id="([^"]*)"/g)].map(([, id = '']) => id);
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
    return [...html.matchAll(/<h3 id="[^"]*">switchyard ([a-z -]+?) *</g)].map(([, name = '']) => name);
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

  test('request and responses stand beside the fields in a wide window, and stay while one scrolls', async () => {
    const page = await visit(runs, { viewport: { width: 1200, height: 900 }, reducedMotion: 'reduce' });
    const words = page.locator('.api-words').first();
    const codes = page.locator('.api-codes').first();
    const readTop = async () => (await codes.boundingBox())?.y ?? Number.NaN;
    const left = await codes.boundingBox();
    const fields = await words.boundingBox();
    expect(left?.x).toBeGreaterThan((fields?.x ?? 0) + (fields?.width ?? 0));
    expect(Math.abs((left?.y ?? 0) - (fields?.y ?? 0))).toBeLessThan(2);
    await page.locator('[id="create-run.body.tracking"]').scrollIntoViewIfNeeded();
    const stays = await readTop();
    expect(stays).toBeGreaterThanOrEqual(0);
    await page.mouse.wheel(0, 150);
    await page.waitForFunction((before) => scrollY > before, 0);
    expect(await readTop()).toBe(stays);
    expect(await codes.getByText('"run_id"').isVisible()).toBe(true);
  });

  test('request and responses follow the fields in a narrower window', async () => {
    for (const width of [1199, 390]) {
      const page = await visit(runs, { viewport: { width, height: 900 } });
      const fields = await page.locator('.api-words').first().boundingBox();
      const codes = await page.locator('.api-codes').first().boundingBox();
      expect(codes?.y, String(width)).toBeGreaterThanOrEqual((fields?.y ?? 0) + (fields?.height ?? 0));
    }
  });

  test('the navigation lists the operations with their methods: reading ones faint, none with a colour', async () => {
    const page = await visit(`${reference}/applications`);
    const list = page.locator('.sidebar [data-follow-headings]');
    const stop = list.getByRole('link', { name: 'Create an application POST' });
    expect(await list.getByRole('link').count()).toBe(await page.locator('.api').count());
    await stop.click();
    await list.locator('[aria-current=location]', { hasText: 'Create an application' }).waitFor();
    const readColour = (selector: string) =>
      list
        .locator(selector)
        .evaluateAll((all) => [...new Set(all.map((one) => getComputedStyle(one).color))]);
    const probe = (name: string) =>
      page.evaluate((token) => {
        const mark = document.createElement('i');
        mark.style.color = `var(${token})`;
        document.body.append(mark);
        return getComputedStyle(mark).color;
      }, name);
    expect(await readColour('small:not(.reads)')).toEqual([await probe('--ink')]);
    expect(await readColour('small.reads')).toEqual([await probe('--faint')]);
    expect(await list.locator('small.reads').allTextContents()).toContain('GET');
  });

  test('a field and its lines of the request are tinted together', async () => {
    const page = await visit(runs);
    const pre = page.locator('.api-codes pre').first();
    const readTint = () => pre.evaluate((code) => code.style.background);
    await page.getByRole('link', { name: 'options', exact: true }).first().focus();
    expect(await page.locator('.is-shown').evaluateAll((all) => all.map(({ id }) => id))).toEqual([
      'create-run.body.options',
    ]);
    const lines = (await pre.textContent())?.split('\n') ?? [];
    const from = lines.findIndex((line) => line.includes('"options"'));
    expect(await readTint()).toContain(`+ ${from}lh`);
    await page.getByRole('heading', { level: 1 }).hover();
    expect(await page.locator('.is-shown').count()).toBe(0);
    expect(await readTint()).toBe('');
  });

  test('visible fields and responses link to themselves', async () => {
    const page = await visit(runs);
    const operation = page.locator('.api').first();
    await operation.locator('.api-response a[href]').first().waitFor({ state: 'attached' });
    for (const [kind, link] of [
      ['.api-field', '> .api-line > a'],
      ['.api-response', '> a'],
    ] as const) {
      const places = operation.locator(kind);
      const ids = await places.evaluateAll((all) => all.map(({ id }) => `#${id}`));
      expect(ids.length).toBeGreaterThan(3);
      expect(
        await places
          .locator(link)
          .evaluateAll((all) => all.map((one) => decodeURIComponent(one.getAttribute('href') ?? ''))),
      ).toEqual(ids);
    }
  });

  test('a link to a field unfolds what is around it, with a script and without', async () => {
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
    const field = page.locator('[id="create-run.body.configuration.queuing.priority"]');
    await page.evaluate(() => {
      const extra = document.createElement('a');
      extra.href = '#create-run.body.configuration.queuing.priority';
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
    await page.getByRole('tab', { name: 'Python' }).first().click();
    await page.goto(`${reference}/versions`);
    const texts = await page
      .locator('[data-tabs=api-language] [data-panel]:visible')
      .evaluateAll((panels) => panels.map((panel) => panel.getAttribute('data-panel')));
    expect(new Set(texts)).toEqual(new Set(['Python']));
  });

  test('a sample is copied unchanged', async () => {
    const page = await visit(runs, { permissions: ['clipboard-read', 'clipboard-write'] });
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
    const first = page.locator('.api').first();
    expect(await first.locator('[data-tabs=api-language] [data-panel]:visible').count()).toBe(3);
    await first.locator('.api-response > summary').first().click();
    await first.locator('[id="create-run.202.body.run_id"]').waitFor({ state: 'visible' });
  });

  test('a page sends no API request', async () => {
    const page = await visit(runs);
    await page.waitForLoadState('networkidle');
    const calls: string[] = [];
    page.on('request', (request) => calls.push(request.url()));
    await page.getByRole('button', { name: 'Expand all' }).click();
    await page.getByRole('tab', { name: 'JavaScript' }).first().click();
    expect(calls).toEqual([]);
  });
});
