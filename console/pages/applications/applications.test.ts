/** The applications page: what needs someone, and what production does, whatever experiments try. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import {
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
} from '@switchyard/server/testing/fixtures/batch-experiments.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

const params = { application_id: 'arithmetic' };
/** One more than a page of the API has. */
const APPLICATIONS = 51;

describe.skipIf(!hasBrowser)('the applications page', () => {
  const at = setUpConsole(async (server) => {
    await createExperimentApplication(server, 'arithmetic', { production: {}, bad: { fails: 'true' } });
    await server.client.call('updateApplication', { params, body: { default_instance: 'production' } });
    // The newest runs fail, and the newest one of the default instance has another version than that instance.
    for (const instance of ['production', 'bad']) {
      const set = { input_set_id: 'sizes', instance_ids: [instance] };
      const { id } = await createBatchExperiment(server, 'arithmetic', set);
      await waitForBatchEnd(server, 'arithmetic', id);
    }
    await server.client.call('createVersion', { params, body: { id: 'v2', name: 'Version two' } });
    const instance = { ...params, instance_id: 'production' };
    await server.client.call('updateInstance', { params: instance, body: { version_id: 'v2' } });
  });

  test('W1: shows the version of the default instance, and trends of production runs alone', async () => {
    const page = await at.open();
    const row = page.getByRole('row').filter({ hasText: 'arithmetic' });
    await row.getByRole('cell', { name: 'production v2' }).waitFor();
    await row.getByRole('cell', { name: '0 %', exact: true }).waitFor();
    await row.getByRole('img', { name: 'Last runs: 3 succeeded' }).waitFor();
    await row.getByRole('img', { name: /^Objective of 3 runs/ }).waitFor();
    expect(await page.getByRole('region', { name: 'What needs you' }).isVisible()).toBe(false);
    await page.goto(`${at.server.url}/console/apps/arithmetic`);
    const table = page.getByRole('table', { name: 'List of recent runs' });
    await table.getByRole('row').nth(3).waitFor();
    expect(await table.getByRole('row').count()).toBe(4);
  });

  test('an application whose production runs fail stands above the list, with the newest failure', async () => {
    const { client } = at.server;
    await client.call('createApplication', { body: { id: 'rosters', name: 'Ψ الورديات Crew rosters' } });
    const result = { status: 'failed', error_message: 'Out of memory' } as const;
    for (const name of ['first', 'second'])
      await client.call('createRun', {
        params: { application_id: 'rosters' },
        body: { input: {}, name, result },
      });
    const readFailed = async () =>
      (await client.call('getUsage', { query: { group_by: 'application' } })).body.items.find(
        ({ application_id }) => application_id === 'rosters',
      )?.failed_runs;
    await expect.poll(readFailed, { timeout: 20_000 }).toBe(2);
    const page = await at.openOnPhone('/');
    const needs = page.getByRole('region', { name: 'What needs you' });
    await needs.getByText('2 of the last 2 production runs failed').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await needs.getByRole('link', { name: 'Newest failure' }).click();
    await page.getByText('Out of memory').first().waitFor();
    // An operator may not read the usage of the account, and sees the failures in the row.
    const other = await at.open('/', { role: 'operator' });
    await other.getByRole('img', { name: 'Last runs: 2 failed' }).waitFor();
    expect(await other.getByRole('region', { name: 'What needs you' }).count()).toBe(0);
  });

  test('a search finds a name on a later page, by keyboard, and stays in the address', async () => {
    const { client } = at.server;
    for (let number = 0; number < APPLICATIONS; number += 1)
      await client.call('createApplication', { body: { id: `plant-${number}`, name: `Plant ${number}` } });
    const page = await at.open();
    await page.getByText('50+ applications').waitFor();
    expect(await page.getByRole('link', { name: 'arithmetic' }).count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Find by name' }).focus();
    await page.keyboard.type('METIC');
    await page.getByRole('link', { name: 'arithmetic' }).waitFor();
    await page.getByText('1 application.').waitFor();
    await page.reload();
    await page.getByText('1 application.').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('METIC');
    await page.keyboard.press('Tab');
    await page.getByRole('searchbox').fill('no such plant');
    await page.getByText('No application has this name').waitFor();
  });

  test('opens with three requests, and with none for a row', async () => {
    const page = await at.open('/account/keys', { role: 'operator' });
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    await page.getByRole('link', { name: 'Applications', exact: true }).first().click();
    await page.getByText('no run yet').first().waitFor();
    const ofRows = /^\/v1\/applications\/[^/]+\/(runs|instances\/)/;
    // The stream of events reads again what is older than its connection.
    const ofPage = new Set(requests.filter((path) => path.startsWith('/v1/')));
    expect(ofPage.size, [...ofPage].join(', ')).toBeLessThanOrEqual(3);
    expect(requests.filter((path) => ofRows.test(path))).toEqual([]);
  });
});
