/** The gain of an ensemble: best of k by brute force, and the gain of a run through the API. */
import { afterEach, describe, expect, test } from 'vitest';
import { createRunAndWait } from '../../testing/fixtures/apps.ts';
import {
  createEnsembleApp,
  ensembleRunOptions,
  fetchEnsembleRun,
  runGroup,
} from '../../testing/fixtures/ensembles.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { computeBestOfK } from './best-of-k.ts';

/** Returns every subset of `size` of the items. */
function listSubsets<Item>(items: readonly Item[], size: number): Item[][] {
  if (size === 0) return [[]];
  return items.flatMap((item, index) =>
    listSubsets(items.slice(index + 1), size - 1).map((rest) => [item, ...rest]),
  );
}
const average = (values: readonly number[]) =>
  values.reduce((total, value) => total + value, 0) / values.length;

describe('the best of k runs', () => {
  test.each([
    [false, [7, 3, 9, 3, 12, 1]],
    [true, [7, 3, 9, 3, 12, 1]],
    [false, [7, null, 9, null, 12]],
    [true, [7, null, 9, null, 12]],
    [false, [5]],
  ] as const)('is the mean over all draws (maximize: %s, values %j)', (maximize, runs) => {
    const values = runs.filter((value) => value !== null);
    const found = computeBestOfK(values, { maximize, failed: runs.length - values.length });
    expect(found.map(({ k }) => k)).toEqual(runs.map((_run, index) => index + 1));
    for (const { k, expected, solved_share } of found) {
      const draws = listSubsets(runs, k).map((draw) => draw.filter((value) => value !== null));
      const solved = draws.filter((draw) => draw.length > 0);
      expect(solved_share).toBeCloseTo(solved.length / draws.length, 12);
      expect(expected).toBeCloseTo(
        average(solved.map((draw) => (maximize ? Math.max(...draw) : Math.min(...draw)))),
        12,
      );
    }
  });
});

let server: TestServer;
afterEach(() => server?.close());

describe('an ensemble run', () => {
  test('has the gain over its best group, the best of k runs, and the values of each group', async () => {
    server = await startTestServer();
    await createEnsembleApp(server, [
      runGroup('first', { value: 10 }),
      runGroup('second', { value: 16 }, { repetitions: 2 }),
      runGroup('third', { fails: true }),
    ]);
    const { id } = await createRunAndWait(server, 'app', ensembleRunOptions());
    const { rules_result } = await fetchEnsembleRun(server, id);
    // Of the four runs, 10 is among k of them with the chance k / 4; two of them at least cannot all fail.
    expect(rules_result?.gain).toEqual({
      statistics_path: '$.result.value',
      objective: 'minimize',
      value: 10,
      best_group: { run_group_id: 'first', mean: 10 },
      improvement: 0,
      relative_improvement: 0,
      groups: [
        { run_group_id: 'first', runs: 1, failed: 0, mean: 10, best: 10 },
        { run_group_id: 'second', runs: 2, failed: 0, mean: 16, best: 16 },
        { run_group_id: 'third', runs: 1, failed: 1, mean: null, best: null },
      ],
      best_of_k: [
        // 10, 16, 16 and a failure.
        { k: 1, expected: expect.closeTo(14, 10), solved_share: expect.closeTo(0.75, 10) },
        { k: 2, expected: expect.closeTo(13, 10), solved_share: expect.closeTo(1, 10) },
        { k: 3, expected: expect.closeTo(11.5, 10), solved_share: expect.closeTo(1, 10) },
        { k: 4, expected: expect.closeTo(10, 10), solved_share: expect.closeTo(1, 10) },
      ],
    });
  });

  test('of groups whose runs differ gains over a single run', async () => {
    server = await startTestServer();
    await createEnsembleApp(server, [
      runGroup('a', { value: 12 }),
      runGroup('b', { value: 9 }),
      runGroup('c', {}),
    ]);
    const { id } = await createRunAndWait(server, 'app', ensembleRunOptions());
    const { rules_result } = await fetchEnsembleRun(server, id);
    // A run without the number of the first rule counts as failed.
    expect(rules_result?.gain).toMatchObject({
      value: 9,
      best_group: { run_group_id: 'b', mean: 9 },
      groups: [{ best: 12 }, { best: 9 }, { failed: 1 }],
    });
  });

  test('without a number of the first rule has no gain', async () => {
    server = await startTestServer();
    await createEnsembleApp(server, [runGroup('a', {})]);
    const { id } = await createRunAndWait(server, 'app', ensembleRunOptions());
    expect((await fetchEnsembleRun(server, id)).rules_result).not.toHaveProperty('gain');
  });
});
