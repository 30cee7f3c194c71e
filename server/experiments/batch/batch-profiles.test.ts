/** Benchmark views in the results of a batch experiment, by hand, and their bounds. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { createBatchExperiment, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { analyseBatch } from '../results/batch-analysis.ts';
import { parseIncumbents } from '../results/run-reader.ts';
import type { Observation } from '../statistics/observations.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** Reports the statistics that the input has for the option `side`, or fails without them. */
const REPORTING_APP = nodeApp(`(input, options) => {
  if (!input[options.side]) process.exit(3);
  return { statistics: { schema: 'v1', ...input[options.side] } };
}`);
const report = (value: number, points: [number, number][]) => ({
  run: { duration: 4 },
  result: { value },
  series_data: { value: { name: 'best', data_points: points.map(([x, y]) => ({ x, y })) } },
});

test('a batch has virtual solvers, profiles, distributions and primal integrals of its primary indicator', async () => {
  await pushApp(server, 'app', REPORTING_APP);
  const params = { application_id: 'app' };
  await server.client.call('createVersion', { params, body: { id: 'v1', name: 'Version one' } });
  for (const side of ['one', 'two'])
    await server.client.call('createInstance', {
      params,
      body: { id: side, name: `Side ${side}`, version_id: 'v1', configuration: { options: { side } } },
    });
  const inputs = [
    {
      one: report(10, [
        [1, 20],
        [2, 10],
      ]),
      two: report(20, [[1, 20]]),
    },
    { one: report(30, [[2, 30]]) },
  ];
  const run_ids: string[] = [];
  for (const input of inputs)
    run_ids.push((await createRunAndWait(server, 'app', { instance: 'one', input })).id);
  await server.client.call('createInputSet', { params, body: { id: 'set', name: 'Inputs', run_ids } });
  const { id } = await createBatchExperiment(server, 'app', {
    input_set_id: 'set',
    instance_ids: ['one', 'two'],
    objectives: { 'result.value': 'minimize' },
  });
  const { profiles } = await waitForBatchEnd(server, 'app', id);
  // On the second input, the second side fails.
  expect(profiles).toEqual([
    {
      indicator: 'result.value',
      objective: 'minimize',
      inputs: { total: 2, used: 2, solved_by_all: 1 },
      virtual_best: 10,
      virtual_worst: 20,
      best_by_input: [
        { input_id: run_ids[0], best: 10, worst: 20, winners: [0] },
        { input_id: run_ids[1], best: 30, worst: null, winners: [0] },
      ],
      groups: [
        {
          instance_id: 'one',
          version_id: 'v1',
          solved_share: 1,
          wins: 2,
          gap_to_best: 0,
          // The halves of 20 / 10 and of the failure.
          gap_to_worst: 0.75,
          performance: [{ x: 1, share: 1 }],
          pairwise: null,
          distribution: [
            { x: 10, share: 0.5 },
            { x: 30, share: 1 },
          ],
          // 1 s without a solution and 1 s with the gap 1 / 2; then 2 s without a solution. Each of 4 s.
          primal_integral: { inputs: 2, seconds: 1.75, gap: 0.4375 },
        },
        {
          instance_id: 'two',
          version_id: 'v1',
          solved_share: 0.5,
          wins: 0,
          gap_to_best: 0.75,
          gap_to_worst: 0,
          performance: [{ x: 2, share: 0.5 }],
          pairwise: { candidate: [{ x: 2, share: 0.5 }], control: [{ x: 1, share: 1 }] },
          distribution: [{ x: 20, share: 0.5 }],
          // 1 s without a solution and 3 s with the gap 1 / 2; then the 4 s of a failed run.
          primal_integral: { inputs: 2, seconds: 3.25, gap: 0.8125 },
        },
      ],
    },
  ]);
});

describe('profiles', () => {
  const createRun = (
    group: string,
    input: number,
    values: Record<string, number | boolean>,
  ): Observation => ({
    instance_id: group,
    version_id: 'v1',
    input_id: `input-${input}`,
    option_set: null,
    scenario_id: null,
    repetition: 0,
    status: 'succeeded',
    indicators: Object.entries(values).map(([name, value]) => ({ name, value })),
  });
  const analyse = (runs: Observation[], objectives: Record<string, 'minimize' | 'maximize'> = {}) => {
    const groups = [...new Set(runs.map(({ instance_id }) => instance_id))];
    const inputs = [...new Set(runs.map(({ input_id }) => input_id))];
    const order = { instances: groups, versions: ['v1'], option_sets: [], scenarios: [], inputs };
    const settings = { objectives };
    return analyseBatch({ order, settings, planWarnings: [], progress: 'complete', seed: 's' }, runs);
  };

  test('have only distributions without a direction, and no performance for values not above 0', () => {
    const runs = ['a', 'b'].map((group) => createRun(group, 0, { 'result.value': 1, other: 0 }));
    const [undirected] = analyse(runs).profiles ?? [];
    expect(undirected).toMatchObject({ indicator: 'result.value', objective: 'none', virtual_best: null });
    expect(undirected?.groups[0]).toMatchObject({
      wins: null,
      gap_to_best: null,
      performance: null,
      distribution: [{ x: 1, share: 1 }],
    });
    const [zero] = analyse(runs, { other: 'minimize' }).profiles ?? [];
    expect(zero).toMatchObject({ indicator: 'other', virtual_best: 0 });
    expect(zero?.groups[1]).toMatchObject({ gap_to_best: 0, performance: null, pairwise: null });
  });

  test('are absent for a single group, and while no input has ended on all', () => {
    expect(analyse([createRun('a', 0, { 'result.value': 1 })])).not.toHaveProperty('profiles');
    const pending = [
      createRun('a', 0, { 'result.value': 1 }),
      { ...createRun('b', 0, {}), status: 'running' },
    ];
    expect(analyse(pending)).not.toHaveProperty('profiles');
  });

  test('have at most five indicators, 50 groups, and 10,000 points', () => {
    const names = ['k0', 'k1', 'k2', 'k3', 'k4', 'k5'];
    const objectives = Object.fromEntries(names.map((name) => [name, 'minimize' as const]));
    const runs = Array.from({ length: 51 }, (_, group) =>
      Array.from({ length: 120 }, (_, input) =>
        createRun(
          `g${String(group).padStart(2, '0')}`,
          input,
          Object.fromEntries(names.map((name) => [name, 1 + group + ((input * 37) % 120)])),
        ),
      ),
    ).flat();
    const { profiles = [], warnings } = analyse(runs, objectives);
    expect(profiles.map(({ indicator }) => indicator)).toEqual(names.slice(0, 5));
    expect(warnings).toEqual(
      expect.arrayContaining([
        'Of 51 groups of runs the first 50 have profiles.',
        'Of 6 primary indicators the first 5 have profiles.',
      ]),
    );
    const points = profiles.flatMap(({ groups }) =>
      groups.flatMap(({ performance, pairwise, distribution }) => [
        ...(performance ?? []),
        ...(pairwise?.candidate ?? []),
        ...(pairwise?.control ?? []),
        ...distribution,
      ]),
    );
    expect(profiles[0]?.groups).toHaveLength(50);
    expect(points.length).toBeLessThanOrEqual(10_000);
    expect(profiles[0]?.groups[0]?.distribution.at(-1)).toEqual({ x: 120, share: 1 });
  });
});

test.each([
  ['no series', { schema: 'v1' }, null],
  ['points that are no numbers', { series_data: { value: { data_points: [{ x: 'nan', y: 1 }] } } }, null],
  ['a list that is an object', { series_data: { value: { data_points: { x: 1 } } } }, null],
  [
    'points in any order',
    {
      series_data: {
        value: {
          data_points: [
            { x: 2, y: 5 },
            { x: 1, y: 7 },
            { x: -1, y: 9 },
          ],
        },
      },
    },
    [
      { seconds: 1, value: 7 },
      { seconds: 2, value: 5 },
    ],
  ],
])('the incumbents of a block with %s', (_name, block, expected) => {
  expect(parseIncumbents(JSON.stringify(block))).toEqual(expected);
});

test('the incumbents of a block are at most 100, with the first and the last', () => {
  const data_points = Array.from({ length: 250 }, (_, index) => ({ x: index, y: 1000 - index }));
  const found = parseIncumbents(JSON.stringify({ series_data: { value: { data_points } } }));
  expect(found).toHaveLength(100);
  expect([found?.[0], found?.at(-1)]).toEqual([
    { seconds: 0, value: 1000 },
    { seconds: 249, value: 751 },
  ]);
});
