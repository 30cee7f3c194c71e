import { expect, test } from 'vitest';
import { formatLicenses, parseLicenses } from './parse-licenses.ts';

test('licences are lines of a name and a total', () => {
  const licenses = [
    { name: 'gurobi', total: 4 },
    { name: 'xpress.network', total: 0 },
  ];
  expect(formatLicenses(licenses)).toBe('gurobi = 4\nxpress.network = 0');
  expect(parseLicenses(' gurobi=4\n\nxpress.network =  0 \n')).toEqual(licenses);
  expect(parseLicenses('')).toEqual([]);
});

test.each(['gurobi', 'gurobi = four', 'a b = 1', 'gurobi = 1.5', 'gurobi = 1000001', '-a = 1'])(
  '%s is no licence',
  (line) => {
    expect(parseLicenses(`xpress = 1\n${line}`)).toEqual({ invalidLine: 2 });
  },
);

test('a name that stands twice is refused', () => {
  expect(parseLicenses('gurobi = 1\ngurobi = 2')).toEqual({ invalidLine: 2 });
});
