/** The order of the configurations of a race. */
import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import { expect, test } from 'vitest';
import { listStandings } from './list-standings.ts';

const group = (scenario_id: string) => ({ instance_id: 'i', version_id: 'v', scenario_id });
const compare = (name: string, racing: Partial<NonNullable<ComparedGroups['racing']>>): ComparedGroups => ({
  control: group('control'),
  candidate: group(name),
  indicators: [],
  racing: {
    status: 'finished',
    inputs: 20,
    dropped_after_inputs: null,
    against: null,
    e_value: 1,
    threshold: 20,
    ...racing,
  },
});

test('the control leads, survivors follow by evidence, and the last that was dropped comes before the first', () => {
  const dropped = (inputs: number) => ({
    status: 'dropped' as const,
    inputs,
    dropped_after_inputs: inputs,
    against: group('good'),
    e_value: 25,
  });
  const standings = listStandings(
    [
      compare('worst', dropped(10)),
      compare('bad', dropped(14)),
      compare('fair', { e_value: 3 }),
      compare('good', { e_value: 0.2 }),
    ],
    { inputs: 20, nameGroup: ({ scenario_id }) => scenario_id ?? '' },
  );
  expect(standings.map(({ name, status, against }) => [name, status, against])).toEqual([
    ['control', 'control', null],
    ['good', 'finished', null],
    ['fair', 'finished', null],
    ['bad', 'dropped', 'good'],
    ['worst', 'dropped', 'good'],
  ]);
});
