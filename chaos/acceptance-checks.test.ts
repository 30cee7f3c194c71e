/** The check of acceptance tests accepts what the product decides, and finds a decision without some of its runs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createInputSet,
  type ExpectedValues,
  MEAN_METRIC,
  waitForDecision,
} from '../server/testing/fixtures/acceptance-tests.ts';
import { openQuery, type RunQuery } from '../server/testing/load/invariants.ts';
import { startTestServer, type TestServer } from '../server/testing/servers/test-server.ts';
import { checkAcceptanceTests } from './acceptance-checks.ts';

let server: TestServer;
let application: string;
let opened: Awaited<ReturnType<typeof openQuery>>;
beforeAll(async () => {
  server = await startTestServer();
  application = await createAcceptanceApp(server);
  opened = await openQuery(server.dataFolder, server.databaseUrl);
});
afterAll(async () => {
  await opened.close();
  await server.close();
});

/** Decides a test on a new batch, and returns its id. A side without a value fails on the input. */
async function decide(inputs: readonly ExpectedValues[]): Promise<string> {
  const { id } = await createAcceptanceTest(server, application, {
    input_set_id: await createInputSet(server, application, inputs),
    metrics: [MEAN_METRIC, { ...MEAN_METRIC, statistic: 'max' }],
  });
  await waitForDecision(server, application, id);
  return id;
}

const RUNS = 3;
const check = (id: string, query: RunQuery = opened.query) => checkAcceptanceTests(query, [id], [], RUNS);

test.each<[string, ExpectedValues[]]>([
  ['no run', [{}, {}, {}].map((_, n) => ({ control: n, candidate: n }))],
  ['a run of the control', [{ control: 1, candidate: 1 }, { candidate: 5 }, { control: 3, candidate: 3 }]],
  ['a run of the candidate', [{ control: 1, candidate: 1 }, { control: 5 }, { control: 3, candidate: 3 }]],
  ['every run of the candidate', [{ control: 1 }, { control: 5 }, { control: 3 }]],
])('a decision in which %s failed agrees with its runs', async (_, inputs) => {
  expect(await check(await decide(inputs))).toEqual([]);
});

test('a decision without a run that succeeded, or against its values, is a violation', async () => {
  const id = await decide([1, 2, 3].map((value) => ({ control: value, candidate: value })));
  const change =
    (edit: (row: Record<string, unknown>) => Record<string, unknown>): RunQuery =>
    async (sql) => {
      const rows = await opened.query(sql);
      return sql.includes('select instance_id') ? rows.map(edit) : rows;
    };
  const without = change((row) => (row.instance_id === 'candidate' ? { ...row, status: 'failed' } : row));
  expect(await check(id, without)).toContain(
    `the acceptance test ${id} was not decided by the runs of its candidate`,
  );
  const worse = change((row) =>
    row.instance_id === 'control' ? { ...row, indicators: '[{"name":"result.value","value":0}]' } : row,
  );
  expect(await check(id, worse)).toContain(`the acceptance test ${id} evaluates mean as true`);
});
