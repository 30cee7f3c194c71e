/** The list of experiments, and the result of a batch experiment. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { measureLayoutShift } from '@switchyard/browser-testing/layout-shift.ts';
import { createAcceptanceTest, MEAN_METRIC } from '@switchyard/server/testing/fixtures/acceptance-tests.ts';
import { createBatchExperiment } from '@switchyard/server/testing/fixtures/batch-experiments.ts';
import { endRuns, WITHOUT_EXECUTION } from '@switchyard/server/testing/fixtures/chosen-outcomes.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { PHONE, setUpConsole } from '../../testing/console-visit.ts';
import { saveScreenshot } from '../../testing/save-screenshot.ts';
import {
  createOutcomes,
  createOutcomesWithFailure,
  createVersions,
  HOSTILE_NAME,
  INPUTS,
  type PreparedApplication,
  prepareApplication,
  prepareBatch,
  prepareRace,
} from './testing/prepare-experiments.ts';

/** The answer stands in the first part of the page. */
const FIRST_PIXELS = 400;

describe.skipIf(!hasBrowser)('the experiments of an application', () => {
  let app: PreparedApplication;
  const at = setUpConsole(
    async (server) => {
      app = await prepareApplication(server);
      await prepareBatch(server, app, {
        id: 'cheaper',
        name: 'More iterations',
        features: ['/control', 'bytes'],
      });
      await prepareBatch(
        server,
        app,
        { id: 'failing', objectives: { 'result.value': { direction: 'minimize', failure_value: 6100 } } },
        createOutcomesWithFailure(),
      );
      await prepareRace(server, app, 'race');
      await prepareBatch(server, app, { id: 'versions' }, createVersions());
      await createAcceptanceTest(server, app.application, {
        id: 'gate',
        name: 'May it go live?',
        experiment_id: 'cheaper',
        metrics: [MEAN_METRIC, { ...MEAN_METRIC, field: 'result.custom.late' }],
      });
      const { id } = await createBatchExperiment(server, app.application, {
        id: 'half-way',
        name: HOSTILE_NAME,
        input_set_id: app.inputSet,
        instance_ids: ['control', 'candidate'],
        objectives: { 'result.value': 'minimize' },
      });
      const choose = createOutcomes();
      let count = 0;
      await endRuns(server, id, (run) => (count++ < INPUTS ? choose(run) : null));
    },
    { env: WITHOUT_EXECUTION },
  );
  const open = (path: string, options = {}) =>
    at.open(`/apps/${app.application}/experiments${path}`, options);

  test('are one list with status, progress and verdict, and the type is in the address', async () => {
    const page = await open('');
    await page.getByRole('heading', { name: 'Experiments' }).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'cheaper' });
    await row.getByText('better', { exact: true }).waitFor();
    expect(await row.getByText('24 of 24').isVisible()).toBe(true);
    // The word of the page, which says "good is the best choice of 2 candidates": not mixed with the one that lost.
    const race = page.getByRole('row').filter({ hasText: 'race' });
    await race.getByText('best', { exact: true }).waitFor();
    await race.getByText('good', { exact: true }).waitFor();
    await page.getByRole('row').filter({ hasText: 'gate' }).getByText('not accepted').waitFor();
    const running = page.getByRole('row').filter({ hasText: 'half-way' });
    expect(await running.getByText('12 of 24').isVisible()).toBe(true);
    expect(await page.evaluate(measureLayoutShift)).toBeLessThan(0.01);
    await page.getByLabel('Verdict').selectOption('better');
    await running.waitFor({ state: 'detached' });
    await row.waitFor();
    await page.getByLabel('Verdict').selectOption('All verdicts');
    await page.getByLabel('Status').selectOption('started');
    await page.waitForURL(/status=started/);
    await row.waitFor({ state: 'detached' });
    await running.waitFor();
    await page.getByLabel('Status').selectOption('All statuses');
    await page.getByLabel('Type').selectOption('Shadow');
    await page.getByRole('heading', { name: 'No shadow experiment yet' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'No shadow experiment yet' }).waitFor();
    await page.getByLabel('Type').selectOption('Batch');
    await page.getByRole('link', { name: HOSTILE_NAME }).click();
    await page.getByRole('heading', { name: HOSTILE_NAME }).waitFor();
    expect(await page.title()).toBe(`${HOSTILE_NAME} · Experiments · ${app.application} · Switchyard`);
  });

  test('show the verdict as a sentence with its numbers', async () => {
    const page = await open('/batch/cheaper');
    // The mean of ln(0.95), …, ln(0.85) and ln(1) over twelve inputs: a ratio of 0.907.
    const sentence = page.getByText(
      /^candidate is better than control\. Objective is 9\.\d\s% lower, and the true change lies between −/,
    );
    await sentence.waitFor();
    expect((await sentence.boundingBox())?.y).toBeLessThan(FIRST_PIXELS);
    await page.getByText(/^Better on 11 of 12 inputs, within ±1\s% on 1, worse on 0\. late is/).waitFor();
    await page.getByRole('img', { name: /^Change to control\. Objective: better, decides, −9/ }).waitFor();
    expect(await page.getByText('Completed').count()).toBe(0);
    expect(await page.evaluate(measureLayoutShift)).toBeLessThan(0.01);
    await saveScreenshot(page.getByRole('article'), 'using-switchyard/experiments/console-batch.png');
    await page.getByRole('button', { name: 'Open all' }).click();
    await page.getByRole('img', { name: /^Performance profile of Objective: control, candidate/ }).waitFor();
    const table = page.getByRole('table', { name: 'Comparison of each indicator' });
    const row = table.getByRole('row').filter({ hasText: 'result.custom.seconds' });
    // The change and its interval, which has one value: all inputs change by it.
    expect(await row.getByRole('cell', { name: '+100 %', exact: true }).count()).toBe(2);
    await page.setViewportSize(PHONE);
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });

  test('say what the decision does before it makes the candidate the default', async () => {
    const page = await open('/batch/cheaper');
    const viewer = await open('/batch/cheaper', { role: 'viewer' });
    await viewer.getByRole('heading', { name: 'If you decide for it' }).waitFor();
    expect(await viewer.getByRole('button', { name: 'Set candidate as default' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Set candidate as default' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^Runs that name no instance go to candidate .* instead of latest/).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Set as default' }).click();
    await page.getByText('candidate is the default instance already.').waitFor();
    expect(await page.getByRole('button', { name: 'Set candidate as default' }).count()).toBe(0);
    const params = { application_id: app.application };
    const { body } = await at.server.client.call('getApplication', { params });
    expect(body.default_instance).toBe('candidate');
  });

  test('T2, T9: show related inputs, the number of the look, and earlier looks', async () => {
    const page = await open('/batch/cheaper');
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText('none seen', { exact: true }).waitFor();
    const looks = details.getByRole('region', { name: 'Looks' });
    await looks.getByRole('heading', { name: 'Look 1' }).waitFor();
    expect(await looks.getByRole('link').count()).toBe(0);
    await page.goto(`${at.server.url}/console/apps/${app.application}/experiments/batch/versions`);
    // Three groups of four inputs with one value and one change each.
    await details.getByText('verdict withheld, fewer than 10 groups are left', { exact: true }).waitFor();
    await looks.getByText('cheaper, 12 shared inputs').waitFor();
    await page.setViewportSize(PHONE);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findAccessibilityProblems(page)).toEqual([]);
    }
    await looks.getByRole('link', { name: 'cheaper' }).click();
    await page.waitForURL('**/batch/cheaper');
  });

  test('show the means with a value for failed runs', async () => {
    const page = await open('/batch/failing');
    await page.getByText('All indicators').click();
    const name = 'result.value with failed runs as 6,100';
    const row = page.getByRole('row').filter({ hasText: name });
    await row.waitFor();
    // The candidate has the mean of 6100 and eleven times 100.
    expect((await row.getByRole('cell').allTextContents()).slice(2, 5)).toEqual(['100', '600', '+500']);
    await page.getByText('It changes no verdict.').waitFor();
    await page.setViewportSize(PHONE);
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });

  test('open the pair of runs of a dot by the keyboard', async () => {
    const page = await open('/batch/cheaper');
    const dots = page.getByRole('group', { name: /^Change of Objective on 12 inputs/ });
    await dots.getByRole('link').first().focus();
    await page.keyboard.press('ArrowRight');
    const focused = dots.locator('a:focus');
    expect(await focused.getAttribute('aria-label')).toMatch(/^input in-[^:]*: −14\s%$/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/compare\?runs=/);
    await page.getByRole('heading', { name: 'Compare' }).waitFor();
    await page.getByText('−14 %').waitFor();
    await page.goBack();
    await dots.waitFor();
  });

  test('show distributions, and the effect by features of the inputs', async () => {
    const page = await open('/batch/cheaper');
    await page.getByRole('img', { name: 'Distribution of Objective: control, candidate' }).waitFor();
    await page.getByText('Effect by feature').click();
    // Inputs are numbered from 0 to 11, so that the halves are two groups.
    await page.getByRole('img', { name: /^Change of Objective by \/control\. 0 to 5: 6 inputs, / }).waitFor();
    await page.getByRole('combobox', { name: 'Feature' }).selectOption('bytes');
    await page.waitForURL(/feature=bytes/);
    await page.reload();
    await page.getByRole('img', { name: /^Change of Objective by bytes\. / }).waitFor();
  });

  test('of a race show which configuration it dropped, when and why', async () => {
    const page = await open('/batch/race');
    await page.getByText(/^good is the best choice of 2 candidates\. Objective is 10\s% lower/).waitFor();
    await page.getByRole('img', { name: /^Race and result\. good: better, .* bad: / }).waitFor();
    await page
      .getByText('1 of 2 candidates could no longer win, and stopped after 10 inputs. That saved 2 runs.')
      .waitFor();
    await page.getByRole('combobox', { name: 'Candidate' }).selectOption('bad');
    await page.getByRole('group', { name: /^Change of Objective on 10 inputs/ }).waitFor();
    await page.setViewportSize(PHONE);
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });

  test('keep the indicator of the pictures in the address', async () => {
    const page = await open('/batch/cheaper');
    await page.getByRole('combobox', { name: 'Indicator' }).selectOption('result.custom.seconds');
    await page.getByText(/^seconds of candidate is higher than that of control: \+100\s%/).waitFor();
    await page.reload();
    await page.getByText(/^seconds of candidate is higher/).waitFor();
  });

  test('mark results before the end as interim', async () => {
    const page = await open('/batch/half-way');
    await page.getByText(/^Not decided so far: /).waitFor();
    await page.getByRole('heading', { name: 'Change to control so far' }).waitFor();
    await page.getByRole('progressbar', { name: 'Ended runs' }).waitFor();
    await page.getByText('12 of 24 runs ended').waitFor();
  });

  test('download pictures as SVG, PNG and CSV', async () => {
    const page = await open('/batch/cheaper');
    const download = async (format: string) => {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        (async () => {
          await page.getByRole('button', { name: 'Export Change to control' }).click();
          await page.getByRole('button', { name: format }).click();
        })(),
      ]);
      const chunks: Buffer[] = [];
      for await (const chunk of await file.createReadStream()) chunks.push(chunk);
      return Buffer.concat(chunks);
    };
    await page.getByRole('img', { name: /^Change to control/ }).waitFor();
    const svg = (await download('SVG')).toString();
    expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    expect(svg).toContain('fill="rgb(');
    expect(svg).not.toMatch(/class=|style=/);
    expect((await download('PNG')).subarray(1, 4).toString()).toBe('PNG');
    expect((await download('CSV')).toString()).toMatch(/^name,change,low,high,.*\r\nObjective,-0\.09/);
  });

  test.each(['/batch/cheaper', ''])('are accessible on a phone in both themes at %s', async (path) => {
    const page = await at.openOnPhone(`/apps/${app.application}/experiments${path}`);
    await page
      .locator('p, td')
      .filter({ hasText: /better/ })
      .first()
      .waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });

  test('of an acceptance test show which rules the candidate meets', async () => {
    const page = await open('/acceptance/gate');
    await page
      // Both lists of remainders: 0, 1 and 2 have the mean 1, and 0 and 1 the mean 0.5.
      .getByText('Not accepted. The mean of late must be at most that of control; it is 1 against 0.5.')
      .waitFor();
    const rules = page.getByRole('region', { name: 'Rules', exact: true }).getByRole('listitem');
    expect(await rules.first().textContent()).toContain('not passed');
    expect(await rules.first().textContent()).toContain('result.custom.late: candidate ≤ control');
    expect(await rules.nth(1).textContent()).toContain('passed');
    await page.getByRole('group', { name: /^Change of Objective on 12 inputs/ }).waitFor();
    await page.setViewportSize(PHONE);
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });

  test('are one file as a report, in which hostile names are text', async () => {
    const page = await open('/batch/half-way');
    await page.getByRole('img', { name: /^Change to control/ }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Report' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('batch-half-way.html');
    const path = join(mkdtempSync(join(tmpdir(), 'report-')), file.suggestedFilename());
    await file.saveAs(path);
    const report = await at.visitors.newPage({ offline: true });
    await report.goto(pathToFileURL(path).href);
    rmSync(dirname(path), { recursive: true });
    expect(await report.title()).toBe(HOSTILE_NAME);
    await report.getByRole('heading', { name: HOSTILE_NAME }).waitFor();
    await report.getByText(/^Not decided so far: /).waitFor();
    expect(await report.locator('svg[viewBox]').count()).toBeGreaterThan(3);
    expect(await report.locator('table').count()).toBeGreaterThan(3);
    expect(await report.locator('script, img, link, button').count()).toBe(0);
  });

  test('are renamed and deleted; a viewer has no button for it', async () => {
    const viewer = await open('/acceptance/gate', { role: 'viewer' });
    await viewer.getByRole('heading', { name: 'May it go live?' }).waitFor();
    const changing = { name: /^(More actions|Start again)$/ };
    expect(await viewer.getByRole('button', changing).or(viewer.getByRole('link', changing)).count()).toBe(0);
    const page = await open('/acceptance/gate');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('May it serve?');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'May it serve?' }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel('Type gate to confirm').fill('gate');
    await page.getByRole('button', { name: 'Delete experiment' }).click();
    await page.getByRole('heading', { name: 'Experiments', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Which scenario' }).waitFor();
    expect(await page.getByRole('link', { name: 'May it serve?' }).count()).toBe(0);
  });

  test('of a type or id that does not exist are a page that says so', async () => {
    const page = await open('/nothing/cheaper');
    await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
  });
});
