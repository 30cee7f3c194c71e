/** The form of a new experiment, for each type. The server executes no run. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createAcceptanceApp, createInputSet } from '@switchyard/server/testing/fixtures/acceptance-tests.ts';
import { createRun } from '@switchyard/server/testing/fixtures/apps.ts';
import { WITHOUT_EXECUTION } from '@switchyard/server/testing/fixtures/chosen-outcomes.ts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { saveScreenshot } from '../../testing/save-screenshot.ts';
import { prepareApplication, prepareBatch } from '../experiment/testing/prepare-experiments.ts';

describe.skipIf(!hasBrowser)('the form of a new experiment', () => {
  let application = '';
  const at = setUpConsole(
    async (server) => {
      application = await createAcceptanceApp(server);
      const inputs = Array.from({ length: 12 }, (_, size) => ({ control: size }));
      await createInputSet(server, application, inputs);
      const params = { application_id: application };
      await server.client.call('createVersion', { params, body: { id: 'v2', name: 'Version two' } });
      for (const [instance, execution_duration] of [
        ['control', 60_000],
        ['candidate', 120_000],
      ] as const)
        await createRun(server, application, {
          instance,
          input: {},
          body: {
            configuration: { run_type: { type: 'external' } },
            result: { status: 'succeeded', execution_duration },
          },
        });
    },
    { env: WITHOUT_EXECUTION },
  );
  const open = (type: string, options = {}) =>
    at.open(`/apps/${application}/new-experiment?type=${type}`, options);
  const choose = (page: Page) =>
    page.getByRole('combobox', { name: 'Candidate', exact: true }).selectOption('candidate');
  const check = (page: Page) => page.getByRole('checkbox', { name: 'candidate', exact: true }).check();
  const submit = async (page: Page, action: string, name: string) => {
    await page.getByRole('button', { name: 'Name the experiment' }).click();
    await page.keyboard.type(name);
    await page.getByRole('button', { name: action, exact: true }).click();
    await page.getByRole('heading', { name }).waitFor();
  };

  test('shows the plan of a batch experiment, and starts it', async () => {
    const page = await at.open(`/apps/${application}/experiments`);
    await page.getByRole('link', { name: 'New experiment' }).click();
    await page.getByRole('heading', { name: 'New experiment' }).waitFor();
    const plan = page.getByRole('region', { name: 'Plan of the experiment' });
    expect(await plan.getByText('runs in all.').count()).toBe(0);
    // Nothing is chosen, and the button goes to what is next.
    await page.getByRole('button', { name: 'Choose a candidate' }).press('Enter');
    await page.keyboard.press('Space');
    await plan.getByText('24 runs in all.').waitFor();
    await plan.getByLabel('Slots').fill('4');
    // Six rounds of four runs, which take 60 or 120 s.
    await plan.getByText('About 9 min with 4 slots').waitFor();
    await plan.getByText(/A plan of 12 inputs finds differences from .* on/).waitFor();
    await page.getByLabel('Repetitions').first().fill('3');
    await plan.getByText('72 runs in all.').waitFor();
    await plan.getByText(/A plan of 12 inputs with 3 repetitions/).waitFor();
    await saveScreenshot(plan, 'using-switchyard/experiments/console-plan.png');
    await submit(page, 'Start 72 runs', 'Cheaper routes');
    await page.waitForURL(/\/experiments\/batch\/cheaper-routes$/);
    const { body } = await at.server.client.call('getBatchExperimentMetadata', {
      params: { application_id: application, batch_id: 'cheaper-routes' },
    });
    expect(body).toMatchObject({
      instance_ids: ['control', 'candidate'],
      primary: 'result.value',
      number_of_requested_runs: 72,
    });
  });

  test('begins with an assumption where the latest experiment has no number of the indicator', async () => {
    const prepared = await prepareApplication(at.server);
    const id = await prepareBatch(at.server, prepared, { name: 'Earlier' });
    const page = await at.open(`/apps/${prepared.application}/new-experiment?type=batch`);
    const plan = page.getByRole('region', { name: 'Plan of the experiment' });
    const spread = plan.getByLabel('Spread', { exact: true });
    await plan.getByText(/A plan of 12 inputs finds/).waitFor();
    expect(await spread.inputValue()).toBe(id);
    await page.getByLabel('Primary indicator').fill('result.custom.unknown');
    await plan.getByLabel('Spread of inputs, %').waitFor();
    expect(await spread.inputValue()).toBe('');
    expect(await plan.getByRole('status').count()).toBe(0);
  });

  test('F1, F2: starts an experiment again with its settings: guardrails, seeds, priority and maximum duration', async () => {
    const page = await open('batch', { permissions: ['clipboard-read', 'clipboard-write'] });
    await check(page);
    await page.getByLabel('Description').fill('Is the plan of winter late more often than ours?');
    await page.getByRole('button', { name: 'Add a guardrail' }).click();
    const guardrail = page.getByRole('group', { name: 'Guardrail 1' });
    await guardrail.getByLabel('Indicator').fill('result.custom.late');
    await page.getByText('More settings').click();
    await page.getByLabel('Seeds').fill('1, 2');
    await page.getByLabel('Option that gets the seed').fill('side');
    await page.getByLabel('Queue priority').selectOption('4');
    await page.getByLabel('Maximum duration of a run, s').fill('120');
    await page.getByText('48 runs in all.').waitFor();
    await page.getByText('Python', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy as Python' }).click();
    const program = await page.evaluate(() => navigator.clipboard.readText());
    expect(program).toContain('\\"guardrails\\":[\\"result.custom.late\\"]');
    await submit(page, 'Start 48 runs', 'Late in winter');

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('link', { name: 'Start again' }).click();
    await page.getByRole('heading', { name: 'New experiment' }).waitFor();
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Late in winter 2');
    await page.getByRole('button', { name: 'Start 48 runs' }).click();
    await page.waitForURL(/\/experiments\/batch\/late-in-winter-2$/);
    const [one, other] = await Promise.all(
      ['late-in-winter', 'late-in-winter-2'].map(async (batch_id) => {
        const params = { application_id: application, batch_id };
        const { body } = await at.server.client.call('getBatchExperimentMetadata', { params });
        const { instance_ids, objectives, primary, guardrails, seeds, seed_option, description } = body;
        const { priority, max_duration } = body;
        return {
          ...{ instance_ids, objectives, primary, guardrails, seeds, seed_option, description },
          ...{ priority, max_duration },
        };
      }),
    );
    expect(one).toMatchObject({ guardrails: ['result.custom.late'], seeds: ['1', '2'], seed_option: 'side' });
    expect(one).toMatchObject({ priority: 4, max_duration: 120 });
    expect(other).toEqual(one);
  });

  test('searches more than twelve candidates, which stand as chips that can be removed', async () => {
    const params = { application_id: application };
    for (let index = 0; index < 12; index += 1)
      await at.server.client.call('createInstance', {
        params,
        body: { id: `many-${index}`, name: `Many ${index}`, version_id: 'v1' },
      });
    const page = await open('batch');
    await page.getByRole('button', { name: 'Choose a candidate' }).press('Enter');
    await page.keyboard.type('many-7');
    await page.keyboard.press('Enter');
    const chips = page.getByRole('list', { name: 'Chosen candidates' });
    await chips.getByText('many-7').waitFor();
    await page.getByText('24 runs in all.').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await chips.getByRole('button', { name: 'Remove many-7' }).click();
    await page.getByRole('button', { name: 'Choose a candidate' }).waitFor();
    for (let index = 0; index < 12; index += 1)
      await at.server.client.call('deleteInstance', { params: { ...params, instance_id: `many-${index}` } });
  });

  test('starts a scenario test of option sets, and says when they are not JSON', async () => {
    const page = await open('scenario');
    await check(page);
    await page.getByLabel('Option sets').fill('{"a": {"side": "control"}');
    await page.getByRole('alert').filter({ hasText: 'The option sets are not JSON' }).waitFor();
    await page.getByLabel('Option sets').fill('{"a": {"side": "control"}, "b": {"side": "candidate"}}');
    await page.getByText('48 runs in all.').waitFor();
    await submit(page, 'Start 48 runs', 'Which side');
    await page.waitForURL(/\/experiments\/scenario\/which-side$/);
  });

  test('starts an acceptance test with two rules', async () => {
    const page = await open('acceptance');
    await choose(page);
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByRole('group', { name: 'Rule 2' }).getByLabel('Accepted loss').fill('2');
    await page
      .getByRole('group', { name: 'Rule 2' })
      .getByLabel(/^By the 95 % bound/)
      .check();
    await submit(page, 'Start 24 runs', 'Ready for winter');
    await page.getByText('mean of result.value: candidate ≤ control + 2 %, by the 95 % bound').waitFor();
    await page.goto(`${at.server.url}/console/apps/${application}/new-experiment?type=acceptance`);
    await choose(page);
    await page.getByLabel('Runs to evaluate').selectOption('Those of Ready for winter');
    expect(await page.getByLabel('Input set').count()).toBe(0);
    await submit(page, 'Start test', 'Second look');
    const params = { application_id: application, acceptance_id: 'second-look' };
    const { body } = await at.server.client.call('getAcceptanceTest', { params });
    expect(body).toMatchObject({ experiment_id: 'ready-for-winter', tests_on_batch: 2 });
  });

  test('F4: creates drafts of tests on live runs, also two of one name', async () => {
    const page = await open('shadow');
    await check(page);
    await submit(page, 'Create draft', 'Shadow of winter');
    await page.getByText('Draft', { exact: true }).waitFor();
    const newPage = `${at.server.url}/console/apps/${application}/new-experiment`;
    // F4: an id from the name gets the day when another test has it.
    await page.goto(`${newPage}?type=shadow`);
    await check(page);
    await submit(page, 'Create draft', 'Shadow of winter');
    await page.waitForURL(/\/experiments\/shadow\/shadow-of-winter-\d{4}-\d\d-\d\d$/);
    await page.goto(`${newPage}?type=switchback`);
    await choose(page);
    await page
      .getByRole('region', { name: 'Plan of the experiment' })
      .getByText(/plan \d+ units/)
      .waitFor();
    await submit(page, 'Create draft', 'Turns of winter');
    await page.getByRole('img', { name: 'Units: 20 of control and candidate, 0 with a number' }).waitFor();
  });

  test('shows the refusal of the server, and has the request as a command', async () => {
    const page = await open('bisect', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByLabel('Bad version').selectOption('v1');
    await page.getByRole('textbox', { name: 'Name' }).fill('Nothing to search');
    await page.getByRole('button', { name: 'Start search' }).click();
    await page.getByRole('alert').filter({ hasText: 'version' }).waitFor();
    await page.getByText('curl', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    expect(command).toContain(`/v1/applications/${application}/experiments/bisect`);
    await page.getByLabel('Bad version').selectOption('v2');
    await page
      .getByText(
        /^At most 1 version to test, each in rounds of 24 runs, .*: 144 runs if .* at most 10,000\.$/,
      )
      .waitFor();
    await page.getByText('The fewest rounds take about 2 h 24 min with 1 slot').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Since winter');
    await page.getByRole('button', { name: 'Start search' }).click();
    await page.getByRole('heading', { name: 'Since winter' }).waitFor();
  });

  test.each(['batch', 'acceptance', 'switchback'])(
    'is accessible on a phone for the type %s',
    async (type) => {
      const page = await at.openOnPhone(`/apps/${application}/new-experiment?type=${type}`);
      await page.getByRole('heading', { name: 'New experiment' }).waitFor();
      expect(await findAccessibilityProblems(page)).toEqual([]);
    },
  );

  test('shows no button to a viewer', async () => {
    const page = await open('batch', { role: 'viewer' });
    await page.getByText('Your role, viewer, cannot create experiments.').waitFor();
    expect(await page.getByRole('button', { name: /^(Start|Choose)/ }).count()).toBe(0);
  });
});
