/** Duration and cost of ensemble runs, by hand. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { describe, expect, test } from 'vitest';
import type { TimedChildRun } from '../../runs/store/ensemble-runs.ts';
import { computeUsage } from './compute-usage.ts';

const START = Date.parse('2026-11-20T08:00:00.000Z');
const createChild = (id: string, from: number | null, to: number, execution_ms: number): TimedChildRun => ({
  id: id as RunId,
  initiated_at: from === null ? null : START + from,
  finished_at: START + to,
  execution_ms,
  start_conditions: `of ${id}`,
});

describe('the usage of an ensemble run', () => {
  test('spans the first start and the last end, and sums the durations of the apps', () => {
    const children = [createChild('b', 500, 4000, 3400), createChild('a', 0, 1500, 1400)];
    expect(computeUsage(children)).toEqual({
      usage: {
        started_at: '2026-11-20T08:00:00.000Z',
        wall_seconds: 4,
        total_seconds: 4.8,
        has_waited: false,
      },
      startConditions: 'of a',
    });
  });

  test('says that a child run waited when it started after another had ended', () => {
    const children = [createChild('a', 0, 1000, 1000), createChild('b', 1001, 2000, 900)];
    expect(computeUsage(children)?.usage).toMatchObject({ wall_seconds: 2, has_waited: true });
  });

  test('leaves out child runs that never started, and is null without any other', () => {
    expect(computeUsage([createChild('a', null, 1000, 0)])).toBeNull();
    const children = [createChild('a', null, 9000, 0), createChild('b', 100, 200, 90)];
    expect(computeUsage(children)?.usage).toMatchObject({ wall_seconds: 0.1, total_seconds: 0.09 });
  });
});
