/** The slots that serve an execution class, and those of them that are free. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { Capacity } from '@switchyard/worker/execute/slots.ts';
import { expect, test } from 'vitest';
import { type BusySlotCount, computeClassCapacity, countFreeSlots } from './slots.ts';

const SMALL: ExecutionClass = '6c9500mb870s';
const MIDDLE: ExecutionClass = '8c16gb12h';
const LARGE: ExecutionClass = '16c60gb12h';

const on = (worker: number, name: ExecutionClass, count: number): BusySlotCount => ({
  ...{ worker_id: `worker-${worker}`, execution_class: name, count },
});
const shared = (slots: number): Capacity => ({ shared: slots, perClass: {} });

test('a run occupies a slot of the pool that serves its class on its worker, and no other slot', () => {
  const capacity: Capacity = { shared: 1, perClass: { [SMALL]: 2 } };
  const workers = [
    { id: 'worker-0', capacity },
    { id: 'worker-1', capacity: shared(2) },
  ];
  // Two slots of the class on the first worker, and the shared ones of both workers.
  expect(computeClassCapacity(workers, SMALL)).toMatchObject({
    slots: 4,
    classes: expect.arrayContaining([SMALL, LARGE]),
  });
  expect(computeClassCapacity(workers, LARGE).slots).toBe(3);
  const busy = [on(0, SMALL, 2), on(0, LARGE, 1), on(1, MIDDLE, 1)];
  expect(countFreeSlots(computeClassCapacity(workers, SMALL), busy)).toEqual({ slots: 1, fitting: 1 });
  expect(countFreeSlots(computeClassCapacity(workers, LARGE), busy)).toEqual({ slots: 1, fitting: 1 });
  // A class with more runs than slots, as after its capacity was lowered, uses no slot of the others.
  expect(countFreeSlots(computeClassCapacity(workers, SMALL), [on(0, SMALL, 9)])).toEqual({
    slots: 2,
    fitting: 2,
  });
  // The runs of a dead worker use no slot of an active one.
  expect(countFreeSlots(computeClassCapacity(workers, SMALL), [on(7, SMALL, 9)])).toEqual({
    slots: 4,
    fitting: 4,
  });
});
