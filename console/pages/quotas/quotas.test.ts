/** Quotas in the console. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

describe.skipIf(!hasBrowser)('quotas', () => {
  const at = setUpConsole(async (server) => {
    await server.client.call('createApplication', { body: { id: 'routing', name: 'Routing' } });
  });

  test('say why the applications cannot be listed, and list them at the next press', async () => {
    const page = await at.open('/account/quotas');
    const choose = page.getByRole('button', { name: 'Limit another application' });
    await page.route('**/v1/applications?**', (route) => route.fulfill({ status: 403 }), { times: 1 });
    await choose.click();
    await page.getByRole('alert').waitFor();
    await choose.click();
    await page.getByLabel('Limit another application').waitFor();
  });

  test('are set by the keyboard and shown as bars', async () => {
    const page = await at.open('/account/quotas');
    await page.getByRole('heading', { name: 'Quotas', level: 1 }).waitFor();
    expect(await page.title()).toBe('Quotas · Switchyard');
    expect(await page.getByText('No quota.').count()).toBe(2);
    await page.getByRole('button', { name: 'Change quotas' }).press('Enter');
    const runs = page.getByRole('textbox', { name: 'Runs at once' });
    await runs.fill('none');
    await page.getByLabel('Core hours a month').focus();
    await page.getByRole('button', { name: 'Correct the number' }).click();
    expect(await runs.evaluate((field) => field === document.activeElement)).toBe(true);
    await runs.fill('8');
    await page.getByLabel('Core hours a month').fill('0');
    await page.getByRole('button', { name: 'Save quotas' }).press('Enter');
    await page.getByText('0 of 8').waitFor();
    await page.getByText('The core hours of this month are used up').waitFor();
    expect(await page.getByRole('meter').count()).toBe(2);
    const { body } = await at.server.client.call('getQuotas');
    expect(body).toMatchObject({ concurrent_runs: 8, core_hours_per_month: 0, applications: [] });
    await page.getByRole('button', { name: 'Limit another application' }).press('Enter');
    await page.getByLabel('Limit another application').selectOption('routing');
    await page.getByRole('dialog', { name: 'Quotas of routing' }).getByLabel('Runs at once').fill('2');
    await page.getByRole('button', { name: 'Save quotas' }).press('Enter');
    const row = page.getByRole('row').filter({ hasText: 'routing' });
    await row.getByText('0 of 2').waitFor();
    await row.getByRole('button', { name: 'Change the quotas of routing' }).waitFor();
  });

  test('of licences are set as lines, and shown with their use', async () => {
    const page = await at.open('/account/quotas');
    await page.getByRole('button', { name: 'Change licences' }).press('Enter');
    const field = page.getByLabel('Licences and their tokens');
    await field.fill('gurobi = four');
    await page.getByText('Line 1 is not').waitFor();
    await page.getByRole('button', { name: 'Correct the line' }).waitFor();
    await field.fill('gurobi = 4\nxpress = 1');
    await page.getByRole('button', { name: 'Save licences' }).press('Enter');
    const rows = page.getByRole('table', { name: 'Licences' }).getByRole('row');
    await rows.filter({ hasText: 'gurobi' }).getByText('0 of 4').waitFor();
    const { body } = await at.server.client.call('getLicenses');
    expect(body.licenses.map(({ name, total }) => [name, total])).toEqual([
      ['gurobi', 4],
      ['xpress', 1],
    ]);
  });

  test('have no button for an operator', async () => {
    const page = await at.open('/account/quotas', { role: 'operator' });
    await page.getByRole('term').filter({ hasText: 'Runs at once' }).waitFor();
    expect(await page.getByRole('button', { name: /^Change/ }).count()).toBe(0);
  });

  test('are accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/account/quotas');
    await page.getByRole('button', { name: 'Change quotas' }).click();
    await page.getByRole('textbox', { name: 'Runs at once' }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
