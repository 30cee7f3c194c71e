/** The results of tests on live runs, and of a search for a version. The server executes no run. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createRun } from '@switchyard/server/testing/fixtures/apps.ts';
import {
  bisectCalls,
  bisectedApp,
  createBisectedApplication,
  runBisect,
} from '@switchyard/server/testing/fixtures/bisect-experiments.ts';
import { WITHOUT_EXECUTION } from '@switchyard/server/testing/fixtures/chosen-outcomes.ts';
import {
  COMPARISON,
  createOnlineTestApp,
  onlineTestCalls,
  originalRunId,
  shadowCalls,
} from '@switchyard/server/testing/fixtures/online-tests.ts';
import { expectStatus } from '@switchyard/server/testing/fixtures/resources.ts';
import { endRunsWith, type RunOutcome } from '@switchyard/server/testing/fixtures/run-outcomes.ts';
import { createManualClock } from '@switchyard/server/testing/host/manual-clock.ts';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { PHONE, setUpConsole } from '../../testing/console-visit.ts';
import { saveScreenshot } from '../../testing/save-screenshot.ts';

const HOUR_MS = 3_600_000;
const UNITS = 24;
const ORIGINALS = 12;
const OBJECTIVES = { objectives: { 'result.value': 'minimize' } };
const clock = createManualClock(Date.UTC(2026, 0, 5, 8));

/** Runs a switchback test to its end, with one run in each unit. Units of the candidate cost about 100 less. */
async function prepareSwitchback(server: TestServer): Promise<void> {
  const calls = onlineTestCalls(() => server, 'switchback', 'live');
  const body = {
    id: 'dispatch',
    name: 'Earlier dispatch',
    comparison: COMPARISON,
    generate_random_plan: { unit_duration_minutes: 60, units: UNITS },
    ...OBJECTIVES,
  };
  const created = await calls.create(body);
  expectStatus(created, 201);
  const { plan } = created.body as { plan: { units: { instance_id: string }[] } };
  expectStatus(await calls.start('dispatch'), 204);
  const outcomes = new Map<string, RunOutcome>();
  const unitsAfter = new Map<string, number>();
  for (const [index, { instance_id }] of plan.units.entries()) {
    const run = await createRun(server, 'live', { instance: 'baseline' });
    // The noise alternates among the units with the same side after the same side. The plan is random, and noise that
    // follows it would count as carry-over, which withholds the verdict of one plan in twenty.
    const sides = `${plan.units[index - 1]?.instance_id} ${instance_id}`;
    const count = unitsAfter.get(sides) ?? 0;
    unitsAfter.set(sides, count + 1);
    const cost = 1000 + (count % 2) - (instance_id === 'candidate' ? 100 : 0);
    outcomes.set(run, { 'result.value': cost });
    clock.advance(HOUR_MS);
  }
  await endRunsWith(server, outcomes, clock.now());
  await calls.waitForStatus('dispatch', 'completed');
}

/** Copies twelve runs to the candidate, which costs between 1 and 12 less. */
async function prepareShadow(server: TestServer): Promise<void> {
  const calls = shadowCalls(() => server, 'live');
  await calls.startTest({ id: 'copies', termination_events: { maximum_runs: ORIGINALS }, ...OBJECTIVES });
  const outcomes = new Map<string, RunOutcome>();
  for (let index = 0; index < ORIGINALS; index += 1)
    outcomes.set(await createRun(server, 'live', { instance: 'baseline', input: { index } }), {
      'result.value': 200,
    });
  await calls.waitForCopies(ORIGINALS, 'copies');
  const originals = [...outcomes.keys()];
  for (const copy of await calls.copies('copies'))
    outcomes.set(String(copy.id), {
      // Neighbours in time do not resemble each other.
      'result.value': 199 - ((7 * originals.indexOf(originalRunId(copy))) % ORIGINALS),
    });
  await endRunsWith(server, outcomes, clock.now());
  expectStatus(await calls.stop('copies'), 204);
  await calls.waitForStatus('copies', 'completed');
}

describe.skipIf(!hasBrowser)('the results of', () => {
  const at = setUpConsole(
    async (server) => {
      await createOnlineTestApp(server, 'live');
      await prepareSwitchback(server);
      await prepareShadow(server);
      const draft = shadowCalls(() => server, 'live').draft({ id: 'draft', name: 'Not started' });
      expectStatus(await onlineTestCalls(() => server, 'shadow', 'live').create(draft), 201);
    },
    { env: WITHOUT_EXECUTION, clock },
  );
  const checkOnPhone = async (page: Page) => {
    await page.setViewportSize(PHONE);
    expect(await findAccessibilityProblems(page)).toEqual([]);
  };

  test('a switchback test show its units over time', async () => {
    const page = await at.open('/apps/live/experiments/switchback/dispatch');
    await page
      .getByText(/^candidate is better than baseline\. Objective is .* lower, and the true change/)
      .waitFor();
    await page.getByRole('img', { name: 'Units: 24 of baseline and candidate, 24 with a number' }).waitFor();
    await page.getByRole('img', { name: /^Change to baseline\. Objective: better/ }).waitFor();
    await page.getByRole('img', { name: 'Objective in each of 24 units' }).waitFor();
    await saveScreenshot(page.getByRole('article'), 'using-switchyard/experiments/console-switchback.png');
    await checkOnPhone(page);
  });

  test('a shadow test show each original with its copy, and count them in one way', async () => {
    const page = await at.open('/apps/live/experiments/shadow/copies');
    await page.getByText(/^candidate is better than baseline\. Objective is .* lower/).waitFor();
    const dots = page.getByRole('group', { name: /^Change of Objective on 12 originals/ });
    await dots.waitFor();
    // 199 of 200 is within 1 %, and 198 to 188 are not.
    await page.getByText(/^Better on 11 of 12 originals, within ±1\s% on 1, worse on 0\./).waitFor();
    await page.getByText('12 copies, none failed').waitFor();
    await page.getByText('All 12 originals and 12 copies').waitFor();
    await checkOnPhone(page);
    expect(await dots.getByRole('link').first().getAttribute('href')).toMatch(/compare\?runs=/);
  });

  test('a draft start and end by buttons, which a viewer does not have', async () => {
    const page = await at.open('/apps/live/experiments/shadow/draft');
    await page.getByText(/^Not started\. It copies runs of baseline to candidate, at most/).waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Started', { exact: true }).waitFor();
    const viewer = await at.open('/apps/live/experiments/shadow/draft', { role: 'viewer' });
    await viewer.getByRole('heading', { name: 'Not started' }).waitFor();
    expect(await viewer.getByRole('button', { name: /^(Start|Stop|Cancel)/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Cancel test' }).click();
    await page.getByLabel('Type draft to confirm').fill('draft');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel test' }).click();
    await page.getByText('Canceled', { exact: true }).waitFor();
  });

  test('a search show the versions that it tested', async () => {
    const app = bisectedApp(1);
    const versions = { v1: app, v2: app, v3: app, v4: app, v5: app };
    await createBisectedApplication(at.server, versions, { plain: { size: 100 } });
    const request = {
      name: 'Dearer since spring',
      input_ids: ['plain'],
      indicator: 'result.value',
      good_version_id: 'v1',
      bad_version_id: 'v5',
      difference: { type: 'relative', value: 0.02 },
    };
    expectStatus(await bisectCalls(() => at.server, request).create('spring'), 201);
    await runBisect(at.server, 'spring', ({ version_id }) => ({
      indicators: { 'result.value': version_id > 'v3' ? 105 : 100 },
    }));
    const page = await at.open('/apps/app/experiments/bisect/spring');
    await page.getByText(/^Found\. /).waitFor();
    await page.getByRole('img', { name: /^Search over 5 versions: v5: worse, \+5\s%/ }).waitFor();
    await page.getByText('Numbers of this picture').click();
    const row = page
      .getByRole('region', { name: 'Numbers of Search over the versions' })
      .getByRole('row')
      .filter({ hasText: 'v3' });
    expect(await row.getByText('not worse').isVisible()).toBe(true);
    await saveScreenshot(page.getByRole('article'), 'using-switchyard/experiments/console-bisect.png');
    await checkOnPhone(page);

    expectStatus(await bisectCalls(() => at.server, request).create('autumn'), 201);
    await page.goto(`${at.server.url}/console/apps/app/experiments/bisect/autumn`);
    await page.getByRole('button', { name: 'Stop the search' }).click();
    await page.getByLabel('Type autumn to confirm').fill('autumn');
    await page.getByRole('dialog').getByRole('button', { name: 'Stop the search' }).click();
    await page.getByText(/^Stopped\. /).waitFor();
  });
});
