import { expect, test } from 'vitest';
import { assignColours } from './group-colours.ts';

test('a group keeps its hue from run to run, whatever its rank and whichever groups are missing', () => {
  const all = ['vm-1', 'vm-2', 'vm-3', 'vm-4'];
  const colours = assignColours(all);
  expect([...colours.values()]).toEqual([1, 2, 3, 4].map((hue) => `var(--data-${hue})`));
  const fewer = assignColours(['vm-4', 'vm-2']);
  expect([...fewer]).toEqual([
    ['vm-4', 'var(--data-4)'],
    ['vm-2', 'var(--data-2)'],
  ]);
  for (const name of ['truck', 'van', 'Ζωή'])
    expect(assignColours([name]).get(name)).toBe(assignColours([name, 'vm-1']).get(name));
});

test('no two of eight groups share a hue, and the order of the groups does not matter', () => {
  const names = ['Anna', 'Boris', 'Chen', 'Dana', 'Emil', 'Fatima', 'Goran', 'Hana'];
  const colours = assignColours(names);
  expect(new Set(colours.values()).size).toBe(8);
  expect([...assignColours(names.toReversed())].toReversed()).toEqual([...colours]);
});

test('groups beyond the palette have colours of their own', () => {
  const colours = [...assignColours(Array.from({ length: 12 }, (_, index) => `vm-${index + 1}`)).values()];
  expect(new Set(colours).size).toBe(12);
  expect(colours.filter((one) => one.startsWith('var(--data-'))).toHaveLength(8);
});
