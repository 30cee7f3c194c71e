import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { expect, test } from 'vitest';
import { findDropPriority } from './drop-priority.ts';

/** A run as `name application age priority`; the age is the second of its creation. */
function parseRun(text: string) {
  const [id = '', application_id = '', second = '', priority] = text.split(' ');
  const created_at = `2026-11-20T08:00:0${second}.000Z`;
  return { id: id as RunId, application_id, created_at, queuing_priority: Number(priority) };
}

test.each([
  ['an older run up to one of a higher priority', ['b x 2 4', 'a x 1 6'], 'a b', 4],
  ['a newer run up to one of the same priority', ['a x 1 6', 'b x 2 6'], 'b a', 5],
  ['a newer run up to one of a higher priority', ['a x 1 3', 'b x 2 6'], 'b a', 2],
  ['a newer run up to an older one of the highest priority', ['a x 1 1', 'b x 2 6'], 'b a', null],
  ['an older run down to one of the same priority', ['a x 1 6', 'b x 2 6'], 'a b', 7],
  ['a newer run down to an older one of a lower priority', ['b x 2 3', 'a x 1 8'], 'b a', 8],
  ['an older run down to a newer one of the lowest priority', ['a x 1 3', 'b x 2 9'], 'a b', null],
  ['a run to itself', ['a x 1 6'], 'a a', null],
  ['an older run up to one of another application', ['b y 2 6', 'a x 1 6'], 'a b', 5],
  ['a newer run down to one of another application', ['b y 2 6', 'a x 1 6'], 'b a', 7],
  ['an older run up to another application of a higher priority', ['b y 2 4', 'a x 1 6'], 'a b', 3],
  ['a run up to another application of the highest priority', ['b y 2 1', 'a x 1 6'], 'a b', null],
  ['a run into the turns of one priority', ['b y 2 6', 'a x 1 6', 'c z 3 6'], 'c a', null],
  ['a run between two priorities', ['a x 1 2', 'b y 2 6', 'c z 3 9'], 'c b', 5],
  ['a run between the neighbouring priorities of others', ['a x 1 2', 'b y 2 3', 'c z 3 9'], 'c b', null],
  ['a run down into its own application', ['a x 1 2', 'b x 2 6', 'c x 3 6'], 'a b', null],
])('F1: dragging %s', (_, texts, ids, priority) => {
  const runs = texts.map(parseRun);
  const [dragged = parseRun(''), target = dragged] = ids
    .split(' ')
    .flatMap((id) => runs.find((run) => run.id === id) ?? []);
  expect(findDropPriority(runs, dragged, target)).toBe(priority);
});
