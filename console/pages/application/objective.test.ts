/** The objective of an application, which the console sets and its pages follow. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createRunAndWait } from '@switchyard/server/testing/fixtures/apps.ts';
import { createExperimentApplication } from '@switchyard/server/testing/fixtures/batch-experiments.ts';
import { describe, expect, test } from 'vitest';
import { setUpConsole } from '../../testing/console-visit.ts';

describe.skipIf(!hasBrowser)('the objective of an application', () => {
  const at = setUpConsole(async (server) => {
    await createExperimentApplication(server, 'judged', { production: {} });
    await createRunAndWait(server, 'judged', { input: { size: 3 } });
  });

  test('is chosen from the indicators of recent runs, and removed by an empty field', async () => {
    const page = await at.open('/apps/judged');
    const read = async () =>
      (await at.server.client.call('getApplication', { params: { application_id: 'judged' } })).body
        .objective;
    const choose = async (indicator: string) => {
      await page.getByRole('button', { name: 'More actions' }).first().click();
      await page.getByRole('button', { name: 'Objective', exact: true }).click();
      await page.getByLabel('Indicator').last().fill(indicator);
      await page.getByLabel('Direction').selectOption('maximize');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await choose('result.value');
    await page.getByText('more is better').waitFor();
    expect(await read()).toEqual({ name: 'result.value', direction: 'maximize' });
    await choose('');
    const needs = page.getByRole('list', { name: 'What needs you' });
    await needs.getByRole('button', { name: 'Choose the objective' }).click();
    await page.getByRole('dialog', { name: 'Objective' }).waitFor();
    expect(await read()).toBeNull();
  });

  test('decides what a run answers: its change to the baseline, and what must be 0', async () => {
    const { client } = at.server;
    const params = { application_id: 'judged' };
    const runs = [];
    for (const size of [10, 12])
      runs.push((await createRunAndWait(at.server, 'judged', { input: { size } })).id);
    const [before = '', after = ''] = runs;
    const judged = {
      objective: { name: 'result.value', direction: 'minimize' },
      indicators: {
        'result.value': { label: 'Cost', unit: 'EUR' },
        'result.custom.twice': { label: 'Late stops', role: 'violation' },
      },
    } as const;
    await client.call('updateApplication', { params, body: judged });
    const page = await at.open(`/apps/judged/runs/${before}`);
    await page.getByRole('button', { name: 'More actions' }).first().click();
    await page.getByRole('button', { name: 'Use as baseline' }).click();
    await expect
      .poll(async () => (await client.call('getApplication', { params })).body.baseline_run_id)
      .toBe(before);
    await page.goto(`${at.server.url}/console/apps/judged/runs/${after}`);
    const answer = page.locator('dl').filter({ hasText: 'Late stops' });
    await answer.getByText('must be 0').waitFor();
    await answer.getByRole('link', { name: 'baseline' }).waitFor();
    expect(await answer.innerText()).toMatch(/Cost, less is better\s+12\s+EUR\s+▲ \+2\s+worse\s+to baseline/);
    expect(await answer.locator('.bad').allInnerTexts()).toEqual([
      expect.stringMatching(/^▲ \+2\s+worse$/),
      'must be 0',
    ]);
  });
});
