/** The table of runs, and the pages of an application around it. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { measureLayoutShift } from '@switchyard/browser-testing/layout-shift.ts';
import { createRun, pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import { endRunsWith, type RunOutcome } from '@switchyard/server/testing/fixtures/run-outcomes.ts';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

/** Without slots, a run stays queued until the test ends it. */
const NO_SLOTS = { SWITCHYARD_CAPACITY: '6c9500mb870s=0' };
const APP = { main: '#!/bin/sh\necho {}\n' };
const RUNS = 58;
const PAGE_RUNS = 50;
const HOSTILE_NAME = '<img src=x onerror="alert(1)">';

/** Creates an application with runs that have ended, named by their number, and one that is queued. */
async function prepareRuns(server: TestServer): Promise<void> {
  await pushApp(server, 'routing', APP, { executable_type: 'binary' });
  const outcomes = new Map<string, RunOutcome>();
  for (let number = 1; number <= RUNS; number += 1) {
    const body = { name: `tour ${number}`, options: { duration: String(number % 7) } };
    const outcome =
      number % 10 === 0 ? 'failed' : { 'result.value': 2000 - number, 'result.custom.late': number % 3 };
    outcomes.set(await createRun(server, 'routing', { input: {}, body }), outcome);
  }
  await endRunsWith(server, outcomes, Date.now());
  await createRun(server, 'routing', { input: {}, body: { name: HOSTILE_NAME } });
  await pushApp(server, 'small', APP, { executable_type: 'binary' });
}

const listNames = (page: Page) => page.getByRole('row').getByRole('link').allTextContents();

describe.skipIf(!hasBrowser)('the runs of an application', () => {
  const at = setUpConsole(prepareRuns, { env: NO_SLOTS });

  test('are listed newest first by pages, with what they reported', async () => {
    const page = await at.open('/apps/routing/runs');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    const grid = page.getByRole('grid', { name: 'Runs' });
    expect((await listNames(page)).slice(0, 3)).toEqual([HOSTILE_NAME, 'tour 58', 'tour 57']);
    const row = grid.getByRole('row', { name: 'tour 58, succeeded' });
    expect(await row.getByText('1,942').isVisible()).toBe(true);
    expect(await page.title()).toBe('Runs · routing · Switchyard');
    expect(await grid.getAttribute('aria-rowcount')).toBe(String(PAGE_RUNS + 1));
    expect(await page.evaluate(measureLayoutShift)).toBeLessThan(0.01);
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText(`${RUNS + 1} runs`).waitFor();
  });

  test('are chosen and opened by the keyboard alone, and the address keeps the selection', async () => {
    const page = await at.open('/apps/routing/runs');
    await page.getByRole('row', { name: HOSTILE_NAME }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.getByText('2 runs selected').waitFor();
    expect(await page.getByRole('button', { name: 'Compare' }).isEnabled()).toBe(true);
    await page.reload();
    await page.getByText('2 runs selected').waitFor();
    await page.getByRole('row', { name: 'tour 57' }).focus();
    await page.keyboard.press('x');
    await page.getByText('1 run selected').waitFor();
    expect(await page.getByRole('button', { name: 'Compare' }).isDisabled()).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/console\/apps\/routing\/runs\/run-/);
    await page.goBack();
    await page.getByText('1 run selected').waitFor();
  });

  test('show any indicator or option as a column', async () => {
    const page = await at.open('/apps/routing/runs');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'result.custom.late' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'result.custom.late' }).waitFor();
    await page.reload();
    await page.getByRole('columnheader', { name: 'result.custom.late' }).waitFor();
    expect(new URL(page.url()).searchParams.get('columns')).toContain('indicator:result.custom.late');
  });

  test('are filtered and sorted by the server, and the address keeps both', async () => {
    const page = await at.open('/apps/routing/runs');
    await page.getByLabel('Status').selectOption('failed');
    await page.getByText('5 runs', { exact: true }).waitFor();
    await page.getByLabel('Search').fill('tour 3');
    await page.keyboard.press('Enter');
    await page.getByText('1 run', { exact: true }).waitFor();
    expect(await listNames(page)).toEqual(['tour 30']);
    await page.getByLabel('Status').selectOption('');
    await page.getByText('More filters').click();
    await page.getByLabel('Indicators').fill('result.value:..1967');
    await page.keyboard.press('Enter');
    await page.getByText('7 runs', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Objective' }).click();
    await page.getByRole('columnheader', { name: 'Objective', exact: true }).waitFor();
    const names = [39, 38, 37, 36, 35, 34, 33].map((number) => `tour ${number}`);
    await expect.poll(() => listNames(page)).toEqual(names);
    await page.reload();
    await page.getByText('7 runs', { exact: true }).waitFor();
    expect(await page.getByLabel('Indicators').inputValue()).toBe('result.value:..1967');
    expect(await page.locator('th[aria-sort="ascending"]').textContent()).toContain('Objective');
  });

  test('are canceled and deleted together after a typed confirmation', async () => {
    const server = at.server;
    await pushApp(server, 'busy', APP, { executable_type: 'binary' });
    for (const name of ['first', 'second', 'third'])
      await createRun(server, 'busy', { input: {}, body: { name } });
    const page = await at.open('/apps/busy/runs');
    await page.getByRole('checkbox', { name: 'Select first' }).check();
    await page.getByRole('checkbox', { name: 'Select second' }).check();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('row', { name: 'first, canceled' }).waitFor();
    await page.getByRole('row', { name: 'second, canceled' }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const confirm = page.getByRole('button', { name: 'Delete 2 runs' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByRole('dialog').getByRole('textbox').fill('delete');
    await confirm.click();
    await page.getByText('0 runs selected').waitFor();
    await page.getByRole('row', { name: 'first' }).waitFor({ state: 'detached' });
    expect(await listNames(page)).toEqual(['third']);
  });

  test('a new run appears by itself while a run is active', async () => {
    await pushApp(at.server, 'live', APP, { executable_type: 'binary' });
    await createRun(at.server, 'live', { input: {}, body: { name: 'first tour' } });
    const page = await at.open('/apps/live/runs');
    await page.getByRole('row', { name: 'first tour, queued' }).waitFor();
    await createRun(at.server, 'live', { input: {}, body: { name: 'late tour' } });
    await page.getByRole('row', { name: 'late tour, queued' }).waitFor();
    const { body } = await at.server.client.call('listRuns', { params: { application_id: 'live' } });
    await page.goto(`${at.server.url}/console/apps/live`);
    await page.getByText('Queued').first().waitFor();
    const outcomes = new Map(body.runs.map(({ id }) => [id, { 'result.value': 7 }]));
    await endRunsWith(at.server, outcomes, Date.now());
    await page.getByText('Succeeded').first().waitFor();
  });

  test('an application without runs names the request that makes one', async () => {
    const page = await at.open('/apps/small/runs');
    await page.getByRole('heading', { name: 'No run yet' }).waitFor();
    await page.getByText('/v1/applications/small/runs').waitFor();
  });

  test('a viewer compares, and neither cancels nor deletes', async () => {
    const page = await at.open('/apps/routing/runs', { role: 'viewer' });
    await page.getByRole('button', { name: 'Compare' }).waitFor();
    expect(await page.getByRole('button', { name: 'Cancel', exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Delete', exact: true }).count()).toBe(0);
  });

  test.each(['/apps/routing/runs', '/apps/routing', '/'])('are accessible on a phone at %s', async (path) => {
    const page = await at.openOnPhone(path);
    // The choices of a closed list are hidden.
    const badge = page.getByText('Succeeded').or(page.getByText('Queued'));
    await badge.filter({ visible: true }).first().waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });

  test('the application shows its indicator, recent runs and instances, and changes the default', async () => {
    const { server } = at;
    const params = { application_id: 'routing' };
    await server.client.call('createVersion', { params, body: { id: 'v1' } });
    await server.client.call('createInstance', {
      params,
      body: { id: 'production', name: 'production', version_id: 'v1' },
    });
    const page = await at.open('/apps/routing');
    await page.getByRole('heading', { name: 'App routing' }).waitFor();
    await page.getByRole('img', { name: /^result\.value of \d+ runs/ }).waitFor();
    await page.getByLabel('Indicator').selectOption('result.custom.late');
    await page.getByRole('img', { name: /^result\.custom\.late of \d+ runs, from 0 to 2/ }).waitFor();
    await page.getByRole('button', { name: 'Set production as default' }).click();
    await page.getByRole('button', { name: 'Set latest as default' }).waitFor();
    const { body } = await server.client.call('getApplication', { params });
    expect(body.default_instance).toBe('production');
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('grid', { name: 'Runs' }).waitFor();
  });

  test('the list of applications sums up the last runs, and creates an application', async () => {
    const page = await at.open();
    const row = page.getByRole('row', { name: /App routing/ });
    await row.getByRole('img', { name: /^Objective of \d+ runs: from/ }).waitFor();
    expect(await row.getByText('10 %').isVisible()).toBe(true);
    await page.getByRole('button', { name: 'New application' }).click();
    await page.getByLabel('Name').fill('Night shift');
    await page.getByLabel('Id').fill('Not An Id');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Id').fill('night');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Night shift' }).waitFor();
    await page.waitForURL(/\/console\/apps\/night$/);
  });
});

describe.skipIf(!hasBrowser)('the command palette', () => {
  const at = setUpConsole(prepareRuns, { env: NO_SLOTS });

  test('opens pages, applications and runs by id, and ? shows the keys', async () => {
    const page = await at.open();
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('small');
    await page.getByRole('option', { name: 'App small' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'App small' }).waitFor();
    const { body } = await at.server.client.call('listRuns', { params: { application_id: 'routing' } });
    const run = body.runs[0]?.id ?? '';
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(run);
    await page.getByRole('option', { name: run }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${at.server.url}/console/apps/routing/runs/${run}`);
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard' }).waitFor();
  });
});

describe.skipIf(!hasBrowser)('an account without an application', () => {
  const at = setUpConsole();

  test('gets the sample apps as commands', async () => {
    const page = await at.open();
    await page.getByRole('heading', { name: 'No application yet' }).waitFor();
    await page.getByText('npm run push -- sample-apps/vehicle-routing routing').waitFor();
  });
});
