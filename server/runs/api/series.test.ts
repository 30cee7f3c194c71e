/** The series of a run over HTTP: from its log while it runs and after, from solvers, and from its statistics. */
import { readFileSync } from 'node:fs';
import { SERIES_POINTS_MAX } from '@switchyard/contract/limits.ts';
import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun, createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { openStream } from '../../testing/http/event-streams.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const LOGS = new URL('../../../solver-logs/testing/logs/', import.meta.url);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await pushApp(
    server,
    'app',
    nodeApp(`async (input) => {
      const write = (text) => new Promise((resolve) => process.stderr.write(text, resolve));
      const end = Date.now() + (input.waitMs ?? 0);
      while (Date.now() < end) await new Promise((resolve) => setTimeout(resolve, end - Date.now()));
      await write(input.text ?? '');
      for (let n = 0; n < (input.points ?? 0); n += 1)
        await write('{"series": {"cost": ' + (n === 777 ? -1 : n === 778 ? 1e9 : n) + '}}\\n');
      const until = Date.now() + (input.busyMs ?? 0);
      while (Date.now() < until) Math.sqrt(until);
      return { solution: {}, statistics: input.statistics };
    }`),
  );
});
afterAll(() => server.close());

/** Returns the series; without those of the resources, which depend on the speed of the machine. */
async function getSeries(run: string, { withResources = false } = {}) {
  const params = { application_id: 'app', run_id: run };
  const { series, ...rest } = (await server.client.call('getRunSeries', { params })).body;
  return { series: series.filter(({ source }) => withResources || source !== 'resources'), ...rest };
}
const runWith = async (input: unknown): Promise<string> =>
  (await createRunAndWait(server, 'app', { input })).id;

test('the log of a solver becomes its objective, bound, gap, nodes and phases', async () => {
  const log = readFileSync(new URL('highs-minimise.out', LOGS), 'utf8');
  const reported = JSON.parse(readFileSync(new URL('highs-minimise.json', LOGS), 'utf8'));
  const run = await runWith({ text: log });
  const { series, phases, solves } = await getSeries(run);
  const last = Object.fromEntries(series.map(({ name, points }) => [name, points.at(-1)?.[1]]));
  expect(last).toEqual({
    objective: reported.objective,
    bound: reported.bound,
    gap: 0,
    nodes: reported.nodes,
  });
  expect(series.every(({ source }) => source === 'log')).toBe(true);
  expect(phases.at(-1)).toMatchObject({ solver: 'HiGHS', phase: 'finished', solve: 0 });
  expect(series.every(({ solve }) => solve === 0)).toBe(true);
  expect(solves).toEqual([
    {
      ...{ solve: 0, x: expect.any(Number), solver: 'HiGHS', version: '1.16.0', status: 'optimal' },
      ...{ objective: reported.objective, bound: reported.bound, gap: 0, nodes: reported.nodes },
      ...{ seconds: expect.any(Number), threads: null, seed: null },
    },
  ]);
  const params = { application_id: 'app', run_id: run };
  const { statistics } = (await server.client.call('getRunMetadata', { params })).body;
  expect(statistics.indicators).toEqual([{ name: 'solver.status', value: 'optimal', source: 'log' }]);
});

test('lines that arrive late are placed by the clock of their solver, each solve by its own', async () => {
  const row = (seconds: number, objective: number) =>
    `         0       0         0   0.00%   10              ${objective}             50.00%        0      0      0         0     ${seconds.toFixed(1)}s\n`;
  const solve = (first: number) =>
    `Running HiGHS 1.16.0 (git hash: f3f113d)\nPresolving model\n${row(0.1, first)}${row(1, first - 1)}Solving report\n  Timing            1.20\n`;
  const { series, solves } = await getSeries(await runWith({ waitMs: 3_000, text: solve(30) + solve(20) }));
  const objectives = series.filter(({ name }) => name === 'objective');
  expect(objectives.map(({ solve: number }) => number)).toEqual([0, 1]);
  for (const [index, { points }] of objectives.entries()) {
    const start = solves[index]?.x ?? 0;
    // The line with 1.20 s arrived after 3 s.
    expect(start).toBeGreaterThan(1.5);
    expect(points).toEqual([
      [expect.closeTo(start + 0.1, 2), 30 - 10 * index],
      [expect.closeTo(start + 1, 2), 29 - 10 * index],
    ]);
  }
});

test('many points are reduced, with the first, last, smallest and largest, and are streamed while the app runs', async () => {
  const run = await createRun(server, 'app', { input: { points: 9_000 } });
  const stream = await openStream(server, `/v1/applications/app/runs/${run}/events`);
  const updates = (await stream.readAll()).filter(({ event }) => event === 'series');
  const { series } = await getSeries(run);
  const points = series[0]?.points ?? [];
  // Lines that arrive together have the same time, and few points remain of them.
  expect(points.length).toBeGreaterThanOrEqual(4);
  expect(points.length).toBeLessThanOrEqual(SERIES_POINTS_MAX);
  const values = points.map(([, y]) => y);
  expect([
    values[0],
    values.at(-1),
    Math.min(...values.map(Number)),
    Math.max(...values.map(Number)),
  ]).toEqual([0, 8_999, -1, 1e9]);
  expect(updates.length).toBeGreaterThan(0);
  const streamed = updates.flatMap(({ data }) => data.series as RunSeries[]);
  expect(streamed.findLast(({ source }) => source === 'log')?.points.at(-1)).toEqual(points.at(-1));
});

test('series_data of the statistics is a series too', async () => {
  const data_points = [
    { x: 0.5, y: 20 },
    { x: 1.5, y: 12 },
  ];
  const statistics = {
    schema: 'v1',
    result: { value: 12 },
    series_data: { value: { name: 'cost', data_points } },
  };
  expect(await getSeries(await runWith({ statistics }))).toEqual({
    series: [
      {
        name: 'cost',
        source: 'statistics',
        solve: null,
        points: [
          [0.5, 20],
          [1.5, 12],
        ],
      },
    ],
    phases: [],
    solves: [],
  });
});

test('the processes of the app give processor time, memory and written bytes once a second', async () => {
  const { series } = await getSeries(await runWith({ busyMs: 2_500 }), { withResources: true });
  expect(series.map(({ name, source }) => `${source} ${name}`)).toEqual([
    'resources cpu',
    'resources memory',
    'resources written',
  ]);
  for (const { points } of series) {
    expect(points.length).toBeGreaterThanOrEqual(1);
    const gaps = points.map(([x = 0], index) => x - (points[index - 1]?.[0] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(0.9);
  }
  const [cpu, memory] = series.map(({ points }) => points.map(([, y = 0]) => y));
  expect(Math.max(...(cpu ?? []))).toBeGreaterThan(0.02);
  expect(Math.max(...(memory ?? []))).toBeGreaterThan(1_000_000);
});

test('malformed and enormous lines give no point, and the run succeeds', async () => {
  const text = [
    '{"series": {"cost": ',
    '{"series": {"cost": "12"}}',
    '{"series": [1, 2]}',
    '{"series": {"cost": 1e999}}',
    `{"series": {"cost": 5, "x": "${'y'.repeat(1_000_000)}"}}`,
    `{"series": ${'['.repeat(10_000)}`,
    '',
  ].join('\n');
  const { id, status_v2 } = await createRunAndWait(server, 'app', { input: { text } });
  expect(status_v2).toBe('succeeded');
  expect(await getSeries(id)).toEqual({ series: [], phases: [], solves: [] });
});

test('facts of a solver that no solver would print are left out, and the series stay readable', async () => {
  const text = [
    `Running HiGHS ${'1.'.repeat(200)}1`,
    'Set option threads to 99999999999999999',
    'Presolving model',
    'Solving report',
    '  Status            Optimal',
    '  Primal bound      5',
    '',
  ].join('\n');
  const { solves } = await getSeries(await runWith({ text }));
  expect(solves).toMatchObject([{ solver: 'HiGHS', version: null, threads: null, objective: 5 }]);
});
