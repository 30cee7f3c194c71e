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
/** Shows the tables and the chart. */
const SCREENSHOT_HEIGHT = 870;
const options = { strict: true, items: [{ name: 'bonus', option_type: 'int', default: 5 }] };

describe.skipIf(!hasBrowser)('the comparison of runs', () => {
  const ids: string[] = [];
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
  });
  const address = () => `/apps/bonus/compare?runs=${ids.join(',')}`;

  test('the first minute: run again with another option, and compare', async () => {
    const page = await at.open(`/apps/bonus/runs/${ids[0]}`);
    await page.getByRole('link', { name: 'Run again' }).click();
    await page.getByRole('textbox', { name: 'bonus' }).fill('30');
    await page.getByRole('button', { name: 'Run and compare' }).click();
    await page.getByRole('heading', { name: 'Compare', level: 1 }).waitFor();
    const indicators = page.getByRole('region', { name: 'Indicators', exact: true });
    await indicators.getByText('+50 (+500 %)').waitFor();
    await page.getByRole('button', { name: 'Make baseline' }).click();
    await indicators.getByText('−50 (−83.3 %)').waitFor();
    // Both runs have the name of the first; the page of the new one compares it with its original.
    await page
      .getByRole('link', { name: /^Monday · / })
      .first()
      .click();
    await page.getByText('Succeeded').waitFor();
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await indicators.getByText('+50 (+500 %)').waitFor();
  });

  test('shows only what differs, until the reader wants everything', async () => {
    const page = await at.open(address());
    const facts = page.getByRole('region', { name: 'Options', exact: true });
    await facts.getByText('8', { exact: true }).waitFor();
    expect(await page.getByRole('rowheader', { name: 'Execution class' }).count()).toBe(0);
    await page.getByLabel('Show equal values too').check();
    await page.getByRole('rowheader', { name: 'Execution class' }).waitFor();
    await page.reload();
    await page.getByRole('rowheader', { name: 'Execution class' }).waitFor();
  });

  test('lists the places at which input and output differ', async () => {
    const page = await at.open(address());
    const row = (name: string) =>
      page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });
    await row('day').waitFor();
    expect(await row('day').getByRole('cell').allTextContents()).toEqual(['Monday', 'Tuesday']);
    await row('solution.stops[1]').waitFor();
    expect(await row('solution.stops[1]').getByRole('cell').allTextContents()).toEqual(['5', '8']);
  });

  test('shows the lines at which the logs differ, and the objectives of both runs in one chart', async () => {
    const page = await at.open(address());
    const log = page.getByRole('region', { name: 'Log', exact: true });
    await log.getByRole('row').filter({ hasText: 'bonus 8' }).waitFor();
    expect(await log.locator('tr[data-kind="removed"]').allInnerTexts()).toEqual([
      expect.stringContaining('bonus 5'),
    ]);
    const chart = page.getByRole('region', { name: 'Objective over time' });
    expect(await chart.getByRole('listitem').allInnerTexts()).toEqual(['Monday 10', 'Tuesday 16']);
    const facts = page.getByRole('region', { name: 'Facts', exact: true });
    await saveScreenshot(facts, 'get-started/concepts/console-compare.png', SCREENSHOT_HEIGHT);
  });

  test('explains itself with one run, and with one that does not exist', async () => {
    const page = await at.open(`/apps/bonus/compare?runs=${ids[0]}`);
    await page.getByText('Add a run to compare this run with it.').waitFor();
    await page.goto(`${at.server.url}/console/apps/bonus/compare?runs=${ids[0]},gone`);
    await page.getByRole('alert').filter({ hasText: 'gone' }).waitFor();
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone(address());
    await page.getByRole('region', { name: 'Output', exact: true }).getByRole('table').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
