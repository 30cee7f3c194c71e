/** The audit log in the console. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createApplication } from '@switchyard/server/testing/fixtures/resources.ts';
import { waitUntil } from '@switchyard/server/testing/host/wait-until.ts';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { findBrokenEntries } from './verify-entries.ts';

const CHANGES = 55;

/** More entries than a page holds, all of them in the chain. */
async function makeEntries(server: TestServer): Promise<void> {
  for (let index = 0; index < CHANGES; index++) await createApplication(server);
  await waitUntil('every entry is in the chain', async () => {
    const { body } = await server.client.call('getAuditHead');
    return body.number > CHANGES;
  });
}

describe.skipIf(!hasBrowser)('the audit log', () => {
  const at = setUpConsole(makeEntries);

  test('filters by what was done, and shows more as the reader scrolls', async () => {
    const page = await at.open('/account/audit');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('button', { name: 'Operation' }).click();
    await page.getByLabel('Search').fill('create an app');
    await page.getByLabel('Create an application').click();
    await page.waitForURL(/operation=createApplication/);
    await page.getByRole('button', { name: 'Operation Create an application' }).waitFor();
    const rows = page.getByRole('table', { name: 'Audit log' }).locator('tbody tr');
    await page.keyboard.press('End');
    await expect.poll(() => rows.count()).toBe(CHANGES);
    await page.getByText(`${CHANGES} entries.`).waitFor();
    expect(await rows.first().innerText()).toMatch(/^Create an application\n/);
    await rows.first().getByRole('link').click();
    await page.waitForURL(/\/console\/apps\/[^/]+$/);
  });

  test('verifies the entries, and shows the head', async () => {
    const page = await at.open('/account/audit?operation=createApplication');
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('The listed entries match their hashes.').waitFor();
    const { body } = await at.server.client.call('listAuditEntries', {
      query: { operation: 'createApplication' },
    });
    const [newest, ...rest] = body.items;
    if (!newest) throw new Error('The log has no entry.');
    expect(await findBrokenEntries([{ ...newest, address: 'forged' }, ...rest])).toEqual([newest.number]);
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/account/audit');
    await page.getByRole('table', { name: 'Audit log' }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
