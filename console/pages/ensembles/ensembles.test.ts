/** Ensembles in the console: a definition, its run, and the reason of the selection. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createRun, pushApp, waitForRunEnd } from '@switchyard/server/testing/fixtures/apps.ts';
import {
  createBatchExperiment,
  waitForBatchEnd,
} from '@switchyard/server/testing/fixtures/batch-experiments.ts';
import {
  createEnsemble,
  createEnsembleApp,
  ensembleRunOptions,
  ensembleRunType,
  fetchEnsembleRun,
  runGroup,
  SCRIPTED_APP,
  SCRIPTED_APP_TYPE,
} from '@switchyard/server/testing/fixtures/ensembles.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { PHONE, setUpConsole } from '../../testing/console-visit.ts';

describe.skipIf(!hasBrowser)('ensembles', () => {
  let run = '';
  const at = setUpConsole(async (server) => {
    // Values within 1 of the lowest tie; of those, the highest n wins.
    await createEnsembleApp(server, [
      runGroup('cheap', { value: 10, n: 1 }),
      runGroup('near', { value: 10.5, n: 7 }),
      runGroup('costly', { value: 20, n: 9 }),
      runGroup('broken', { fails: true }),
    ]);
    run = await createRun(server, 'app', ensembleRunOptions());
    await waitForRunEnd(server, 'app', run);
    await createEnsemble(server, 'endless', [runGroup('endless', { waits: true })]);
    const params = { application_id: 'app' };
    await server.client.call('createVersion', { params, body: { id: 'v1', name: 'Version one' } });
    const inputs = { id: 'inputs', name: 'One input', run_ids: [run] };
    await server.client.call('createInputSet', { params, body: inputs });
    await createBatchExperiment(server, 'app', {
      id: 'pays',
      name: 'Does it pay',
      input_set_id: 'inputs',
      runs: [{ version_id: 'v1' }, { ensemble_id: 'best' }],
    });
    await waitForBatchEnd(server, 'app', 'pays');
  });

  test('a definition is made in the form, and runs on pasted input', async () => {
    const page = await at.open('/apps/app/ensembles');
    await page.getByRole('button', { name: 'New ensemble' }).click();
    // The button names what is next, and an id is made from the name.
    await page.getByRole('button', { name: 'Name the ensemble' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Two seeds');
    await page.getByLabel('Options').fill('say={"value":4,"n":1}');
    await page.getByRole('button', { name: 'Add a group' }).click();
    const second = page.getByRole('group', { name: 'Group 2' });
    await second.getByLabel('Options').fill('say');
    await page.getByLabel('Counts as equal within').fill('5');
    await page.getByRole('button', { name: 'Create ensemble' }).click();
    await page.getByRole('alert').filter({ hasText: 'The option "say" has no value' }).waitFor();
    await second.getByLabel('Options').fill('say={"value":3,"n":1}');
    await page.getByRole('button', { name: 'Create ensemble' }).click();
    await page.getByRole('heading', { name: 'Two seeds' }).waitFor();
    await page.getByRole('cell', { name: 'within 5 % of the best' }).waitFor();
    await page.getByText('No run yet').waitFor();

    await page.getByRole('button', { name: 'New run' }).click();
    await page.getByLabel('Input', { exact: true }).selectOption('paste');
    await page.getByRole('textbox', { name: 'Input as JSON' }).click();
    await page.keyboard.insertText('{"hello": "world"}');
    await page.getByRole('button', { name: 'Start run' }).click();
    await page.getByRole('heading', { name: 'Ensemble run' }).waitFor();
    await page.getByText('Of 2 runs, it alone has the lowest result.value, 3').waitFor();
    await page.getByRole('link', { name: 'Definition' }).click();
    await page
      .getByRole('table', { name: 'Runs of the ensemble' })
      .getByRole('link', { name: /^run-/ })
      .waitFor();
  });

  test('the page of a run says which rule decided, and why each other run lost', async () => {
    const page = await at.open(`/apps/app/runs/${run}`);
    await page.getByRole('link', { name: 'best', exact: true }).click();
    await page.getByRole('link', { name: 'near, repetition 1' }).waitFor();
    await page.getByText('Rule 2 decided: of 2 equal runs, it alone has the highest').waitFor();
    const { rules_result } = await fetchEnsembleRun(at.server, run);
    const reasons = rules_result?.decisions.flatMap(({ dropped }) => dropped.map(({ why }) => why)) ?? [];
    expect(reasons).toHaveLength(2);
    const decisions = page.getByRole('region', { name: 'Decisions of the rules' });
    for (const reason of reasons) await decisions.getByText(reason).waitFor();
    await decisions.getByText('broken, repetition 1: It failed').waitFor();
    await page.getByRole('table', { name: 'Values of each group' }).getByText('costly').waitFor();
    await page.getByRole('row', { name: /near.*Best run/ }).waitFor();
  });

  test('an experiment shows the cost of an ensemble, and the best of fewer runs', async () => {
    const page = await at.open('/apps/app/experiments/batch/pays');
    await page.getByRole('button', { name: 'Open all' }).click();
    // One of the three runs that succeed costs 13.5 on average, and the best of all four 10.
    await page.getByRole('img', { name: /^Best of fewer runs of best: 1: 13\.5, .*, 4: 10$/ }).waitFor();
    await page.getByRole('combobox', { name: 'Indicator' }).selectOption('run.total_duration');
    await page.waitForURL(/indicator=run\.total_duration/);
    await page.setViewportSize(PHONE);
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });

  test('child runs come in while the ensemble runs', async () => {
    await pushApp(at.server, 'app', SCRIPTED_APP, SCRIPTED_APP_TYPE);
    const waiting = await createRun(at.server, 'app', {
      input: {},
      body: { configuration: ensembleRunType('endless') },
    });
    const page = await at.open(`/apps/app/ensembles/endless/runs/${waiting}`);
    await page.getByText('0 of 1 child runs have ended').waitFor();
    await page.getByRole('row', { name: /endless/ }).waitFor();
    await at.server.client.call('cancelRun', { params: { application_id: 'app', run_id: waiting } });
    await page
      .getByRole('main')
      .getByText(/canceled/i)
      .first()
      .waitFor();
  });

  test('an ensemble is renamed and deleted; a viewer can do neither', async () => {
    const viewer = await at.open('/apps/app/ensembles/endless', { role: 'viewer' });
    await viewer.getByRole('heading', { name: 'Run groups' }).waitFor();
    expect(
      await viewer
        .getByRole('main')
        .getByRole('button', { name: /run|name|elete/i })
        .count(),
    ).toBe(0);
    const page = await at.open('/apps/app/ensembles/endless');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Never ends');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Never ends' }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel('Type endless to confirm').fill('endless');
    await page.getByRole('button', { name: 'Delete ensemble' }).click();
    await page.getByRole('heading', { name: 'Ensembles' }).waitFor();
    expect(await page.getByRole('link', { name: 'Never ends' }).count()).toBe(0);
  });

  test('every page is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/apps/app/ensembles');
    for (const [path, text] of [
      ['ensembles', 'Any name'],
      ['ensembles/best', 'Run groups'],
      [`ensembles/best/runs/${run}`, 'Gain and cost'],
      ['new-ensemble', 'Rule 1'],
    ] as const) {
      await page.goto(`${at.server.url}/console/apps/app/${path}`);
      await page.getByRole('main').getByText(text).first().waitFor();
      expect(await findAccessibilityProblems(page)).toEqual([]);
    }
  });
});
