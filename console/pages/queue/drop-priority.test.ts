import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { expect, test } from 'vitest';
import { findDropPriority } from './drop-priority.ts';

const run = (second: number, queuing_priority: number) => ({
  id: `run-${second}` as RunId,
  created_at: `2026-11-20T08:00:0${second}.000Z`,
  queuing_priority,
});

test.each([
  ['an older run up to one of a higher priority', run(1, 6), run(2, 4), 4],
  ['a newer run up to one of the same priority', run(2, 6), run(1, 6), 5],
  ['a newer run up to one of a higher priority', run(2, 6), run(1, 3), 2],
  ['a newer run up to an older one of the highest priority', run(2, 6), run(1, 1), null],
  ['an older run down to one of the same priority', run(1, 6), run(2, 6), 7],
  ['a newer run down to an older one of a lower priority', run(2, 3), run(1, 8), 8],
  ['an older run down to a newer one of the lowest priority', run(1, 3), run(2, 9), null],
  ['a run to itself', run(1, 6), run(1, 6), null],
])('dragging %s', (_, dragged, target, priority) => {
  expect(findDropPriority(dragged, target)).toBe(priority);
});
