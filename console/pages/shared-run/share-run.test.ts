/** Sharing a run from its page, and the page behind the link. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createRunAndWait, pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

const OUTPUT = JSON.stringify({
  solution: '<img src=x onerror=alert(1)>',
  statistics: { schema: 'v1', result: { value: 7 } },
  assets: [{ name: 'Page', content: ['<b>from the app</b>'], visual: { schema: 'html', label: 'Page' } }],
});
const SHIFTS = JSON.stringify({
  shifts: [
    { employee: 'ana', shift: 'early', start: '2026-05-04T08:00:00+02:00', end: '2026-05-04T16:00:00+02:00' },
  ],
  statistics: { schema: 'v1', result: { value: 7 } },
});
const FILES = {
  'main.sh': `#!/bin/sh\ncat > /dev/null\necho "a secret line" >&2\ncat <<'END'\n${OUTPUT}\nEND\n`,
};

describe.skipIf(!hasBrowser)('sharing a run', () => {
  let run = '';
  const at = setUpConsole(async (server) => {
    const shell = { executable_type: 'binary', runtime: 'binary', entrypoint: 'main.sh' } as const;
    await pushApp(server, 'routing', FILES, shell);
    await pushApp(server, 'shifts', { 'main.sh': `#!/bin/sh\ncat > /dev/null\necho '${SHIFTS}'\n` }, shell);
    await server.client.call('trustHtmlAssets', { params: { application_id: 'routing' } });
    run = (await createRunAndWait(server, 'routing', { input: {} })).id;
  });

  test('A2: a link shows the chosen parts without sign-in until it is revoked, and asks before it runs a page', async () => {
    const page = await at.open(`/apps/routing/runs/${run}`);
    await page.getByRole('button', { name: 'Share' }).press('Enter');
    await page.getByRole('checkbox', { name: 'Summary' }).press('Space');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Create link' }).click();
    await page.getByText('The link is copied.').waitFor();
    const link = await page.getByLabel('New link', { exact: true }).inputValue();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link);
    await page
      .getByRole('list', { name: 'Links of this run' })
      .getByText('Indicators, Output, Assets')
      .waitFor();
    const params = { application_id: 'routing', run_id: run };
    const [share] = (await at.server.client.call('listShares', { params })).body.items;
    expect(share?.url).toBe(link);
    const visit = await at.openSignedOut(new URL(link).pathname.replace('/console', ''), {
      viewport: { width: 390, height: 844 },
    });
    await visit.getByRole('heading', { name: 'Output' }).waitFor();
    await visit.getByText('Objective', { exact: true }).waitFor();
    await visit.getByRole('heading', { name: 'Indicators' }).click();
    await visit.getByText('result.value', { exact: true }).waitFor();
    await visit.getByText('onerror=alert(1)').first().waitFor();
    expect(await visit.getByText('a secret line').count()).toBe(0);
    // A2: the administrator trusts the app, but not on behalf of everybody with a link.
    await visit.getByText('This page can send what it shows to its author.').waitFor();
    expect(await visit.locator('iframe').count()).toBe(0);
    expect(await visit.getByText(run).count()).toBe(0);
    expect(await findAccessibilityProblems(visit)).toEqual([]);
    const phone = await at.openOnPhone('/account/shares');
    const row = phone.getByRole('row').filter({ hasText: 'indicators, output, assets' });
    await row.getByRole('cell', { name: 'Views 1' }).waitFor();
    expect(await phone.title()).toBe('Share links · Switchyard');
    expect(await findAccessibilityProblems(phone)).toEqual([]);
    await row.getByRole('button', { name: /^Actions of/ }).press('Enter');
    await row.getByRole('button', { name: /^Revoke/ }).press('Enter');
    await phone.getByRole('button', { name: 'Revoke link' }).press('Enter');
    await phone.getByRole('heading', { name: 'No run is shared' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Share' }).press('Enter');
    await page.getByRole('button', { name: 'Create link' }).waitFor();
    expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(0);
    expect((await at.server.client.call('listShares', { params })).body.items).toEqual([]);
  });

  test('the plan stands first, with its zone; a browser that refuses the clipboard shows the link to copy', async () => {
    const run = await createRunAndWait(at.server, 'shifts', { input: {}, body: { name: 'Monday' } });
    const page = await at.open(`/apps/shifts/runs/${run.id}`);
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));
    });
    await page.getByRole('button', { name: 'Share' }).press('Enter');
    await page.getByRole('button', { name: 'Create link' }).click();
    await page.getByText('Copy the link yourself').waitFor();
    const link = await page.getByLabel('New link', { exact: true }).inputValue();
    const visit = await at.openSignedOut(new URL(link).pathname.replace('/console', ''));
    await visit.getByRole('listbox', { name: 'Schedule: Gantt chart' }).waitFor();
    await visit.getByText('times in UTC+2').waitFor();
    await visit.getByText(/^read-only, until \d+ \w+, \d\d:\d\d (UTC|GMT|[A-Z]+)/).waitFor();
    const order = visit.getByRole('heading').or(visit.getByRole('listbox')).or(visit.getByRole('term'));
    expect(await order.allInnerTexts()).toEqual([
      'Monday',
      expect.stringContaining('early'),
      'Objective',
      ...['Output', 'Indicators', 'Run'],
    ]);
    expect(await findAccessibilityProblems(visit)).toEqual([]);
  });

  test('a link that does not work says so', async () => {
    const page = await at.openSignedOut('/shared/share-unknown.x');
    await page.getByRole('alert').filter({ hasText: 'unknown, expired or revoked' }).waitFor();
  });
});
