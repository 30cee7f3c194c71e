/**
 * Results that a release with the method 1 stored. The rows of stored-results.json come from that release: 12 inputs, on each of
 * which the candidate is better by 10.
 */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrateAll, migrateUntil } from '../../testing/database/migrate-all.ts';
import { openTestDatabase } from '../../testing/database/test-database.ts';
import { createOnlineTestApp } from '../../testing/fixtures/online-tests.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import type { AcceptanceTestsTable } from '../store/acceptance-schema.ts';
import type { ExperimentsTable } from '../store/schema.ts';

interface StoredRows {
  experiments: { row: ExperimentsTable; results: Record<string, unknown> }[];
  acceptance: AcceptanceTestsTable & { metric_results: object[] };
}

/** The last migration of that release. */
const LAST_MIGRATION = '0044';
const stored: StoredRows = JSON.parse(
  readFileSync(new URL('./stored-results.json', import.meta.url), 'utf8'),
);

/** Returns the rows as the tables have them; `ids` places them in another application. */
function buildRows(ids: Partial<Pick<ExperimentsTable, 'application_uid' | 'account_id'>> = {}) {
  const { acceptance } = stored;
  return {
    experiments: stored.experiments.map(({ row }) => ({
      ...row,
      ...ids,
      definition: JSON.stringify(row.definition),
    })),
    results: stored.experiments.map(({ row, results }) => ({
      experiment_uid: row.uid,
      results: JSON.stringify(results),
    })),
    acceptance: {
      ...acceptance,
      application_uid: ids.application_uid ?? acceptance.application_uid,
      definition: JSON.stringify(acceptance.definition),
      metric_results: JSON.stringify(acceptance.metric_results),
    },
  };
}

describe('through HTTP', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
    await createOnlineTestApp(server);
    const { database } = server.runningServer;
    const { uid, account_id } = await database.read
      .selectFrom('applications')
      .select(['uid', 'account_id'])
      .executeTakeFirstOrThrow();
    const rows = buildRows({ application_uid: uid, account_id });
    await database.transact(async (tx) => {
      await tx.insertInto('experiments').values(rows.experiments).execute();
      await tx.insertInto('experiment_results').values(rows.results).execute();
      const added = { method: null, profiles: null, tests_on_batch: 1 };
      await tx
        .insertInto('acceptance_tests')
        .values({ ...rows.acceptance, ...added })
        .execute();
    });
  });
  afterAll(() => server.close());

  const document: { paths: Record<string, object> } = JSON.parse(
    readFileSync(new URL(import.meta.resolve('@switchyard/contract/openapi/cloud.json')), 'utf8'),
  );
  const ajv = addFormats.default(new Ajv({ strict: false })).addSchema({ $id: 'cloud', ...document });

  /** Reads the experiment, expects a response that the contract declares, and returns its body. */
  async function readDeclared(kind: string, parameter: string): Promise<Record<string, unknown>> {
    const root = '/v1/applications/{application_id}/experiments';
    const path = `${root}/${kind}/{${parameter}}`.replaceAll('/', '~1');
    const response = await server.request('GET', `/v1/applications/app/experiments/${kind}/${kind}`);
    expectStatus(response, 200);
    const pointer = `cloud#/paths/${encodeURIComponent(path)}/get/responses/200/content/application~1json/schema`;
    const isDeclared = ajv.getSchema(pointer);
    if (!isDeclared) throw new Error(`The document has no ${pointer}.`);
    isDeclared(response.body);
    expect(isDeclared.errors).toBeNull();
    return response.body as Record<string, unknown>;
  }

  test.each([
    ['batch', 'batch_id'],
    ['shadow', 'shadow_id'],
    ['switchback', 'switchback_id'],
  ])(
    'a %s has its stored results with the method 1, in the form of the contract',
    async (kind, parameter) => {
      const body = await readDeclared(kind, parameter);
      const results = stored.experiments.find(({ row }) => row.kind === kind)?.results;
      expect(body).toMatchObject({ ...results, status: 'completed', method: '1' });
    },
  );

  test('results that a release with the method 2026-11 stored keep that method', async () => {
    const { database } = server.runningServer;
    const [first] = stored.experiments.filter(({ row }) => row.kind === 'switchback');
    const results = JSON.stringify({ method: '2026-11', ...first?.results });
    await database.transact((tx) =>
      tx
        .updateTable('experiment_results')
        .set({ results })
        .where('experiment_uid', '=', first?.row.uid ?? '')
        .execute(),
    );
    expect(await readDeclared('switchback', 'switchback_id')).toMatchObject({ method: '2026-11' });
  });

  test('an acceptance test keeps its decision with the method 1, in the form of the contract', async () => {
    const { results } = await readDeclared('acceptance', 'acceptance_id');
    expect(results).toEqual({
      passed: false,
      method: '1',
      metric_results: stored.acceptance.metric_results,
    });
  });
});

test('the migrations count the acceptance tests on a batch and leave their decisions alone', async () => {
  const { database, close } = await openTestDatabase({ isEmpty: true });
  await migrateUntil(database, LAST_MIGRATION);
  const { experiments, results, acceptance } = buildRows();
  const second = { ...acceptance, uid: 'second', application_uid: 'another-application' };
  await database.transact(async (tx) => {
    await tx.insertInto('experiments').values(experiments).execute();
    await tx.insertInto('experiment_results').values(results).execute();
    // The columns of later releases do not exist yet.
    const db = tx.withTables<{ acceptance_tests: typeof acceptance }>();
    await db.insertInto('acceptance_tests').values([acceptance, second]).execute();
  });
  await migrateAll(database);
  const added = { method: null, profiles: null, tests_on_batch: 2 };
  const rows = await database.read.selectFrom('acceptance_tests').selectAll().orderBy('uid').execute();
  expect(rows).toEqual([
    { ...acceptance, ...added },
    { ...second, ...added },
  ]);
  const retained = await database.read.selectFrom('experiment_results').selectAll().execute();
  expect(retained).toEqual(expect.arrayContaining(results));
  await close();
});
