import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  type AcceptanceTestTransition,
  BATCH_TRANSITIONS,
  type BatchTransition,
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

describe('experiments', () => {
  type Pair = readonly [ExperimentStatus, ExperimentStatus];
  const listPairs = (table: Partial<Record<ExperimentStatus, readonly ExperimentStatus[]>>): Pair[] =>
    EXPERIMENT_STATUSES.flatMap((from) => (table[from] ?? []).map((to): Pair => [from, to]));

  test('a batch ends completed or failed', () => {
    expect(listPairs(BATCH_TRANSITIONS)).toEqual([
      ['started', 'completed'],
      ['started', 'failed'],
    ]);
  });

  test('a shadow or switchback test starts as a draft and is completed or canceled', () => {
    expect(listPairs(ONLINE_TEST_TRANSITIONS)).toEqual([
      ['started', 'completed'],
      ['started', 'canceled'],
      ['draft', 'started'],
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
  expectTypeOf<{ from: 'completed'; to: 'failed' }>().not.toExtend<AcceptanceTestTransition>();
});
