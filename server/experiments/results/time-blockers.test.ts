import { describe, expect, test } from 'vitest';
import type { Observation, RunStart } from '../statistics/observations.ts';
import { createTimeBlockers, explainConfounding, isTimeIndicator } from './time-blockers.ts';

describe('an indicator of time', () => {
  test.each([
    'run.duration',
    'run.custom.solve_seconds',
    'statistics.run.duration',
    '$.statistics.run.duration',
    'run.custom.cpu',
    'result.custom.solve_time',
    'metrics.run_time',
    'runtime',
    'elapsed',
  ])('%s', (name) => expect(isTimeIndicator(name)).toBe(true));
  test.each([
    'result.value',
    'result.custom.total_travel_time',
    'result.custom.duration',
    'duration',
    'time',
    'run.iterations',
    'result.custom.max_route_duration',
  ])('%s is none', (name) => expect(isTimeIndicator(name)).toBe(false));
});

const BLOCKS = 20;
type Side = 'control' | 'candidate';

/** Creates both sides of twenty blocks; `start` chooses the conditions, by default equal ones in a random order. */
function createGroup(
  start: (side: Side, block: number) => Partial<RunStart & { block: null }> | null,
  status = 'succeeded',
) {
  const create = (side: Side): Observation[] =>
    Array.from({ length: BLOCKS }, (_, block) => {
      const chosen = start(side, block);
      const { block: chosenBlock, ...conditions } = chosen ?? {};
      return {
        instance_id: side,
        version_id: '',
        input_id: `in-${block}`,
        option_set: null,
        scenario_id: null,
        repetition: 0,
        status,
        indicators: [],
        block: chosenBlock === undefined ? block : chosenBlock,
        start:
          chosen === null
            ? null
            : {
                host: 'one',
                concurrent_runs: 2,
                load: 1,
                started_at: block * 10 + (isFirst(side, block) ? 0 : 5),
                ...conditions,
              },
      };
    });
  return { control: create('control'), candidate: create('candidate') };
}
/** The control is first in every second block. */
const isFirst = (side: Side, block: number) => (side === 'control') === (block % 2 === 0);

describe('times are comparable', () => {
  test.each<[string, (side: Side, block: number) => Partial<RunStart>]>([
    ['under equal conditions', () => ({})],
    [
      'when each block used two hosts in a random order',
      (side, block) => ({ host: isFirst(side, block) ? 'one' : 'two' }),
    ],
    ['when the load grows from block to block', (_side, block) => ({ load: block })],
    [
      'when one of many blocks was loaded on one side',
      (side, block) => ({ load: side === 'control' && block === 3 ? 9 : 1 }),
    ],
  ])('%s', (_name, start) => expect(explainConfounding(createGroup(start))).toEqual([]));

  test('without succeeded runs, which have no time', () =>
    expect(explainConfounding(createGroup(() => null, 'failed'))).toEqual([]));
});

describe('times are not comparable', () => {
  // All of 20 blocks differ in one direction: p = 2 / 2^20 = 1.9e-6, below 0.001.
  test.each<[string, string, (side: Side, block: number) => Partial<RunStart & { block: null }> | null]>([
    [
      'D8: when all runs of the control came first',
      'started earlier or later',
      (side, block) => ({ started_at: side === 'control' ? block : 1000 + block }),
    ],
    ['on two hosts', 'on different hosts', (side) => ({ host: side })],
    [
      'on hosts in unequal shares',
      'used 2 hosts in unequal shares',
      (side, block) => ({ host: side === 'control' && block > 0 ? 'one' : 'two' }),
    ],
    ['at unequal load', 'at another load', (side) => ({ load: side === 'control' ? 1 : 2 })],
    [
      'beside unequal numbers of runs',
      'beside more other runs',
      (side) => ({ concurrent_runs: side === 'control' ? 1 : 2 }),
    ],
    [
      'when a run was executed elsewhere',
      '1 run did not start in the random order',
      (side, block) => (side === 'candidate' && block === 0 ? null : {}),
    ],
  ])('%s', (_name, text, start) => {
    const reasons = explainConfounding(createGroup(start));
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toContain(text);
  });
});

test('an ensemble whose child runs waited for slots has a comparable cost, but no comparable duration', () => {
  const listBlockers = createTimeBlockers();
  const group = createGroup((side) => ({ has_waited: side === 'candidate' }));
  expect(listBlockers('run.total_duration', group)).toEqual([]);
  expect(listBlockers('run.duration', group)).toEqual([
    expect.stringContaining('Child runs of 20 ensemble runs started after another child run had ended'),
  ]);
  expect(
    listBlockers(
      'run.duration',
      createGroup(() => ({ has_waited: false })),
    ),
  ).toEqual([]);
});
