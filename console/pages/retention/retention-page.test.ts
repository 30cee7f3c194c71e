/** Retention policies in the console. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createRun } from '@switchyard/server/testing/fixtures/apps.ts';
import { createManualClock } from '@switchyard/server/testing/host/manual-clock.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const clock = createManualClock(Date.now() - 20 * DAY_MS);

describe.skipIf(!hasBrowser)('retention', () => {
  const at = setUpConsole(
    async (server) => {
      await server.client.call('createApplication', { body: { id: 'routing', name: 'Routing' } });
      const body = {
        configuration: { run_type: { type: 'external' } },
        result: { status: 'succeeded', execution_duration: 5 },
      };
      for (let count = 0; count < 2; count += 1) await createRun(server, 'routing', { input: {}, body });
      clock.advance(20 * DAY_MS);
    },
    { clock },
  );

  test('previews a policy and saves it', async () => {
    const page = await at.open('/account/retention');
    const row = page.getByRole('row').filter({ hasText: 'routing' });
    await row.getByText('Runs stay').waitFor();
    await page.getByRole('button', { name: 'Change the policy of routing' }).press('Enter');
    const days = page.getByLabel('Days that a run stays after its end');
    await days.fill('30');
    await page.getByText('It deletes no run now.').waitFor();
    await days.fill('10');
    await page.getByRole('status').filter({ hasText: 'It deletes 2 runs now' }).waitFor();
    expect(await page.getByRole('list', { name: 'Examples' }).getByRole('listitem').count()).toBe(2);
    const save = page.getByRole('button', { name: 'Save policy' });
    await page.getByRole('button', { name: 'Confirm the deletion' }).waitFor();
    await page.getByLabel('Type delete to confirm').fill('delete');
    await save.waitFor();
    await days.fill('ten');
    await page.getByRole('button', { name: 'Give a number of days' }).waitFor();
    await days.fill('30');
    await save.click();
    await row.getByText('30 days').waitFor();
    const { body } = await at.server.client.call('getRetention', { params: { application_id: 'routing' } });
    expect(body).toMatchObject({ keep_days: 30, keep_experiment_runs: true });
  });

  test('the form of a policy names its application', async () => {
    const page = await at.open('/account/retention');
    await page.getByRole('button', { name: 'Change the policy of routing' }).click();
    await page.getByRole('dialog', { name: 'Policy of Routing' }).waitFor();
    await page.getByLabel('Days that a run stays after its end').waitFor();
    expect(await page.getByRole('dialog', { name: 'Policy of Routing' }).count()).toBe(1);
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/account/retention');
    await page.getByRole('button', { name: 'Change the policy of routing' }).click();
    await page.getByLabel('Days that a run stays after its end').fill('10');
    await page.getByText('It deletes').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
