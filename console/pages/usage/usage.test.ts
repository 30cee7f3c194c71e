/** Usage and cost in the console. */
import { readFileSync } from 'node:fs';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createRun } from '@switchyard/server/testing/fixtures/apps.ts';
import { waitUntil } from '@switchyard/server/testing/host/wait-until.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

describe.skipIf(!hasBrowser)('usage', () => {
  const at = setUpConsole(async (server) => {
    await server.client.call('createApplication', { body: { id: 'routing', name: 'Routing' } });
    const result = { status: 'succeeded', execution_duration: 5 };
    const body = { configuration: { run_type: { type: 'external' } }, result };
    for (let count = 0; count < 3; count += 1) await createRun(server, 'routing', { input: {}, body });
    await waitUntil('the runs are counted', async () => {
      const { body } = await server.client.call('getUsage');
      return body.total.runs === 3;
    });
  });

  test('shows the table, keeps its state in the address, saves a CSV and prices core hours', async () => {
    const page = await at.open('/account/usage');
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    for (const number of ['Core hours', 'Runs', 'Stored'])
      await page.getByRole('term').filter({ hasText: number }).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'routing' });
    expect(await row.getByRole('cell').allTextContents()).toEqual(
      expect.arrayContaining(['Routing', '3', '0', '–']),
    );
    await page.getByLabel('Group by').selectOption({ label: 'User' });
    await page.getByRole('columnheader', { name: 'User' }).waitFor();
    await page.reload();
    await page.getByRole('cell', { name: 'root@localhost' }).waitFor();
    await page.getByRole('button', { name: 'Cost rate' }).press('Enter');
    await page.getByLabel('Price of a core hour').fill('0.5');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('A core hour costs 0.5 EUR').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    const [header, first] = readFileSync(await download.path(), 'utf8').split('\r\n');
    expect(header).toBe('user_email,runs,failed_runs,run_seconds,core_seconds,stored_bytes,cost');
    expect(first).toMatch(/^root@localhost,3,0,0,0,\d+,0$/);
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/account/usage');
    await page.getByText(/^All of it on/).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
