import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  BATCH_TRANSITIONS,
  type BatchTransition,
  BISECT_TRANSITIONS,
  canTransition,
  EXPERIMENT_STATUSES,
  type ExperimentStatus,
  isActionAllowed,
  isExperimentTerminal,
  isTerminal,
  ONLINE_TEST_TRANSITIONS,
  type OnlineTestTransition,
  RUN_STATUSES_V2,
  RUN_TRANSITIONS,
  type RunStatusV2,
  type RunTransition,
  toStatusV1,
} from './states.ts';

/** Returns every status that a chain of transitions reaches. */
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
  test('the terminal statuses are succeeded, failed and canceled', () => {
    expect(RUN_STATUSES_V2.filter(isTerminal).sort()).toEqual(['canceled', 'failed', 'succeeded']);
  });

  test.each(RUN_STATUSES_V2.filter((status) => !isTerminal(status)))(
    'a run with the status %s can succeed and fail',
    (status) => {
      expect([...reachable(status)]).toEqual(expect.arrayContaining(['succeeded', 'failed']));
    },
  );

  test('no run changes its status to none', () => {
    expect(RUN_STATUSES_V2.filter((from) => canTransition(from, 'none'))).toEqual([]);
  });

  test('only a queued run starts, and a running run can be requeued', () => {
    expect(RUN_STATUSES_V2.filter((from) => canTransition(from, 'running'))).toEqual(['queued']);
    expect(canTransition('running', 'queued')).toBe(true);
  });

  test('an unstarted run does not fail without a result or a worker', () => {
    expect(RUN_STATUSES_V2.filter((from) => canTransition(from, 'failed'))).toEqual(['none', 'running']);
    expect(RUN_STATUSES_V2.filter((from) => canTransition(from, 'queued'))).toEqual(['running']);
  });

  test('no status has a transition to itself', () => {
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
] as const)('the older status of %s is %s', (status, older) => {
  expect(toStatusV1(status)).toBe(older);
});

describe('actions', () => {
  test.each(RUN_STATUSES_V2)(
    'a run with the status %s can be canceled before its end, and read after it',
    (status) => {
      expect(isActionAllowed('cancel', status)).toBe(!isTerminal(status));
      expect(isActionAllowed('readLogs', status)).toBe(isTerminal(status));
      expect(isActionAllowed('readOutput', status)).toBe(isTerminal(status));
    },
  );
});

describe('experiments', () => {
  type Pair = readonly [ExperimentStatus, ExperimentStatus];
  const listPairs = (table: Partial<Record<ExperimentStatus, readonly ExperimentStatus[]>>): Pair[] =>
    EXPERIMENT_STATUSES.flatMap((from) => (table[from] ?? []).map((to): Pair => [from, to]));

  test('a batch ends as completed or failed', () => {
    expect(listPairs(BATCH_TRANSITIONS)).toEqual([
      ['started', 'completed'],
      ['started', 'failed'],
    ]);
  });

  test('an online test starts as a draft and ends as completed or canceled', () => {
    expect(listPairs(ONLINE_TEST_TRANSITIONS)).toEqual([
      ['started', 'completed'],
      ['started', 'canceled'],
      ['draft', 'started'],
    ]);
  });

  test('a bisect experiment ends as completed, failed or canceled', () => {
    expect(listPairs(BISECT_TRANSITIONS)).toEqual([
      ['started', 'completed'],
      ['started', 'failed'],
      ['started', 'canceled'],
    ]);
  });

  test.each([
    ['draft', false],
    ['started', false],
    ['completed', true],
    ['failed', true],
    ['canceled', true],
  ] as const)('%s is final: %s', (status, final) => {
    expect(isExperimentTerminal(status)).toBe(final);
  });
});

test('a pair of statuses outside the tables does not compile', () => {
  expectTypeOf<{ from: 'queued'; to: 'running' }>().toExtend<RunTransition>();
  expectTypeOf<{ from: 'running'; to: 'succeeded' | 'queued' }>().toExtend<RunTransition>();
  expectTypeOf<{ from: 'queued'; to: 'failed' }>().not.toExtend<RunTransition>();
  expectTypeOf<{ from: 'succeeded'; to: 'running' }>().not.toExtend<RunTransition>();
  expectTypeOf<{ from: RunStatusV2; to: 'canceled' }>().not.toExtend<RunTransition>();
  expectTypeOf<{ from: 'started'; to: 'canceled' }>().not.toExtend<BatchTransition>();
  expectTypeOf<{ from: 'started'; to: 'failed' }>().not.toExtend<OnlineTestTransition>();
  expectTypeOf<{ from: 'draft'; to: 'completed' }>().not.toExtend<OnlineTestTransition>();
  expectTypeOf<{ from: 'completed'; to: 'failed' }>().not.toExtend<BatchTransition>();
});
