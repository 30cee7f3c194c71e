import { describe, expect, test } from 'vitest';
import {
  canMove,
  isTerminal,
  may,
  RUN_STATUSES_V2,
  RUN_TRANSITIONS,
  type RunStatusV2,
  statusV1,
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
    expect(RUN_STATUSES_V2.filter((from) => canMove(from, 'none'))).toEqual([]);
  });

  test('a run only starts from the queue, and goes back there when its worker dies', () => {
    expect(RUN_STATUSES_V2.filter((from) => canMove(from, 'running'))).toEqual(['queued']);
    expect(canMove('running', 'queued')).toBe(true);
  });

  test('what nobody has begun is canceled or waits: only a result or a worker fails it', () => {
    expect(RUN_STATUSES_V2.filter((from) => canMove(from, 'failed'))).toEqual(['none', 'running']);
    expect(RUN_STATUSES_V2.filter((from) => canMove(from, 'queued'))).toEqual(['running']);
  });

  test('no status follows itself', () => {
    expect(RUN_STATUSES_V2.filter((status) => canMove(status, status))).toEqual([]);
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
  expect(statusV1(status)).toBe(older);
});

describe('actions', () => {
  test.each(RUN_STATUSES_V2)('%s: cancel while it has not ended, logs and output once it has', (status) => {
    expect(may('cancel', status)).toBe(!isTerminal(status));
    expect(may('readLogs', status)).toBe(isTerminal(status));
    expect(may('readOutput', status)).toBe(isTerminal(status));
  });
});
