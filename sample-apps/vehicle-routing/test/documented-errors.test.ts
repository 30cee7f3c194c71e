/** The pages of the documentation show what the app says about wrong inputs; here it says so. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { InputError } from '../src/input/fields.ts';
import { prepareSearch } from '../src/prepare-search.ts';

const pages = join(import.meta.dirname, '../../../site/content/use-cases/vehicle-routing');
const a = { id: 'a', location: { x: 1, y: 0 } };
const b = { id: 'b', location: { x: 1, y: 0 } };
const van = { id: 'van' };
const stop = (fields: object) => ({ stops: [{ ...a, ...fields }, b], vehicles: [van] });
const vehicle = (fields: object) => ({ stops: [a, b], vehicles: [{ ...van, ...fields }] });
const shipments = (...list: object[]) => ({ stops: [a, b], vehicles: [van], shipments: list });
const named = (fields: object) => ({ stops: [{ id: 'a', location: 'p' }], vehicles: [van], ...fields });
const place = { id: 'p' };

/** Inputs that the pages speak of. */
const wrong: unknown[] = [
  [],
  { vehicles: [] },
  { stops: {}, vehicles: [] },
  { stops: [], vehicles: [] },
  { ...stop({}), stop: [] },
  { stops: [a, a], vehicles: [van] },
  { stops: [a], vehicles: [van, van] },
  { stops: [a, { id: 'b', location: { lon: 1, lat: 1 } }], vehicles: [van] },
  { ...stop({}), defaults: { stops: { service: 1 } } },
  stop({ location: { x: 1 } }),
  stop({ location: { lon: 1, lat: 91 } }),
  stop({ location: 'there' }),
  stop({ location: { x: 1, lat: 2 } }),
  stop({ deliver: -1 }),
  stop({ deliver: { kg: '3' } }),
  stop({ pickup: -1 }),
  stop({ windows: [] }),
  stop({ window: [] }),
  stop({ windows: [{ from: 5, to: 4 }] }),
  stop({
    windows: [
      { from: 5, to: 9 },
      { from: 8, to: 10 },
    ],
  }),
  stop({ windows: [{ from: 'monday', to: 1 }] }),
  stop({ windows: [{ from: 5, to: '2026-05-04T08:00:00Z' }] }),
  stop({ service_duration: -5 }),
  stop({ service: 5 }),
  stop({ vehicles: ['w'] }),
  stop({ skills: 'crane' }),
  stop({ unplanned_penalty: 'high' }),
  stop({ priority: 0 }),
  vehicle({ start: 'depot' }),
  vehicle({ capacity: 'big' }),
  vehicle({ shift: { from: 9, to: 5 } }),
  vehicle({ max_stops: 1.5 }),
  vehicle({ cost_per_distance: -1 }),
  vehicle({ speed: 0 }),
  vehicle({ initial_stops: ['z'] }),
  vehicle({ initial_stops: ['a', 'a'] }),
  vehicle({ initial_stops: [{ id: 'a', fixed: 'yes' }] }),
  vehicle({ max_stops: 0, initial_stops: ['b', { id: 'a', fixed: true }] }),
  {
    ...shipments({ pickup: 'a', delivery: 'b' }),
    ...{ vehicles: [{ ...van, initial_stops: [{ id: 'a', fixed: true }] }] },
  },
  { ...shipments({ pickup: 'a', delivery: 'b' }), stops: [{ ...a, deliver: 1 }, b] },
  shipments({ pickup: 'b', delivery: 'a' }, { pickup: 'a', delivery: 'b' }),
  shipments({ pickup: 'a', delivery: 'a' }),
  shipments({ pickup: 'a', delivery: 'z' }),
  named({ locations: [place] }),
  named({ locations: [place], distance_matrix: [] }),
  named({ locations: [place], distance_matrix: [[-1]] }),
  { ...stop({}), locations: [{ ...place, x: 1, y: 1 }], duration_matrix: [[0]] },
];

function findRefusal(input: unknown): string {
  try {
    prepareSearch([], JSON.stringify(input), () => 0);
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
  return 'accepted';
}

/** Every sentence about an input that stands as code on a page. */
function listMessages(page: string): string[] {
  const text = readFileSync(join(pages, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/`([^`]+)`/g)]
    .map(([, code = '']) => code.replaceAll(/\s+/g, ' '))
    .filter((code) =>
      /^(stops|vehicles|shipments|locations|defaults|input|\w+_matrix|Some|The input)\b.* .*[.?]$/.test(code),
    );
}

// A copy of the app is tested without the documentation.
describe.skipIf(!existsSync(pages))('the app says what is on the page', () => {
  const messages = new Set(wrong.map(findRefusal));
  it.each(readdirSync(pages).filter((name) => name.endsWith('.md')))('%s', (page) => {
    for (const message of listMessages(page)) expect([...messages]).toContain(message);
  });

  it('and some pages have such sentences', () => {
    expect(listMessages('matrices.md').length).toBeGreaterThan(3);
  });
});
