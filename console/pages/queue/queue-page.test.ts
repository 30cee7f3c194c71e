/** The queue in the console. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { measureLayoutShift } from '@switchyard/browser-testing/layout-shift.ts';
import { multiplyRows, PADDED_ROW_NUMBER } from '@switchyard/server/testing/database/multiply-rows.ts';
import {
  createRun,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '@switchyard/server/testing/fixtures/apps.ts';
import { expectStatus } from '@switchyard/server/testing/fixtures/resources.ts';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { saveScreenshot } from '../../testing/save-screenshot.ts';

const APPLICATION = 'planner';
const NAMES = ['first', 'second', 'third'];
/** Shows the lanes and the waiting runs. */
const SCREENSHOT_HEIGHT = 430;

/** Copies an ended run, so that the starts of waiting runs can be predicted. */
async function insertPastRuns(server: TestServer): Promise<void> {
  const run = await createRun(server, APPLICATION, { input: {} });
  await waitForLogLine(server, APPLICATION, run, 'started');
  expectStatus(await server.request('PATCH', `/v1/applications/${APPLICATION}/runs/${run}/cancel`), 204);
  await waitForRunEnd(server, APPLICATION, run);
  await multiplyRows(server.runningServer.database, {
    table: 'runs',
    template: { column: 'id', value: run },
    count: 50,
    changes: {
      id: `'past-' || ${PADDED_ROW_NUMBER}`,
      finished_at: 't.initiated_at + 60000 + 2000 * n',
    },
  });
}

/** Past runs of 62 s to 160 s, one run in the only slot, and two that wait. */
async function fillQueue(server: TestServer): Promise<void> {
  const waitForever =
    "() => { console.error('started'); return new Promise(() => setInterval(() => {}, 1000)); }";
  await pushApp(server, APPLICATION, nodeApp(waitForever));
  await insertPastRuns(server);
  for (const name of NAMES) {
    const body = { name, ...(name === 'first' && { configuration: { max_duration: 600 } }) };
    const run = await createRun(server, APPLICATION, { input: {}, body });
    if (name === 'first') await waitForLogLine(server, APPLICATION, run, 'started');
  }
}

describe.skipIf(!hasBrowser)('the queue', () => {
  const at = setUpConsole(fillQueue, { env: { SWITCHYARD_CAPACITY: '1' } });

  test('F2: shows running runs with their time limit, and waiting ones in order with the reason', async () => {
    const page = await at.open('/queue');
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    expect(await page.title()).toBe('Queue · Switchyard');
    const running = page.getByRole('region', { name: 'Running', exact: true });
    expect(await running.getByRole('link').allTextContents()).toEqual(['first']);
    await running.getByRole('list', { name: /: 1 slot for all execution classes$/ }).waitFor();
    const meter = running.getByRole('meter', { name: 'Run time of first within its time limit' });
    expect(await meter.getAttribute('aria-valuetext')).toMatch(/, own limit 10\smin$/);
    const waiting = page.getByRole('table', { name: 'Waiting' });
    expect(await waiting.getByRole('link').allTextContents()).toEqual(['second', 'third']);
    await waiting.getByText('this run is next').waitFor();
    const starts = waiting.getByTitle(/^With a probability of 80 % between /);
    for (const start of await starts.allTextContents()) expect(start).toMatch(/^(in .+ to|within) .+$/);
    expect(await starts.count()).toBe(2);
    const lanes = page.getByRole('region', { name: 'Running', exact: true });
    await saveScreenshot(lanes, 'get-started/concepts/console-queue.png', SCREENSHOT_HEIGHT);
    await waiting.getByRole('link', { name: 'second' }).focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('third');
    await page.keyboard.press('Home');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('second');
    expect(await page.evaluate(measureLayoutShift)).toBeLessThan(0.01);
  });

  test('a higher priority moves a run ahead, by the keyboard', async () => {
    const page = await at.open('/queue');
    await page.getByLabel('Priority of third').focus();
    await page.keyboard.press('3');
    const links = page.getByRole('table', { name: 'Waiting' }).getByRole('link');
    await expect.poll(() => links.allTextContents()).toEqual(['third', 'second']);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
      'Priority of third',
    );
  });

  test('a run that is dragged to another place gets the priority of that place', async () => {
    const page = await at.open('/queue');
    const waiting = page.getByRole('table', { name: 'Waiting' });
    const links = waiting.getByRole('link');
    await expect.poll(() => links.allTextContents()).toEqual(['third', 'second']);
    const row = (name: string) =>
      waiting.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await row('second').getByTitle('Drag to change the priority').dragTo(row('third'));
    await expect.poll(() => links.allTextContents()).toEqual(['second', 'third']);
    // The older run needs only the same priority.
    expect(await page.getByLabel('Priority of second').inputValue()).toBe('3');
    await row('second').getByTitle('Drag to change the priority').dragTo(row('third'));
    await expect.poll(() => links.allTextContents()).toEqual(['third', 'second']);
    expect(await page.getByLabel('Priority of second').inputValue()).toBe('4');
  });

  test('F1: a run that is dragged past a run of another application is past it, or is not moved and says why', async () => {
    const { server } = at;
    await pushApp(server, 'other', nodeApp('(input) => input'));
    const body = { name: 'other', configuration: { queuing: { priority: 4 } } };
    const run = await createRun(server, 'other', { input: {}, body });
    const page = await at.open('/queue');
    const waiting = page.getByRole('table', { name: 'Waiting' });
    const links = waiting.getByRole('link');
    // Its application uses no slot, so it is before the older run of the same priority.
    await expect.poll(() => links.allTextContents()).toEqual(['third', 'other', 'second']);
    const row = (name: string) =>
      waiting.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await row('other').getByTitle('Drag to change the priority').dragTo(row('second'));
    await expect.poll(() => links.allTextContents()).toEqual(['third', 'second', 'other']);
    await row('other').getByTitle('Drag to change the priority').dragTo(row('second'));
    await page.getByText('No priority gives the run this place.').waitFor();
    expect(await links.allTextContents()).toEqual(['third', 'second', 'other']);
    expectStatus(await server.request('PATCH', `/v1/applications/other/runs/${run}/cancel`), 204);
  });

  test('the page of a waiting run links the runs in the slots', async () => {
    const page = await at.open('/queue');
    await page.getByRole('table', { name: 'Waiting' }).getByRole('link', { name: 'second' }).click();
    await page.getByText('Runs in the slots').waitFor();
    const { body } = await at.server.client.call('getQueue');
    const holder = body.runs.find(({ status_v2 }) => status_v2 === 'running');
    await page.getByRole('link', { name: `${holder?.id}` }).click();
    await page.getByRole('heading', { name: 'first' }).waitFor();
  });

  test('a page that loads slowly shows progress', async () => {
    const page = await at.open('');
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/account/workers', async (route) => {
      await isReleased;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Queue', exact: true }).click();
    const progress = page.getByRole('progressbar', { name: 'Loading the page' });
    await progress.waitFor();
    release();
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    await progress.waitFor({ state: 'detached' });
  });

  test('a viewer sees the queue without actions', async () => {
    const page = await at.open('/queue', { role: 'viewer' });
    await page.getByRole('table', { name: 'Waiting' }).waitFor();
    expect(await page.getByRole('button', { name: /^(Cancel|More actions on|Run next)/ }).count()).toBe(0);
    expect(await page.getByLabel(/^Priority of/).count()).toBe(0);
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/queue');
    await page.getByRole('table', { name: 'Waiting' }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });

  test('cancels runs after a confirmation, until the queue is empty', async () => {
    const page = await at.open('/queue');
    const waiting = page.getByRole('table', { name: 'Waiting' });
    for (const name of NAMES.toReversed()) {
      if (name === 'first') await page.getByRole('button', { name: `Cancel ${name}` }).click();
      else {
        await waiting.getByRole('button', { name: `More actions on ${name}` }).click();
        await waiting.getByRole('button', { name: 'Cancel the run …' }).click();
      }
      await page.getByRole('button', { name: 'Cancel the run' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.getByRole('heading', { name: 'The queue is empty' }).waitFor();
    await page.getByRole('region', { name: 'Running' }).getByText('Free').waitFor();
    await createRun(at.server, APPLICATION, { input: {}, body: { name: 'fourth' } });
    await page.getByRole('region', { name: 'Running' }).getByRole('link', { name: 'fourth' }).waitFor();
  });

  test('shows a new run without the stream of the account', async () => {
    const page = await at.open('/queue');
    // A response without content says that nothing follows.
    await page.route('**/v1/account/events', (route) => route.fulfill({ status: 204 }));
    await page.reload();
    await page.getByRole('region', { name: 'Running' }).waitFor();
    await createRun(at.server, APPLICATION, { input: {}, body: { name: 'fifth' } });
    await page.getByRole('table', { name: 'Waiting' }).getByRole('link', { name: 'fifth' }).waitFor();
  });
});

const WAITING = 327;

/** One run in the only slot, and many that wait. */
async function fillLongQueue(server: TestServer): Promise<void> {
  await fillQueue(server);
  const { body } = await server.client.call('getQueue');
  const last = body.runs.at(-1);
  await multiplyRows(server.runningServer.database, {
    table: 'runs',
    template: { column: 'id', value: last?.id ?? '' },
    count: WAITING - 2,
    changes: {
      id: `'run-many-' || ${PADDED_ROW_NUMBER}`,
      name: `'nightly ' || n`,
      created_at: 't.created_at + n',
    },
  });
}

describe.skipIf(!hasBrowser)('a long queue', () => {
  const at = setUpConsole(fillLongQueue, { env: { SWITCHYARD_CAPACITY: '1' } });

  test('renders the rows on the screen, finds a run, and runs it next', async () => {
    const page = await at.open('/queue');
    const waiting = page.getByRole('table', { name: 'Waiting' });
    await page.getByText(String(WAITING), { exact: true }).waitFor();
    expect(await waiting.getAttribute('aria-rowcount')).toBe(String(WAITING + 1));
    expect(await waiting.getByRole('row').count()).toBeLessThan(60);
    await page.getByLabel('Search the queue').fill('nightly 299');
    await expect.poll(() => waiting.getByRole('link').allTextContents()).toEqual(['nightly 299']);
    expect(new URL(page.url()).searchParams.get('text')).toBe('nightly 299');
    await page.getByRole('button', { name: 'Run next: nightly 299' }).click();
    await page.getByLabel('Search the queue').fill('');
    const first = waiting.getByRole('row').nth(1).getByRole('link');
    await expect.poll(() => first.textContent()).toBe('nightly 299');
    await page.reload();
    await expect.poll(() => first.textContent()).toBe('nightly 299');
  });
});
