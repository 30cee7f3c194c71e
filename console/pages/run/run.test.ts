/** The run page: its phases, results, log and actions. */
import { readFileSync } from 'node:fs';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { measureLayoutShift } from '@switchyard/browser-testing/layout-shift.ts';
import {
  createRun,
  createRunAndWait,
  pushApp,
  waitForLogLine,
} from '@switchyard/server/testing/fixtures/apps.ts';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

const LOGS = new URL('../../../solver-logs/testing/logs/', import.meta.url);
const readLog = (name: string): string => readFileSync(new URL(`${name}.out`, LOGS), 'utf8');

/** A name or a tag is one line of visible text. An app can also print characters that turn text around. */
const MARKUP = '<script>alert(1)</script> evil';
const HOSTILE = '<script>alert(1)</script> \u202eevil';
const series = {
  value: {
    name: 'cost',
    data_points: [
      { x: 0.1, y: 1500 },
      { x: 0.4, y: 1200 },
      { x: 1.5, y: 1040.6 },
    ],
  },
};
const OUTPUT = {
  solution: { stops: [1, 2] },
  statistics: { schema: 'v1', result: { value: 1040.6, custom: { [HOSTILE]: 'yes' } }, series_data: series },
};
/**
 * Prints 3,000 lines and a result. With the option `wait` it waits for its cancellation after the first line, and with `solve`
 * after six points of series. With `highs` it prints the log of a solver that
 * finds the optimum of one model and has too little time for another. With `stop` it prints a result when it is canceled, and with `chatter` a line now and then.
 */
const APP = `#!/bin/sh
echo "reading the input" >&2
case "$*" in
  *wait*) exec sleep 60;;
  *solve*)
    for value in 1400 1100 1000 980 950 900; do
      echo "{\\"series\\": {\\"objective\\": $value, \\"bound\\": 850, \\"temperature\\": 3}}" >&2
      sleep 0.3
    done
    exec sleep 60;;
  *chatter*) for number in $(seq 3000); do echo "line $number" >&2; sleep 0.05; done;;
  *stop*)
    trap 'echo "{\\"statistics\\": {\\"schema\\": \\"v1\\", \\"result\\": {\\"value\\": 77}}}"; exit 0' TERM
    echo "ready to stop" >&2
    while true; do sleep 0.1; done;;
  *highs*) cat >&2 <<'END'
${readLog('highs-minimise')}${readLog('highs-time-limit')}
END
    ;;
  *fail*) printf '\\033[31mno vehicle fits\\033[0m\\n' >&2; exit 3;;
esac
seq -f "improved %.0f times" 1 3000 >&2
printf '<img src=x onerror=alert(1)> \\342\\200\\256evil\\n' >&2
cat <<'END'
${JSON.stringify(OUTPUT)}
END
`;

/** Runs at once on the server of these tests. */
const SLOTS = 2;

describe.skipIf(!hasBrowser)('the run page', () => {
  let done = '';
  const prepare = async (server: TestServer) => {
    await pushApp(server, 'routing', { main: APP }, { executable_type: 'binary', runtime: 'native' });
    const run = await createRunAndWait(server, 'routing', {
      input: {},
      body: { name: MARKUP, description: 'For Monday', options: { duration: '2' } },
    });
    expect(run.status_v2).toBe('succeeded');
    done = run.id;
  };
  const at = setUpConsole(prepare, { env: { SWITCHYARD_CAPACITY: String(SLOTS) } });
  const address = (run: string, search = '') => `/apps/routing/runs/${run}${search}`;

  test('says beside the status that a solver stopped early, and lists the solves', async () => {
    const { id } = await createRunAndWait(at.server, 'routing', {
      body: { options: { highs: 'true' } },
      input: {},
    });
    const page = await at.open(address(id));
    await page.getByText('stopped by its time limit, gap 1.1 %', { exact: true }).first().waitFor();
    const table = page.getByRole('table', { name: 'Solves' });
    expect(await table.getByRole('row').allInnerTexts()).toEqual([
      expect.stringMatching(/^Solver\s+End\s+Objective/),
      expect.stringMatching(/^HiGHS 1\.16\.0\s+optimal\s+2,940\s+2,940\s+0\s%\s+5\s/),
      expect.stringMatching(
        /^HiGHS 1\.16\.0\s+stopped by its time limit, gap 1\.1\s%\s+6,822\s+6,894\s+1\.1\s%\s+0\s/,
      ),
    ]);
  });

  test('shows facts, phases, indicators and options of an ended run, at the address that clients print', async () => {
    const page = await at.open();
    await page.goto(`${at.server.url}/app/routing/run/${done}`);
    expect(page.url()).toBe(`${at.server.url}/console${address(done)}`);
    await page.getByRole('heading', { level: 1, name: '<script>alert(1)</script>' }).waitFor();
    expect(await page.title()).toBe(`${MARKUP} · routing · Switchyard`);
    await page.getByText('Succeeded', { exact: true }).waitFor();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    expect(await timeline.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^Waited\s[\d.]+\s(ms|s)$/),
      expect.stringMatching(/^Ran\s(peak .+\s)?[\d.]+\s(ms|s)$/),
      expect.stringMatching(/^Stored results\s[\d.]+\s(ms|s)$/),
    ]);
    await page.getByRole('row', { name: /^Objective 1,041/ }).waitFor();
    const options = page.getByRole('region', { name: 'Options' });
    expect(await options.innerText()).toMatch(/duration\s+set by this run\s+2/);
    await page.getByText('1,500 after x = 0.1, 1,200 after x = 0.4, 1,041 after x = 1.5').waitFor();
    expect(await page.evaluate(measureLayoutShift)).toBeLessThan(0.02);
  });

  test('shows output and input, also before there is one', async () => {
    const page = await at.open(address(done, '?tab=output&mode=tree'));
    await page.getByRole('tree', { name: 'Output' }).getByText('1040.6').first().waitFor();
    await page.getByRole('tab', { name: 'Input' }).click();
    await page.getByRole('tree', { name: 'Input' }).waitFor();
    const failed = await createRunAndWait(at.server, 'routing', {
      input: {},
      body: { options: { fail: '1' } },
    });
    await page.goto(`${at.server.url}/console${address(failed.id, '?tab=output')}`);
    await page.getByText('The run has no output.').waitFor();
  });

  test('searches the log, and the address keeps tab and search', async () => {
    const page = await at.open(address(done));
    await page.getByRole('tab', { name: 'Log' }).click();
    const log = page.getByRole('region', { name: 'Log', exact: true });
    await log.getByText('reading the input').waitFor();
    await page.getByText('3,002 lines').waitFor();
    const search = page.getByLabel('Search the log');
    const [top, end] = await Promise.all(
      [search, page.getByRole('button', { name: 'Download the log' })].map((one) => one.boundingBox()),
    );
    expect(end?.y, 'The toolbar has one row.').toBeLessThan((top?.y ?? 0) + (top?.height ?? 0));
    await search.fill('IMPROVED 2999');
    await page.getByText('1 of 1', { exact: true }).waitFor();
    await log.locator('mark').filter({ hasText: 'improved 2999' }).waitFor();
    await page.getByLabel('Level').selectOption('error');
    await page.getByText('No line has this level.').waitFor();
    await page.getByLabel('Level').selectOption('');
    await search.fill('evil');
    await log.getByText('<img src=x onerror=alert(1)> ⟨U+202E⟩evil').waitFor();
    await page.reload();
    await log.getByText('⟨U+202E⟩evil').waitFor();
    expect(new URL(page.url()).search).toBe('?tab=log&find=evil');
    await page.goBack();
    await page.getByRole('heading', { name: 'Indicators' }).waitFor();
  });

  test('shows the times of lines after the end, and links to a line', async () => {
    const page = await at.open(address(done, '?tab=log&line=2990'));
    const log = page.getByRole('region', { name: 'Log', exact: true });
    const chosen = log.locator('[data-chosen]');
    await chosen.getByText('improved 2989 times').waitFor();
    expect(await chosen.locator('time').textContent()).toMatch(/^00:\d\d\.\d{3}$/);
    await page.getByLabel('Times').selectOption('clock');
    await chosen.getByText(/^\d\d:\d\d:\d\d\.\d{3}$/).waitFor();
    await page.getByLabel('Times').selectOption('none');
    expect(await log.locator('time').count()).toBe(0);
    await page.getByLabel('Line', { exact: true }).fill('3002');
    await chosen.getByText('⟨U+202E⟩evil').waitFor();
    await page.getByRole('button', { name: 'Copy link to line 3002' }).waitFor();
    await page.getByRole('button', { name: 'Wrap lines' }).click();
    await chosen.getByText('⟨U+202E⟩evil').waitFor();
    expect(new URL(page.url()).search).toBe('?tab=log&line=3002&times=none&wrap=true');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the log' }).click();
    expect((await download).suggestedFilename()).toBe(`${done}.log`);
  });

  test('follows the log of a running run, and cancels it by the keyboard', async () => {
    const run = await createRun(at.server, 'routing', { input: {}, body: { options: { wait: '1' } } });
    const page = await at.open(address(run, '?tab=log'));
    await waitForLogLine(at.server, 'routing', run, 'reading the input');
    await page.getByRole('region', { name: 'Log', exact: true }).getByText('reading the input').waitFor();
    await page.getByText('Running', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Stop and keep the best' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Canceled', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Run again' }).waitFor();
  });

  test('says before a stop what it keeps, and shows it', async () => {
    const run = await createRun(at.server, 'routing', { input: {}, body: { options: { stop: '1' } } });
    const page = await at.open(address(run));
    await page.getByText(/has 5\ss to print its best output/).waitFor();
    await page.getByText('No run waits for its slot.').waitFor();
    await page.getByRole('img', { name: /are used, class limit/ }).waitFor();
    await waitForLogLine(at.server, 'routing', run, 'ready to stop');
    await page.getByRole('button', { name: 'Stop and keep the best' }).click();
    await page.getByText('Canceled', { exact: true }).waitFor();
    // What it printed within five seconds is kept.
    await page.getByRole('row', { name: /^Objective 77/ }).waitFor();
  });

  test('follows the log until the reader scrolls up, and says how many lines are new', async () => {
    const run = await createRun(at.server, 'routing', { input: {}, body: { options: { chatter: '1' } } });
    const page = await at.open(address(run));
    await waitForLogLine(at.server, 'routing', run, 'line 60');
    const log = page.getByRole('region', { name: 'Log', exact: true }).last();
    await log.getByText('line 60', { exact: true }).waitFor();
    await log.hover();
    await page.mouse.wheel(0, -400);
    await page.locator('button[aria-pressed="true"]', { hasText: 'Pause' }).waitFor();
    await page.getByRole('button', { name: /^\d+ new lines?$/ }).click();
    await page.locator('button[aria-pressed="true"]', { hasText: 'Follow' }).waitFor();
    await at.server.client.call('cancelRun', { params: { application_id: 'routing', run_id: run } });
  });

  test('moves a queued run to the front from its own page', async () => {
    const slots = [];
    for (let index = 0; index < SLOTS; index += 1)
      slots.push(await createRun(at.server, 'routing', { input: {}, body: { options: { wait: '1' } } }));
    const [first, second] = [
      await createRun(at.server, 'routing', { input: {} }),
      await createRun(at.server, 'routing', { input: {}, body: { options: { wait: '1' } } }),
    ];
    const page = await at.open(address(second));
    await page.getByText('It waits at position 2.').waitFor();
    await page.getByLabel('Priority').selectOption('7');
    await page.getByRole('button', { name: 'Run next' }).click();
    await page.getByText('It waits at position 1.').waitFor();
    expect(await page.getByRole('button', { name: 'Run next' }).count()).toBe(0);
    for (const run of [second, first, ...slots])
      await at.server.client.call('cancelRun', { params: { application_id: 'routing', run_id: run } });
  });

  test('draws the series of a running run as they come, and says what they show', async () => {
    const run = await createRun(at.server, 'routing', { input: {}, body: { options: { solve: '1' } } });
    const page = await at.open(address(run));
    const chart = page.getByRole('region', { name: 'Objective so far' });
    await chart.getByText('900 so far').waitFor();
    await chart.getByText('bound 850').waitFor();
    await chart.getByText(/of the gain so far came in the first/).waitFor();
    await chart.getByText(/So far the bound leaves at most 5\.6\s% to gain/).waitFor();
    await page.getByText('5 improvements').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    const table = page.getByRole('region', { name: 'Indicators so far' });
    await table.getByRole('row', { name: 'objective 900 −5.3 %'.replaceAll(' %', '\u00a0%') }).waitFor();
    await page.getByText('3 all the time').waitFor();
    await page.getByRole('button', { name: 'Stop and keep the best' }).click();
    await page.getByText('Canceled', { exact: true }).waitFor();
    await page.reload();
    const ended = page.getByRole('region', { name: 'Objective', exact: true });
    await ended.getByText('this run').waitFor();
    await ended.getByText('Values as a table').click();
    await ended.getByRole('row', { name: /^objective [\d.]+ 950$/ }).waitFor();
  });

  test('says why a run failed in words, with the end of its log and what to do', async () => {
    const run = await createRunAndWait(at.server, 'routing', {
      input: {},
      body: { options: { fail: '1' } },
    });
    const page = await at.open(address(run.id));
    const answer = page.getByRole('alert').filter({ hasText: run.error });
    await answer.getByText('no vehicle fits').waitFor();
    await page.getByRole('link', { name: /^Open the last good run/ }).waitFor();
    const end = page.getByRole('region', { name: 'End of the log' }).first();
    await end.getByText('no vehicle fits').waitFor();
    const steps = page.getByRole('region', { name: 'What to do' });
    await steps.getByText('Try it with the same input').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.getByRole('link', { name: 'Open the log' }).click();
    await page.getByRole('region', { name: 'Log', exact: true }).getByText('no vehicle fits').waitFor();
  });

  test('replays a run and shows the comparison', async () => {
    const page = await at.open(address(done));
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Replay' }).click();
    const replays = page.getByRole('region', { name: 'Replays' });
    await replays.getByText('Same output, byte by byte').waitFor();
    await replays.getByRole('link', { name: /^run-|^[a-z]/ }).click();
    await page.getByRole('link', { name: done }).waitFor();
  });

  test('adds and removes tags, and a viewer only sees them', async () => {
    const page = await at.open(address(done));
    const tags = page.getByRole('list', { name: 'Tags' });
    for (const tag of ['board meeting', MARKUP]) {
      await page.getByRole('button', { name: 'Add tag' }).click();
      await page.getByLabel('Tag', { exact: true }).fill(tag);
      await page.keyboard.press('Enter');
      await tags.getByText(tag).waitFor();
    }
    for (const tag of [MARKUP, 'board meeting']) {
      await tags.getByRole('button', { name: `Remove the tag ${tag}` }).click();
      await tags.getByText(tag).waitFor({ state: 'detached' });
    }
    await page.getByText('Tag board meeting removed.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await tags.getByText('board meeting').waitFor();
    await page.getByText('Tag board meeting removed.').waitFor({ state: 'detached' });
    const params = { application_id: 'routing', run_id: done };
    expect((await at.server.client.call('getRunTags', { params })).body.tags).toEqual(['board meeting']);
    const viewer = await at.open(address(done), { role: 'viewer' });
    const tag = viewer.getByRole('list', { name: 'Tags' }).getByRole('link', { name: 'board meeting' });
    await tag.waitFor();
    expect(await viewer.getByRole('button', { name: /tag/ }).count()).toBe(0);
    await tag.click();
    await viewer.getByText('1 run.', { exact: true }).waitFor();
    expect(await viewer.getByRole('link', { name: 'New run' }).count()).toBe(0);
  });

  test('deletes a run after its confirmation was typed', async () => {
    const run = await createRunAndWait(at.server, 'routing', { input: {} });
    const page = await at.open(address(run.id));
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Delete …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete this run?' });
    expect(await dialog.getByRole('button', { name: 'Delete run' }).isDisabled()).toBe(true);
    await page.keyboard.type('delete');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${at.server.url}/console/apps/routing/runs`);
    const { status } = await at.server.request('GET', `/v1/applications/routing/runs/${run.id}`);
    expect(status).toBe(404);
  });

  test('offers a viewer no action that the role lacks', async () => {
    const page = await at.open(address(done), { role: 'viewer' });
    await page.getByRole('link', { name: 'Compare', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'More actions' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Run again' }).count()).toBe(0);
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone(address(done));
    await page.getByRole('region', { name: 'Indicators' }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Log' }).click();
    await page.getByText('reading the input').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
