/** The rows of the applications page say what production does, whatever experiments try. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import {
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
} from '@switchyard/server/testing/fixtures/batch-experiments.ts';
import { describe, expect, test } from 'vitest';
import { setUpConsole } from '../../testing/console-visit.ts';

const params = { application_id: 'arithmetic' };

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
    await row.getByRole('cell', { name: 'production · v2' }).waitFor();
    await row.getByRole('cell', { name: '0 %', exact: true }).waitFor();
    await row.getByRole('img', { name: /^Objective of 3 runs/ }).waitFor();
    await page.goto(`${at.server.url}/console/apps/arithmetic`);
    const table = page.getByRole('region', { name: 'List of recent runs' });
    await table.getByRole('row').nth(3).waitFor();
    expect(await table.getByRole('row').count()).toBe(4);
  });
});
