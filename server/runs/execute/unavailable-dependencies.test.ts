/** A run whose executable, input or database fails still ends, with the reason in its error. */
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, expect, inject, test } from 'vitest';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { createRun, nodeApp, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const postgres = inject('postgres');
/** The factor by which delays are shorter. */
let speed = 1;
const clock: Clock = {
  ...systemClock,
  after: (ms, callback) => systemClock.after(ms / speed, callback),
};

let server: TestServer;
afterEach(() => {
  speed = 1;
  return server.close();
});

async function start(): Promise<void> {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' }, clock });
  await pushApp(
    server,
    'app',
    nodeApp(`(input) => {
      console.error('started');
      return new Promise((resolve) => setTimeout(() => resolve({ twice: 2 * input.n }), input.ms));
    }`),
  );
}

/** Creates a run that waits for the only slot, so that a test can delete its dependencies. `releaseSlot` starts it. */
async function createWaitingRun(): Promise<{ run: string; releaseSlot(): Promise<unknown> }> {
  const blocker = await createRun(server, 'app', { input: { n: 0, ms: 60_000 } });
  await waitForLogLine(server, 'app', blocker, 'started');
  const run = await createRun(server, 'app', { input: { n: 1, ms: 0 } });
  return { run, releaseSlot: () => server.request('PATCH', `/v1/applications/app/runs/${blocker}/cancel`) };
}

test.each([
  ['executable', 'executable_id'],
  ['input', 'input_content_id'],
] as const)('a run whose %s is missing fails with that error', async (dependency, column) => {
  await start();
  const { run, releaseSlot } = await createWaitingRun();
  await server.runningServer.database.transact((tx) =>
    sql`update runs set ${sql.ref(column)} = 'gone' where id = ${run}`.execute(tx),
  );
  await releaseSlot();
  const ended = await waitForRunEnd(server, 'app', run);
  expect(ended).toMatchObject({ status_v2: 'failed', metadata: { attempt: 1 } });
  expect(ended.error).toMatch(new RegExp(`^The ${dependency}.* of the run is gone\\.$`));
});

/** Makes the database reject every transition to `succeeded`. */
async function refuseSuccess(): Promise<void> {
  const { database } = server.runningServer;
  const statements = postgres
    ? [
        `create function refuse() returns trigger as $$ begin raise exception 'no success today'; end $$ language plpgsql`,
        `create trigger refuse before update on runs for each row when (new.status = 'succeeded') execute function refuse()`,
      ]
    : [
        `create trigger refuse before update on runs when new.status = 'succeeded'
         begin select raise(abort, 'no success today'); end`,
      ];
  for (const statement of statements) await database.transact((tx) => sql.raw(statement).execute(tx));
}

test('a run whose result the database refuses is retried, and fails after five attempts', async () => {
  await start();
  speed = 20;
  await refuseSuccess();
  const run = await createRun(server, 'app', { input: { n: 1, ms: 0 } });
  const ended = await waitForRunEnd(server, 'app', run);
  expect(ended).toMatchObject({ status_v2: 'failed', metadata: { attempt: 5 } });
  expect(ended.error).toContain('no success today');
});

test.runIf(postgres)(
  'runs end as they should though the connections to the database break again and again',
  async () => {
    await start();
    const runs: string[] = [];
    for (let n = 0; n < 12; n += 1) runs.push(await createRun(server, 'app', { input: { n, ms: 100 } }));
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(
      server.runningServer.database.read,
    );
    const client = new pg.Client({ connectionString: postgres });
    await client.connect();
    for (let fault = 0; fault < 8; fault += 1) {
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
        rows[0]?.name,
      ]);
      await client.query('select pg_sleep(0.25)');
    }
    await client.end();
    for (const [n, run] of runs.entries()) {
      const ended = await waitForRunEnd(server, 'app', run);
      expect(ended).toMatchObject({ status_v2: 'succeeded', output: { twice: 2 * n } });
    }
  },
);
