/** Groups of inputs with mostly equal contents: versions of the same instance, and independent ones. */
import { describe, expect, test } from 'vitest';
import { RandomGenerator } from '../../platform/random-generator.ts';
import { groupContents } from './group-contents.ts';
import { sketchContent } from './sketch-content.ts';

interface Stop {
  id: string;
  lat: number;
  lon: number;
  demand: number;
}
interface Instance {
  created: string;
  fleet: string;
  settings: object;
  stops: Stop[];
}

const drawStop = (generator: RandomGenerator): Stop => ({
  id: `s${generator.bits()}`,
  lat: generator.uniform(),
  lon: generator.uniform(),
  demand: generator.integerBelow(5),
});

function drawInstance(generator: RandomGenerator, fleet: number, stops = 40): Instance {
  return {
    created: `2026-01-05T00:00:0${fleet % 10}Z`,
    fleet: `fleet ${fleet}`,
    settings: { speed: 40, shifts: ['early', 'late'], open: true },
    stops: Array.from({ length: stops }, () => drawStop(generator)),
  };
}

type Change = (instance: Instance, generator: RandomGenerator) => Instance;
const CHANGES: [string, Change][] = [
  ['a time stamp', (one, generator) => ({ ...one, created: `${generator.uniform()}` })],
  [
    '5 % of the values',
    (one, generator) => ({
      ...one,
      stops: one.stops.map((stop) => ({
        ...stop,
        ...(generator.uniform() < 0.15 ? { lat: generator.uniform() } : {}),
      })),
    }),
  ],
  ['appended items', (one, generator) => ({ ...one, stops: [...one.stops, drawStop(generator)] })],
  ['inserted items', (one, generator) => ({ ...one, stops: [drawStop(generator), ...one.stops] })],
];

const group = (instances: readonly unknown[]) => groupContents(instances.map(sketchContent));

/** Returns true if the pairs of inputs that share a group are those that share the instance. */
function isRight(labels: readonly string[] | undefined, instances: readonly number[]): boolean {
  return instances.every((one, a) =>
    instances.every((other, b) => (labels?.[a] === labels?.[b]) === (one === other)),
  );
}

describe('T2: versions of an instance form a group', () => {
  test.each(CHANGES)('that differ by %s', (_, change) => {
    const generator = new RandomGenerator('versions');
    const bases = Array.from({ length: 8 }, (__, fleet) => drawInstance(generator, fleet));
    const versions = bases.flatMap((base) => [base, change(base, generator), change(base, generator)]);
    const found = group(versions);
    expect(found).toMatchObject({ count: 8, grouped: 24, field: '/fleet' });
    expect(
      isRight(
        found?.labels,
        versions.map((_base, index) => Math.floor(index / 3)),
      ),
    ).toBe(true);
  });

  test('also of 3,000 stops, of which a sample is compared', () => {
    const generator = new RandomGenerator('large');
    const bases = [0, 1, 2].map((fleet) => drawInstance(generator, fleet, 3000));
    const versions = bases.flatMap((base) => [base, { ...base, created: 'later' }]);
    expect(isRight(group(versions)?.labels, [0, 0, 1, 1, 2, 2])).toBe(true);
  });

  test('and one group where all inputs are versions of one instance', () => {
    const generator = new RandomGenerator('one');
    const base = drawInstance(generator, 0);
    const versions = Array.from({ length: 10 }, () => ({ ...base, created: `${generator.uniform()}` }));
    expect(group(versions)).toMatchObject({ count: 1, grouped: 10 });
  });
});

describe('T2: independent inputs form no groups', () => {
  test('with a road network that all of them contain', () => {
    const generator = new RandomGenerator('network');
    const network = Array.from({ length: 500 }, () => generator.uniform());
    const inputs = Array.from({ length: 20 }, (_, fleet) => ({
      ...drawInstance(generator, fleet, 10),
      network,
    }));
    expect(group(inputs)).toBeNull();
  });

  test('with customers of whom 80 % order on each day', () => {
    const generator = new RandomGenerator('customers');
    const { stops, ...rest } = drawInstance(generator, 0, 60);
    const days = Array.from({ length: 12 }, () => ({
      ...rest,
      stops: stops.filter(() => generator.uniform() < 0.8),
    }));
    expect(group(days)).toBeNull();
  });

  test('with few values, and where one is no JSON', () => {
    const small = Array.from({ length: 10 }, (_, place) => ({ place, depot: 'north' }));
    expect(group(small)).toBeNull();
    const [sketch = null] = [sketchContent(drawInstance(new RandomGenerator('one'), 0))];
    expect(groupContents([sketch, sketch, null])).toBeNull();
  });
});

describe('T2: the sketch of a deep input', () => {
  const LEVELS = 100_000;
  /** Returns `{ v: 0, k: "0", next: { v: 1, … } }` of so many levels. */
  function nest(levels: number) {
    let inner: object = {};
    for (let level = levels - 1; level >= 0; level -= 1) inner = { next: inner, v: level, k: `${level}` };
    return inner;
  }

  test('has the shallowest fields, with pointers that cluster_by can name', () => {
    const names = Object.keys(sketchContent(nest(LEVELS)).fields);
    // A sketch has at most 100 fields: two of each of the first 50 levels.
    const expected = Array.from({ length: 50 }, (_, level) =>
      ['v', 'k'].map((name) => `${'/next'.repeat(level)}/${name}`),
    ).flat();
    expect(names).toEqual(expected);
    expect(Math.max(...names.map((name) => name.length))).toBe(49 * 5 + 2);
  });

  test('has no pointer of a key that is too long, and all values count', () => {
    const values = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, index]));
    const found = sketchContent({
      ['x'.repeat(254)]: 1,
      ['y'.repeat(255)]: 2,
      ['~'.repeat(200)]: 3,
      deep: values,
    });
    expect(Object.keys(found.fields).filter((name) => !name.startsWith('/deep'))).toEqual([
      `/${'x'.repeat(254)}`,
    ]);
    expect(found.hashes).toHaveLength(23);
  });

  test('prefers a shallow field behind many deep ones', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, index]));
    const fields = Object.keys(sketchContent({ many, fleet: 'north' }).fields);
    expect(fields).toHaveLength(100);
    expect(fields[0]).toBe('/fleet');
  });
});
