/** The comparison of runs, and the way from a finished run to it. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createRunAndWait, pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { saveScreenshot } from '../../testing/save-screenshot.ts';

/** Its objective is the option `bonus` times two, after 100 and 50. */
const APP = `#!/bin/sh
cat > /dev/null
while [ $# -gt 0 ]; do [ "$1" = -bonus ] && bonus=$2; shift; done
printf 'started\\nbonus %s\\nended\\n' "$bonus" >&2
value=$((bonus * 2))
printf '{"solution":{"stops":[1,%s]},"statistics":{"schema":"v1","result":{"value":%s},' "$bonus" "$value"
printf '"series_data":{"value":{"name":"cost","data_points":[{"x":0,"y":100},{"x":%s,"y":50},{"x":20,"y":%s}]}}}}' "$bonus" "$value"
`;
/** Prints its input as its output. */
const COPY = '#!/bin/sh\ncat\n';

function drawRoutes(van: string, truck: string) {
  const toStops = (names: string) =>
    names.split(' ').map((stop, index) => ({
      stop,
      location: [10 + index / 100, 53],
      arrival: `2026-05-04T${['08:10', '08:40', '09:10'][index]}:00+02:00`,
    }));
  return {
    vehicles: [
      { id: 'van', route: toStops(van) },
      { id: 'truck', route: toStops(truck) },
    ],
  };
}

/** Returns a roster with two places of one shift, which no default key tells apart. */
function createRoster(name: string) {
  return { roster: ['eva', name].map((employee) => ({ employee, shift: 'early', start: 6, end: 14 })) };
}
const options = { strict: true, items: [{ name: 'bonus', option_type: 'int', default: 5 }] };

describe.skipIf(!hasBrowser)('the comparison of runs', () => {
  const ids: string[] = [];
  const plans: string[] = [];
  const rosters: string[] = [];
  const at = setUpConsole(async (server) => {
    await pushApp(server, 'bonus', { main: APP }, { executable_type: 'binary', entrypoint: 'main', options });
    for (const [name, bonus] of [
      ['Monday', 5],
      ['Tuesday', 8],
    ] as const) {
      const run = await createRunAndWait(server, 'bonus', {
        input: { day: name },
        body: { name, options: { bonus } },
      });
      ids.push(run.id);
    }
    await pushApp(server, 'routes', { main: COPY }, { executable_type: 'binary', entrypoint: 'main' });
    await pushApp(server, 'shifts', { main: COPY }, { executable_type: 'binary', entrypoint: 'main' });
    for (const input of [drawRoutes('a b', 'c d'), drawRoutes('a', 'c d b')])
      plans.push((await createRunAndWait(server, 'routes', { input })).id);
    for (const name of ['ana', 'ben'])
      rosters.push((await createRunAndWait(server, 'shifts', { input: createRoster(name) })).id);
  });
  const address = () => `/apps/bonus/compare?runs=${ids.join(',')}`;

  test('the first minute: run again with another option, and compare', async () => {
    const page = await at.open(`/apps/bonus/runs/${ids[0]}`);
    await page.getByRole('link', { name: 'Run again' }).click();
    await page.getByRole('textbox', { name: 'bonus' }).fill('30');
    await page.getByRole('button', { name: 'Run and compare' }).click();
    await page.getByRole('heading', { name: 'Compare', level: 1 }).waitFor();
    const results = page.getByRole('region', { name: 'Results', exact: true });
    await results.getByText('▲ +50').waitFor();
    await page.getByText('Objective is 50 higher in B').waitFor();
    await page.getByRole('button', { name: 'Swap A and B' }).click();
    await results.getByText('▼ −50').waitFor();
    // Both runs have the name of the first; the page of the new one compares it with its original.
    await page
      .getByRole('list', { name: 'Compared runs' })
      .getByRole('link', { name: 'Monday' })
      .first()
      .click();
    await page.getByText('Succeeded', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await results.getByText('▲ +50').waitFor();
  });

  test('shows only what differs, until the reader wants everything', async () => {
    const page = await at.open(address());
    const facts = page.getByRole('region', { name: 'Options', exact: true });
    await facts.getByText('8', { exact: true }).waitFor();
    expect(await page.getByRole('rowheader', { name: 'Execution class' }).count()).toBe(0);
    await page.getByLabel(/^Show \d+ equal values$/).check();
    await page.getByRole('rowheader', { name: 'Execution class' }).waitFor();
    await page.reload();
    await page.getByRole('rowheader', { name: 'Execution class' }).waitFor();
  });

  test('lists the places at which input and output differ', async () => {
    const page = await at.open(address());
    await page.getByRole('tab', { name: 'Input' }).click();
    const row = (name: string) =>
      page.getByRole('row').filter({ has: page.getByRole('cell', { name, exact: true }) });
    await row('day').waitFor();
    expect(await row('day').getByRole('cell').allTextContents()).toEqual(['day', 'Monday', 'Tuesday']);
    await page.getByRole('tab', { name: 'Output' }).press('Enter');
    await row('solution.stops[1]').waitFor();
    expect(await row('solution.stops[1]').getByRole('cell').allTextContents()).toEqual([
      ...['solution.stops[1]', '5', '8'],
    ]);
  });

  test('shows the lines at which the logs differ, and the objectives of both runs in one chart', async () => {
    const page = await at.open(`${address()}&view=log`);
    const log = page.getByRole('region', { name: 'Log', exact: true });
    await log.getByRole('row').filter({ hasText: 'bonus 8' }).waitFor();
    expect(await log.locator('tr[data-kind="removed"]').allInnerTexts()).toEqual([
      expect.stringContaining('bonus 5'),
    ]);
    await page.getByRole('tab', { name: 'Results' }).click();
    const chart = page.getByRole('region', { name: 'Objective over run time' });
    for (const name of ['A', 'B']) await chart.getByText(name, { exact: true }).first().waitFor();
    await saveScreenshot(page.getByRole('main'), 'get-started/concepts/console-compare.png');
  });

  test('shows what moved between two plans, and a key that is missing', async () => {
    const page = await at.open(`/apps/routes/compare?runs=${plans.join(',')}`);
    await page.getByRole('tab', { name: 'Plan' }).click();
    await page.getByText('1 of 4 stops are on another route, 3 stayed as they were.').first().waitFor();
    await page.getByRole('img', { name: /^1 of 4 stops/ }).waitFor();
    const row = page.getByRole('region', { name: 'Moved stops', exact: true }).getByRole('row').nth(1);
    expect((await row.getByRole('cell').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual(
      [...['b', 'van', 'truck', '08:40 → 09:10', '+30 min']],
    );
    await page.getByRole('img', { name: 'Map', exact: true }).waitFor();
    await page
      .getByRole('group', { name: 'Plan on the map' })
      .getByRole('button', { name: 'A' })
      .press('Enter');
    await page.getByRole('heading', { name: 'Map of A' }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.goto(`${at.server.url}/console/apps/shifts/compare?view=output&runs=${rosters.join(',')}`);
    await page.getByText('Several tasks are called early.').waitFor();
  });

  test('explains itself with one run, and with one that does not exist', async () => {
    const page = await at.open(`/apps/bonus/compare?runs=${ids[0]}`);
    await page.getByText('Add another run to compare them.').waitFor();
    await page.goto(`${at.server.url}/console/apps/bonus/compare?runs=${ids[0]},gone`);
    await page.getByRole('alert').filter({ hasText: 'gone' }).waitFor();
    await page.goto(`${at.server.url}/console${address()},gone`);
    await page.getByRole('alert').filter({ hasText: 'gone' }).waitFor();
    await page.getByText('Objective is 6 higher in B').waitFor();
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone(address());
    await page.getByRole('region', { name: 'Objective over run time' }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
