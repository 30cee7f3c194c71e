/** Why a run waits, from what is there: the sentence and the word have to be true of the same numbers. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { QUEUE_PLACE_MAX } from '@switchyard/contract/limits.ts';
import { expect, test } from 'vitest';
import type { Capacity } from '../config.ts';
import { type Busy, freeSlots, servingOf } from '../queue/pools.ts';
import { readTurn } from './turns.ts';
import { explain } from './waiting.ts';

const SMALL: ExecutionClass = '6c9500mb870s';
const MIDDLE: ExecutionClass = '8c16gb12h';
const LARGE: ExecutionClass = '16c60gb12h';

interface Case {
  workers: Capacity[];
  busy?: Busy[];
  before?: number;
  attempt?: number;
  name?: ExecutionClass;
}

function told({ workers, busy = [], before = 0, attempt = 0, name = SMALL }: Case) {
  const serving = servingOf(
    workers.map((capacity, index) => ({ id: `worker-${index}`, capacity })),
    name,
  );
  const run = { ...readTurn(6, 0, 'run-1'), execution_class: name, attempt };
  return explain(run, { serving, busy, before });
}
const on = (worker: number, name: ExecutionClass, count: number): Busy => ({
  worker_id: `worker-${worker}`,
  execution_class: name,
  count,
});
const shared = (slots: number): Capacity => ({ shared: slots, own: {} });

test.each<[string, Case, { place: number; reason: string; message: RegExp }]>([
  ['nobody is there', { workers: [] }, { place: 1, reason: 'no_worker', message: /No worker is there/ }],
  [
    'nobody who is there serves the class',
    { workers: [{ shared: 0, own: { [SMALL]: 4 } }], name: LARGE, before: 3 },
    { place: 4, reason: 'no_worker', message: /has a slot for execution class 16c60gb12h/ },
  ],
  [
    'the one slot is taken',
    { workers: [shared(1)], busy: [on(0, LARGE, 1)] },
    { place: 1, reason: 'slots_taken', message: /^The only slot .* is taken; this run is next\.$/ },
  ],
  [
    'all slots of two workers are taken, and one stands before it',
    { workers: [shared(2), shared(1)], busy: [on(0, SMALL, 2), on(1, MIDDLE, 1)], before: 1 },
    { place: 2, reason: 'slots_taken', message: /^All 3 slots .* are taken; one run stands before it\.$/ },
  ],
  [
    'a slot is free, and others stand before it',
    { workers: [shared(3)], busy: [on(0, SMALL, 2)], before: 2 },
    { place: 3, reason: 'runs_before', message: /^1 of 3 slots .* is free, and 2 runs stand before it\.$/ },
  ],
  [
    'there are more free slots than runs before it',
    { workers: [shared(3)], busy: [on(0, SMALL, 1)], before: 1 },
    {
      place: 2,
      reason: 'about_to_start',
      message: /^2 of 3 slots .* are free; this run is about to start\.$/,
    },
  ],
  [
    'it is further back than is counted',
    { workers: [shared(1)], busy: [on(0, SMALL, 1)], before: QUEUE_PLACE_MAX },
    { place: 1001, reason: 'slots_taken', message: /1000 runs or more stand before it/ },
  ],
  [
    'it was cut short',
    { workers: [shared(1)], busy: [on(0, SMALL, 1)], attempt: 2 },
    { place: 1, reason: 'slots_taken', message: /It was started 2 times, cut short and queued again/ },
  ],
])('%s', (_, asked, { place, reason, message }) => {
  expect(told(asked)).toEqual({ place, reason, message: expect.stringMatching(message) });
});

test('what a worker executes takes a slot of the pool that serves its class, and of no other worker', () => {
  const capacity: Capacity = { shared: 1, own: { [SMALL]: 2 } };
  const workers = [
    { id: 'worker-0', capacity },
    { id: 'worker-1', capacity: shared(2) },
  ];
  // Two of its own on the first; of the second, which serves every class, both slots.
  expect(servingOf(workers, SMALL)).toMatchObject({
    slots: 4,
    classes: expect.arrayContaining([SMALL, LARGE]),
  });
  expect(servingOf(workers, LARGE).slots).toBe(3);
  const busy = [on(0, SMALL, 2), on(0, LARGE, 1), on(1, MIDDLE, 1)];
  expect(freeSlots(servingOf(workers, SMALL), busy)).toBe(1);
  expect(freeSlots(servingOf(workers, LARGE), busy)).toBe(1);
  // More than its slots, as after a smaller capacity was set, is not taken from the others.
  expect(freeSlots(servingOf(workers, SMALL), [on(0, SMALL, 9)])).toBe(2);
  // What a dead worker held takes no slot of a living one.
  expect(freeSlots(servingOf(workers, SMALL), [on(7, SMALL, 9)])).toBe(4);
});
