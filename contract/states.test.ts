import { describe, expect, test } from 'vitest';
import {
  canTransition,
  isActionAllowed,
  isTerminal,
  RUN_STATUSES_V2,
  RUN_TRANSITIONS,
  type RunStatusV2,
  toStatusV1,
} from './states.ts';

/** Every status that can be reached from one. */
function reachable(from: RunStatusV2, seen = new Set<RunStatusV2>()): Set<RunStatusV2> {
  for (const to of RUN_TRANSITIONS[from]) {
    if (!seen.has(to)) {
      seen.add(to);
      reachable(to, seen);
    }
  }
  return seen;
}

describe('status_v2', () => {
  test('succeeded, failed and canceled are the ends', () => {
    expect(RUN_STATUSES_V2.filter(isTerminal).sort()).toEqual(['canceled', 'failed', 'succeeded']);
  });

  test.each(RUN_STATUSES_V2.filter((status) => !isTerminal(status)))(
    'from %s a run can end either way',
    (status) => {
      expect([...reachable(status)]).toEqual(expect.arrayContaining(['succeeded', 'failed']));
    },
  );

  test('nothing becomes an external run without a result again', () => {
    expect(RUN_STATUSES_V2.filter((from) => canTransition(from, 'none'))).toEqual([]);
  });

  test('a run only starts from the queue, and goes back there when its worker dies', () => {
    expect(RUN_STATUSES_V2.filter((from) => canTransition(from, 'running'))).toEqual(['queued']);
    expect(canTransition('running', 'queued')).toBe(true);
  });

  test('what nobody has begun is canceled or waits: only a result or a worker fails it', () => {
    expect(RUN_STATUSES_V2.filter((from) => canTransition(from, 'failed'))).toEqual(['none', 'running']);
    expect(RUN_STATUSES_V2.filter((from) => canTransition(from, 'queued'))).toEqual(['running']);
  });

  test('no status follows itself', () => {
    expect(RUN_STATUSES_V2.filter((status) => canTransition(status, status))).toEqual([]);
  });
});

test.each([
  ['none', 'running'],
  ['queued', 'running'],
  ['running', 'running'],
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
] as const)('%s reads %s to clients of the older status', (status, older) => {
  expect(toStatusV1(status)).toBe(older);
});

describe('actions', () => {
  test.each(RUN_STATUSES_V2)('%s: cancel while it has not ended, logs and output once it has', (status) => {
    expect(isActionAllowed('cancel', status)).toBe(!isTerminal(status));
    expect(isActionAllowed('readLogs', status)).toBe(isTerminal(status));
    expect(isActionAllowed('readOutput', status)).toBe(isTerminal(status));
  });
});
