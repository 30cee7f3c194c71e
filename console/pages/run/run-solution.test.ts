/** The solution, assets and indicators of a run: views, tabs, slots and the baseline. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { measureLayoutShift } from '@switchyard/browser-testing/layout-shift.ts';
import { createRunAndWait, pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { ECHO_APP, ECHO_APP_TYPE } from '../../testing/hostile-output.ts';

const at = (lon: number, lat: number) => ({ lon, lat });
const visit = (stop: string, lon: number, hour: number) => ({
  stop,
  location: at(lon, 53.5),
  arrival: `2026-05-04T0${hour}:00:00+02:00`,
  departure: `2026-05-04T0${hour}:30:00+02:00`,
});
const geojson = { type: 'FeatureCollection', features: [] };
const asset = (name: string, visual: object, content: unknown = { name }) => ({ name, content, visual });

/** The output of a routing app with `value` as its objective. */
const formatOutput = (value: number) => ({
  solution: {
    vehicles: [
      {
        id: 'van',
        start_location: at(10, 53.6),
        distance: 12_000,
        route: [visit('a', 10.1, 8), visit('b', 10.2, 9)],
      },
      { id: 'truck', route: [visit('c', 10.3, 8)] },
    ],
    visualization: [
      { schema: 'routes', path: 'solution.vehicles' },
      {
        schema: 'gantt',
        label: 'Tours',
        path: 'solution.vehicles[].route',
        fields: { resource: 'id', label: 'stop', start: 'arrival', end: 'departure' },
      },
      { schema: 'table', path: 'solution.missing' },
    ],
  },
  statistics: { schema: 'v1', result: { value } },
  assets: [
    asset('last', { type: 'summary-tab', slot: 2, label: 'Second slot' }),
    asset('first', { type: 'summary-tab', slot: 1, label: 'First slot' }),
    asset('zones', { type: 'custom-tab', schema: 'geojson', label: 'Zones' }, geojson),
    asset('depots', { type: 'custom-tab', schema: 'geojson', label: 'Zones' }, geojson),
  ],
});

/** Returns the text of each row, with one space between cells. */
async function listRows(table: Locator): Promise<string[]> {
  const texts = await table.getByRole('row').allInnerTexts();
  return texts.map((text) => text.trim().replaceAll(/\s+/g, ' '));
}

describe.skipIf(!hasBrowser)('the solution of a run', () => {
  let before = '';
  let after = '';
  const console = setUpConsole(async (server) => {
    await pushApp(server, 'tours', ECHO_APP, ECHO_APP_TYPE);
    const [one, other] = [80, 100].map((value) => formatOutput(value));
    before = (await createRunAndWait(server, 'tours', { input: one, body: { name: 'Monday' } })).id;
    after = (await createRunAndWait(server, 'tours', { input: other })).id;
  });
  const open = (run: string) => console.open(`/apps/tours/runs/${run}`);

  test('shows routes on a map with their table, and the stops of a route by the keyboard', async () => {
    const page = await open(after);
    const view = page.getByRole('figure', { name: 'Routes' });
    await view.getByRole('img', { name: 'Map' }).waitFor();
    const table = view.getByRole('region', { name: 'Table of routes' });
    expect(await listRows(table)).toEqual(['Route Stops Distance', 'van 2 12,000', 'truck 1']);
    await table.getByRole('button', { name: 'van' }).focus();
    await page.keyboard.press('Enter');
    const stops = view.getByRole('region', { name: 'Table of stops' });
    expect(await listRows(stops)).toEqual(['# Stop Arrival Departure', '1 a 08:00 08:30', '2 b 09:00 09:30']);
    expect(await page.evaluate(measureLayoutShift)).toBeLessThan(0.02);
    await page.getByRole('button', { name: 'Dark theme' }).click();
    await view.getByRole('img', { name: 'Map' }).waitFor();
    expect(await table.getByRole('button', { name: 'van' }).getAttribute('aria-pressed')).toBe('true');
  });

  test('shows a Gantt chart whose bars are reached by the arrow keys, and explains a wrong hint', async () => {
    const page = await open(after);
    await page.getByText('The output has nothing at `solution.missing`').waitFor();
    await page.getByRole('button', { name: 'Tours', exact: true }).click();
    const chart = page.getByRole('listbox', { name: 'Tours: Gantt chart' });
    await chart.focus();
    for (const key of ['ArrowDown', 'ArrowRight', '+']) await page.keyboard.press(key);
    const selected = chart.getByRole('option', { selected: true });
    expect(await selected.locator('title').textContent()).toBe('van: b, 4 May, 09:00 to 09:30');
    await page.keyboard.press('ArrowDown');
    expect(await selected.locator('title').textContent()).toBe('truck: c, 4 May, 08:00 to 08:30');
    expect(await page.getByRole('button', { name: 'Zoom out' }).isEnabled()).toBe(true);
    await page.keyboard.press('0');
    expect(await page.getByRole('button', { name: 'Zoom out' }).isEnabled()).toBe(false);
  });

  test('shows assets in the slots of the summary and in tabs of their label', async () => {
    const page = await open(after);
    const titles = page.getByRole('heading', { level: 2, name: /slot$/ });
    await titles.first().waitFor();
    expect(await titles.allInnerTexts()).toEqual(['First slot', 'Second slot']);
    await page.getByRole('tab', { name: 'Zones' }).click();
    expect(await page.getByRole('heading', { level: 2, name: 'Zones' }).count()).toBe(2);
    await page.reload();
    await page.getByRole('tab', { name: 'Zones', selected: true }).waitFor();
  });

  test('compares indicators with the last success of the instance, or with a chosen run', async () => {
    const page = await open(after);
    await page.getByRole('row', { name: 'Objective 100 ▲ +25\u00a0%' }).waitFor();
    expect(await page.getByLabel('Baseline').inputValue()).toBe(before);
    await page.getByRole('link', { name: 'Compare with the baseline' }).click();
    await page.getByRole('heading', { name: 'Compare', level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get('runs')).toBe(`${before},${after}`);
    await page.goto(`${console.server.url}/console/apps/tours/runs/${before}`);
    await page.getByLabel('Baseline').selectOption(after);
    await page.getByRole('row', { name: 'Objective 80 ▼ −20\u00a0%' }).waitFor();
    expect(new URL(page.url()).searchParams.get('baseline')).toBe(after);
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await console.openOnPhone(`/apps/tours/runs/${after}`);
    await page.getByRole('img', { name: 'Map' }).first().waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Tours', exact: true }).click();
    await page.getByRole('option').first().waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
