/** The plan on the page is a run of the sample app on its sample input, and shows all of the input. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const picture = readFileSync(join(root, 'site/content/use-cases/route-plan.svg'), 'utf8');
const page = readFileSync(join(root, 'site/content/use-cases/vehicle-routing.md'), 'utf8');
const input = JSON.parse(readFileSync(join(root, 'sample-apps/vehicle-routing/input.json'), 'utf8')) as {
  stops: unknown[];
  vehicles: { id: string; start: unknown }[];
};

/** Counts the points of the paths of a class. */
function countPoints(name: string): number {
  const paths = [...picture.matchAll(new RegExp(`class="${name}" d="([^"]+)"`, 'g'))];
  return paths.reduce((sum, [, path = '']) => sum + path.split('h0').length - 1, 0);
}

test('the plan has every stop, vehicle and depot of the sample input', () => {
  expect(countPoints('visits')).toBe(input.stops.length);
  for (const { id } of input.vehicles) expect(picture).toContain(`>${id}</text>`);
  expect(countPoints('depots')).toBe(new Set(input.vehicles.map(({ start }) => JSON.stringify(start))).size);
});

test('the page states the number of stops of the plan', () => {
  expect(page).toContain(`${input.stops.length} stops`);
});
