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
import { saveScreenshot } from '../../testing/save-screenshot.ts';

/** Without slots, a run stays queued until the test ends it. */
const NO_SLOTS = { SWITCHYARD_CAPACITY: '6c9500mb870s=0' };
const APP = { main: '#!/bin/sh\necho {}\n' };
const RUNS = 58;
const PAGE_RUNS = 50;
/** The interval at which the console reads a list without active runs, as it does without the stream. */
const IDLE_REFETCH_MS = 15_000;
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

/** Opens the editor of a filter that is not set. */
async function openFilter(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('search').getByRole('button', { name, exact: true }).click();
}

/** Chooses an entry of the menu of a column. */
async function chooseInHeader(page: Page, column: string, entry: string): Promise<void> {
  const header = page.getByRole('columnheader', { name: column });
  await header.getByRole('button').first().click();
  await header.getByRole('button', { name: entry }).click();
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
    await page.getByText(`${PAGE_RUNS} runs so far.`).waitFor();
    expect(await page.evaluate(measureLayoutShift)).toBeLessThan(0.01);
    await page.keyboard.press('End');
    await page.getByText(`${RUNS + 1} runs.`).waitFor();
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
    for (const [key, row] of [
      ['End', PAGE_RUNS - 1],
      ['Home', 0],
    ] as const) {
      await page.keyboard.press(key);
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-index')))
        .toBe(String(row));
    }
    await page.getByRole('row', { name: 'tour 57' }).focus();
    await page.keyboard.press('x');
    await page.getByText('1 run selected').waitFor();
    expect(await page.getByRole('button', { name: 'Compare' }).isDisabled()).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/console\/apps\/routing\/runs\/run-/);
    await page.goBack();
    await page.getByText('1 run selected').waitFor();

    // The page of a run moves along the rows of the filtered table.
    await page.goto(`${at.server.url}/console/apps/routing/runs?status=failed`);
    await page.getByRole('row', { name: 'tour 40, failed' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'tour 40' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { level: 1, name: 'tour 30' }).waitFor();
    await page.goBack();
    await page.getByRole('row', { name: 'tour 40, failed' }).waitFor();
  });

  test('show any indicator or option as a column', async () => {
    const page = await at.open('/apps/routing/runs');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'result.custom.late' }).check();
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'result.custom.late' }).waitFor();
    await page.reload();
    await page.getByRole('columnheader', { name: 'result.custom.late' }).waitFor();
    expect(new URL(page.url()).searchParams.get('columns')).toContain('indicator:result.custom.late');
  });

  test('are filtered and sorted by the server, and the address keeps both', async () => {
    const page = await at.open('/apps/routing/runs');
    const remove = (filter: string) =>
      page.getByRole('button', { name: `Remove the filter ${filter}` }).click();
    await openFilter(page, 'Status');
    await page.getByRole('checkbox', { name: 'queued' }).check();
    await page.getByRole('checkbox', { name: 'failed' }).check();
    await page.keyboard.press('Escape');
    await page.getByText('6 runs.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Status queued or failed' }).click();
    await page.getByRole('checkbox', { name: 'queued' }).uncheck();
    await page.keyboard.press('Escape');
    await page.getByText('5 runs.', { exact: true }).waitFor();
    await page.getByLabel('Search').fill('tour 3');
    await page.keyboard.press('Enter');
    await page.getByText('1 run.', { exact: true }).waitFor();
    expect(await listNames(page)).toEqual(['tour 30']);
    await remove('Status');
    await chooseInHeader(page, 'Objective', 'Filter …');
    await page.getByText('1,961 to 1,997 in the runs shown').waitFor();
    await page.getByLabel('To', { exact: true }).fill('1967');
    await page.keyboard.press('Enter');
    await page.getByText('7 runs.', { exact: true }).waitFor();
    await chooseInHeader(page, 'Objective', 'Smallest first');
    const names = [39, 38, 37, 36, 35, 34, 33].map((number) => `tour ${number}`);
    await expect.poll(() => listNames(page)).toEqual(names);
    await page.reload();
    await page.getByText('7 runs.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Indicator result.value ≤ 1967' }).waitFor();
    expect(await page.locator('th[aria-sort="ascending"]').textContent()).toContain('Objective');
    await remove('Indicator');
    await openFilter(page, 'Created');
    await page.getByRole('button', { name: 'Yesterday' }).click();
    await page.getByRole('heading', { name: 'No run matches the filters' }).waitFor();
    await page.getByRole('button', { name: 'Created Yesterday' }).click();
    await page.getByLabel('From').fill('2020-01-01T08:00');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: 'tour 39, succeeded' }).waitFor();
  });

  test('those of experiments are hidden until the reader asks for them', async () => {
    const { server } = at;
    const params = { application_id: 'tests' };
    await pushApp(server, 'tests', APP, { executable_type: 'binary' });
    const id = await createRun(server, 'tests', { input: {}, body: { name: 'asked for' } });
    await server.client.call('createVersion', { params, body: { id: 'v1' } });
    const instance = { id: 'one', name: 'one one', version_id: 'v1' };
    await server.client.call('createInstance', { params, body: instance });
    await server.client.call('createInputSet', { params, body: { id: 'set', name: 'Set', run_ids: [id] } });
    const batch = { id: 'batch', name: 'Batch', type: 'batch', input_set_id: 'set', instance_ids: ['one'] };
    await server.client.call('createBatchExperiment', { params, body: batch as never });
    const page = await at.open('/apps/tests/runs');
    await page.getByText('1 run.', { exact: true }).waitFor();
    expect(await listNames(page)).toEqual(['asked for']);
    await page.getByRole('button', { name: 'Show them' }).click();
    await page.getByText('2 runs.', { exact: true }).waitFor();
    await page.getByRole('columnheader', { name: 'Experiment' }).waitFor();
    expect(new URL(page.url()).searchParams.get('experiments')).toBe('true');
  });

  test('run again, several at once, with the options of each', async () => {
    const page = await at.open('/apps/routing/runs?status=failed');
    for (const name of ['tour 50', 'tour 40']) {
      await page.getByRole('row', { name: `${name}, failed` }).focus();
      await page.keyboard.press('x');
    }
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByRole('button', { name: 'Create 2 runs' }).click();
    await page.getByRole('group', { name: 'Selected runs' }).waitFor({ state: 'detached' });
    const params = { application_id: 'routing' };
    const listCreated = async () =>
      (await at.server.client.call('listRuns', { params, query: { text: 'tour', status: 'queued' } })).body
        .runs;
    const created = await listCreated();
    expect(created.map(({ name }) => name).sort()).toEqual(['tour 40', 'tour 50']);
    expect(created.map(({ options }) => options?.duration).sort()).toEqual(['1', '5']);
    // The other tests count the runs.
    for (const { id } of created)
      await at.server.client.call('deleteRun', { params: { ...params, run_id: id } });
  });

  test('are saved as a view, which marks changes, is shared, and opens from the palette', async () => {
    const page = await at.open('/apps/routing/runs?status=failed&sort=name');
    await page.getByText('5 runs.', { exact: true }).waitFor();
    const choose = async (button: string, item: string) => {
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.getByRole('button', { name: item, exact: true }).click();
    };
    await choose('Views', 'Save as …');
    await page.getByLabel('Name', { exact: true }).last().fill(' ');
    await page.getByText('The name is blank.').waitFor();
    await page.getByRole('button', { name: 'Give a name', exact: true }).waitFor();
    await page.getByLabel('Name', { exact: true }).last().fill(HOSTILE_NAME);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: `View: ${HOSTILE_NAME}`, exact: true }).waitFor();
    const { search } = new URL(page.url());
    const view = new URLSearchParams(search).get('view') ?? '';
    await chooseInHeader(page, 'Run', 'A to Z');
    await choose(`View: ${HOSTILE_NAME} (changed)`, 'Save changes');
    await choose(`View: ${HOSTILE_NAME}`, 'Rename …');
    await page.getByRole('dialog').getByLabel('Name').fill('Failures');
    await page.keyboard.press('Enter');
    await choose('View: Failures', 'Share with the account');

    const reader = await at.open(`/apps/routing/runs?view=${view}`, { role: 'viewer' });
    await reader.getByRole('button', { name: 'View: Failures', exact: true }).click();
    await reader.getByText('5 runs.', { exact: true }).waitFor();
    expect(await listNames(reader)).toEqual(['tour 50', 'tour 40', 'tour 30', 'tour 20', 'tour 10']);
    await reader.getByRole('button', { name: 'Save as …' }).waitFor();
    const tools = reader.getByRole('search', { name: 'Filters' }).locator('..');
    await saveScreenshot(tools, 'using-switchyard/reference/api/console-views.png', 336);

    await page.goto(`${at.server.url}/console/apps/routing`);
    await page.getByRole('heading', { name: 'App routing' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('failures');
    await page.getByRole('option', { name: 'Failures' }).waitFor();
    await page.keyboard.press('Enter');
    await choose('View: Failures', 'Delete …');
    await page.getByRole('dialog').getByRole('textbox').fill('delete');
    await page.getByRole('button', { name: 'Delete view' }).click();
    await page.getByRole('button', { name: 'Views', exact: true }).waitFor();
  });

  test('are canceled and deleted together after a confirmation', async () => {
    const server = at.server;
    await pushApp(server, 'busy', APP, { executable_type: 'binary' });
    for (const name of ['first', 'second', 'third'])
      await createRun(server, 'busy', { input: {}, body: { name } });
    const page = await at.open('/apps/busy/runs');
    await page.getByRole('checkbox', { name: 'Select first' }).check();
    await page.getByRole('checkbox', { name: 'Select second' }).check();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel 2 runs' }).click();
    await page.getByRole('row', { name: 'first, canceled' }).waitFor();
    await page.getByRole('row', { name: 'second, canceled' }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const confirm = page.getByRole('button', { name: 'Delete 2 runs' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByRole('dialog').getByRole('textbox').fill('delete');
    await confirm.click();
    await page.getByRole('group', { name: 'Selected runs' }).waitFor({ state: 'detached' });
    await page.getByRole('row', { name: 'first' }).waitFor({ state: 'detached' });
    expect(await listNames(page)).toEqual(['third']);
  });

  test('a new run appears without a reload, sooner than a list without active runs is read again', async () => {
    await pushApp(at.server, 'live', APP, { executable_type: 'binary' });
    const page = await at.open('/apps/live/runs');
    await page.getByRole('heading', { name: 'No run yet' }).waitFor();
    const first = await createRun(at.server, 'live', { input: {}, body: { name: 'first tour' } });
    await createRun(at.server, 'live', { input: {}, body: { name: 'second tour' } });
    await page.getByRole('row', { name: 'second tour, queued' }).waitFor({ timeout: IDLE_REFETCH_MS / 2 });
    expect(await listNames(page)).toEqual(['second tour', 'first tour']);
    // The keys stay with the run that has the focus.
    await page.getByRole('row', { name: 'second tour' }).focus();
    await createRun(at.server, 'live', { input: {}, body: { name: 'third tour' } });
    await page.getByRole('row', { name: 'third tour, queued' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/console/apps/live/runs/${first}`);
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
    await page
      .getByRole('checkbox', { name: /^Select / })
      .nth(1)
      .check();
    await page.getByRole('button', { name: 'Compare' }).waitFor();
    expect(await page.getByRole('button', { name: 'Cancel', exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Delete', exact: true }).count()).toBe(0);
  });

  test.each(['/apps/routing/runs', '/apps/routing', '/'])('are accessible on a phone at %s', async (path) => {
    const page = await at.openOnPhone(path);
    // The choices of a closed list are hidden.
    const badge = page.getByText('Succeeded').or(page.getByText('Queued'));
    const row = page.getByRole('link', { name: 'App routing' });
    await badge.or(row).filter({ visible: true }).first().waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });

  test('a filter and the menu of a column are accessible while they are open, on a phone', async () => {
    const page = await at.openOnPhone('/apps/routing/runs');
    await openFilter(page, 'Indicator');
    await page.getByRole('dialog', { name: 'Filter by indicator' }).getByLabel('From').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'Objective' }).getByRole('button').first().click();
    await page.getByRole('button', { name: 'Hide column' }).filter({ visible: true }).waitFor();
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
    await page.getByRole('img', { name: /^Versions that .*, and Objective below$/ }).waitFor();
    await page.getByRole('combobox', { name: /^Indicator/ }).selectOption('result.custom.late');
    await page.getByRole('img', { name: /, and result\.custom\.late below$/ }).waitFor();
    await page.getByRole('button', { name: 'Actions of production' }).click();
    await page.getByRole('button', { name: 'Set as default: production' }).click();
    await page.getByRole('button', { name: 'Actions of latest' }).waitFor();
    const { body } = await server.client.call('getApplication', { params });
    expect(body.default_instance).toBe('production');
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('grid', { name: 'Runs' }).waitFor();
  });

  test('the list of applications sums up the last runs, and creates an application', async () => {
    const page = await at.open('', { permissions: ['clipboard-read', 'clipboard-write'] });
    const row = page.getByRole('row', { name: /App routing/ });
    await row.getByRole('img', { name: /^Objective of \d+ runs: from/ }).waitFor();
    await row.getByRole('cell', { name: /^\d[\d.]* %$/ }).waitFor();
    await page.getByRole('button', { name: 'New application' }).click();
    await page.getByLabel('Name').fill('Night shift');
    await page.getByLabel('Id').fill('Not An Id');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Id').fill('night');
    await page.getByRole('button', { name: 'Copy as Python' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
      'print(call("POST", "/v1/applications", "{\\"name\\":\\"Night shift\\",\\"id\\":\\"night\\"}"))',
    );
    await page.getByRole('button', { name: 'Create application' }).click();
    await page.getByRole('heading', { name: 'Night shift' }).waitFor();
    await page.waitForURL(/\/console\/apps\/night$/);
  });

  test('a new run moves nothing on a page that is scrolled down, and a button shows it', async () => {
    const page = await at.open('/apps/routing/runs');
    const row = page.getByRole('row', { name: 'tour 40, failed' });
    await row.scrollIntoViewIfNeeded();
    const readTop = () => row.evaluate((element) => element.getBoundingClientRect().top);
    const top = await readTop();
    await createRun(at.server, 'routing', { input: {}, body: { name: 'newest' } });
    const button = page.getByRole('status').getByRole('button', { name: '1 new run', exact: true });
    await button.waitFor({ timeout: IDLE_REFETCH_MS / 2 });
    expect(await readTop()).toBe(top);
    await button.click();
    await expect.poll(() => page.evaluate(() => window.scrollY)).toBe(0);
    const newest = page.getByRole('row', { name: 'newest, queued' });
    await expect.poll(() => newest.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await button.count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser)('the command palette', () => {
  const at = setUpConsole(prepareRuns, { env: NO_SLOTS });

  test('opens pages, applications, and runs by name and id, and ? shows the keys', async () => {
    const page = await at.open();
    const input = page.getByPlaceholder('Page, view, application or run');
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
    await page.keyboard.press('Control+k');
    await input.fill('small');
    await page.getByRole('option', { name: 'App small', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'App small' }).waitFor();
    const { body } = await at.server.client.call('listRuns', { params: { application_id: 'routing' } });
    const run = body.runs[0]?.id ?? '';
    await page.keyboard.press('Control+k');
    await input.fill(run);
    await page.getByRole('option', { name: run }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${at.server.url}/console/apps/routing/runs/${run}`);
    await page.getByRole('tab', { name: 'Input' }).click();
    const older = `${at.server.url}/console/apps/routing/runs/${body.runs[1]?.id}?tab=input`;
    await page.keyboard.press('j');
    await page.waitForURL(older);
    await page.getByRole('heading', { level: 1, name: body.runs[1]?.name }).waitFor();
    await page.keyboard.press('k');
    await page.waitForURL(`${at.server.url}/console/apps/routing/runs/${run}?tab=input`);
    for (const typed of ['tour 42', body.runs[1]?.id.slice(0, -3) ?? '']) {
      await page.keyboard.press('Control+k');
      await input.fill(typed);
      const [found] = body.runs.filter(({ id, name }) => id.startsWith(typed) || name === typed);
      await page
        .getByLabel('Results')
        .getByRole('option', { name: found?.id ?? '', selected: true })
        .waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`${at.server.url}/console/apps/routing/runs/${found?.id}`);
    }
    for (const [name, address] of [
      ['Input sets', '/apps/routing/input-sets'],
      ['Audit log', '/account/audit'],
    ] as const) {
      await page.keyboard.press('Control+k');
      await input.fill(name);
      await page.getByRole('option', { name, selected: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`${at.server.url}/console${address}`);
    }
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
    const phone = await at.openOnPhone('/queue');
    await phone.getByRole('heading', { name: 'The queue is empty' }).waitFor();
    expect(await findAccessibilityProblems(phone)).toEqual([]);
  });
});
