/** Tables in narrow terminals and in pipes. */
import { expect, test } from 'vitest';
import { formatTable } from './table.ts';
import { getColumns, getTableColumns } from './terminal.ts';

const style = (_tone: string, text: string) => text;
const ROW = { id: 'run-1m8ejptch74hqxvk1w9', name: 'a name that fills half of a terminal', value: 1234567 };
type Row = typeof ROW;
const COLUMNS = [
  { title: 'RUN', value: ({ id }: Row) => id },
  { title: 'NAME', value: ({ name }: Row) => name },
  { title: 'P', value: () => 0.04, isNumeric: true, isOptional: true },
  { title: 'VALUE', value: ({ value }: Row) => value, isNumeric: true },
];
const format = (tableWidth: number): string[] =>
  formatTable([ROW], COLUMNS, { tableWidth, style }).trimEnd().split('\n');

test('a narrow terminal shortens names, and neither the id that a reader copies nor a number', () => {
  const [, row] = format(60);
  expect(row).toBe('run-1m8ejptch74hqxvk1w9  a name that fills h…  0.04  1234567');
  expect(row?.length).toBeLessThanOrEqual(60);
});

test('optional columns are left out before a line is too long, and ids stay whole after that', () => {
  expect(format(44)[0]).toBe(`RUN${' '.repeat(22)}NAME          VALUE`);
  expect(format(20)[1]).toBe('run-1m8ejptch74hqxvk1w9  a name …  1234567');
});

test('a pipe gets whole values', () => {
  expect(format(getTableColumns({ out: { write: () => {} }, env: {} }))[1]).toContain(ROW.name);
});

test.each([
  [{ out: 120, COLUMNS: '40' }, 120],
  [{ out: 0, COLUMNS: '40' }, 40],
  [{ out: undefined, COLUMNS: '0' }, 100],
  [{ out: undefined, COLUMNS: 'wide' }, 100],
])('a terminal of %j has %i columns', ({ out, COLUMNS }, columns) => {
  expect(
    getColumns({ out: { write: () => {}, ...(out !== undefined && { columns: out }) }, env: { COLUMNS } }),
  ).toBe(columns);
});
