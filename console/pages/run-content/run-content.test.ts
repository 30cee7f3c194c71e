/** The output of a run as tree, table and text, also that of a hostile app. */
import { readFile } from 'node:fs/promises';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createRunAndWait, pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { PHONE, setUpConsole } from '../../testing/console-visit.ts';
import {
  ECHO_APP,
  ECHO_APP_TYPE,
  formatHostileOutput,
  HOSTILE_ASSETS,
} from '../../testing/hostile-output.ts';

describe.skipIf(!hasBrowser)('the content of a run', () => {
  let run = '';
  const at = setUpConsole(async (server) => {
    await pushApp(server, 'echo', ECHO_APP, ECHO_APP_TYPE);
    run = (await createRunAndWait(server, 'echo', { input: JSON.parse(formatHostileOutput()) })).id;
  });
  const open = (query: string, options: Parameters<typeof at.open>[1] = {}): Promise<Page> =>
    at.open(`/apps/echo/runs/${run}/content${query}`, options);

  test('the tree opens, folds and moves by the keyboard', async () => {
    const page = await open('?mode=tree');
    const tree = page.getByRole('tree', { name: 'Output' });
    await tree.focus();
    const selected = page.getByRole('treeitem', { selected: true });
    await page.keyboard.press('ArrowLeft');
    expect(await selected.getAttribute('aria-expanded')).toBe('false');
    expect(await page.getByRole('treeitem').count()).toBe(1);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    expect(await selected.textContent()).toContain('__proto__');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Home');
    expect(await selected.getAttribute('aria-level')).toBe('1');
  });

  test('hostile names and values are text in every view', async () => {
    const page = await open('?mode=tree');
    await page.getByRole('treeitem').filter({ hasText: 'onerror' }).first().waitFor();
    // The mark that reverses text is written as an escape.
    await page.getByRole('treeitem').filter({ hasText: 'plan\\u202egnp.exe' }).first().waitFor();
    await page.getByRole('button', { name: 'Table', exact: true }).click();
    await page.getByRole('cell').filter({ hasText: 'onerror' }).first().waitFor();
    await page.getByRole('button', { name: 'Raw', exact: true }).click();
    await page.getByRole('textbox', { name: 'Output' }).waitFor();
    expect(new URL(page.url()).searchParams.get('mode')).toBe('raw');
    expect(await page.title()).not.toContain('hacked');
    expect(await page.evaluate(() => Object.hasOwn(Object.prototype, 'polluted'))).toBe(false);
  });

  test('the table sorts by number, keeps its place in the address, and downloads harmless CSV', async () => {
    const page = await open('?mode=table');
    await page.getByLabel('Array').selectOption('solution.rows');
    await page.getByRole('button', { name: 'amount' }).click();
    const amounts = page.locator('tbody tr td:nth-child(2)');
    expect(await amounts.allTextContents()).toEqual(['-5', '3', '20']);
    await page.getByRole('button', { name: 'amount' }).click();
    expect(await amounts.allTextContents()).toEqual(['20', '3', '-5']);
    const waiting = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const csv = await readFile(await (await waiting).path(), 'utf8');
    expect(csv.split('\r\n')[3]).toBe("plain,-5,'-1+1");
    expect(csv).toContain(`"'=HYPERLINK(""https://evil.example"",""x"")"`);
  });

  test('the download has the bytes of the run', async () => {
    const page = await open('?part=input');
    const waiting = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    const download = await waiting;
    expect(download.suggestedFilename()).toBe(`${run}-input.json`);
    expect(JSON.parse(await readFile(await download.path(), 'utf8'))).toEqual(
      JSON.parse(formatHostileOutput()),
    );
  });

  test('A2: maps, charts and pages of an app are drawn without the origin of the console, pages after a click until an administrator trusts the app', async () => {
    const assets = await createRunAndWait(at.server, 'echo', { input: HOSTILE_ASSETS });
    const page = await at.open(`/apps/echo/runs/${assets.id}/content?part=assets`);
    await page.getByRole('heading', { name: 'Assets of' }).waitFor();
    await page.getByRole('img', { name: 'Map' }).waitFor();
    // One of the two shapes has no usable position.
    await page.getByText('1 shape has no usable coordinates').waitFor();
    await page.getByRole('listitem').filter({ hasText: '<script>' }).waitFor();
    await page.frameLocator('iframe[title="Load 1"]').getByRole('img', { name: 'Load 1' }).waitFor();
    const hostile = page.frameLocator('iframe[title="Page 1"]');
    await page.getByText('This page can send what it shows to its author.').waitFor();
    expect(await page.locator('iframe[title="Page 1"]').count()).toBe(0);
    await page.getByRole('button', { name: 'Run page' }).press('Enter');
    await hostile.getByText('cookie refused, parent refused, origin null').waitFor();
    expect(await page.title()).not.toContain('hacked');
    const settings = await at.open('/apps/echo');
    await settings.getByRole('button', { name: 'More actions' }).press('Enter');
    await settings.getByRole('button', { name: 'Trust HTML assets' }).press('Enter');
    const dialog = settings.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Trust HTML assets' }).press('Enter');
    await settings.getByText('run as soon as someone opens them; trusted by root@localhost').waitFor();
    await page.reload();
    await hostile.getByText('cookie refused, parent refused, origin null').waitFor();
    await settings.getByRole('button', { name: 'More actions' }).press('Enter');
    await settings.getByRole('button', { name: 'Stop trusting HTML assets' }).press('Enter');
    await dialog.getByRole('button', { name: 'Stop trusting HTML assets' }).press('Enter');
    await settings.getByText('run after a click, because').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Run page' }).waitFor();
  });

  test('every view is accessible on a phone in both themes', async () => {
    const page = await open('?mode=tree', { viewport: PHONE });
    await page.getByRole('tree').waitFor();
    for (const view of ['Tree', 'Table', 'Raw']) {
      await page.getByRole('button', { name: view, exact: true }).click();
      if (view === 'Raw') await page.getByRole('textbox', { name: 'Output' }).waitFor();
      expect(await findAccessibilityProblems(page)).toEqual([]);
    }
  });
});
