/** The queue: its order, the number of runs in parallel, and runs that may not wait. */
import { afterAll, afterEach, expect, test } from 'vitest';
import { createRun, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const SMALL = '6c9500mb870s';
const MIDDLE = '8c16gb12h';
const LARGE = '16c60gb12h';

/** Ends at once, or waits for a cancel. A shell script, because these tests have many runs. */
const APP = {
  main: `#!/bin/sh
IFS= read -r input
echo started >&2
case "$input" in
  *'"waits":true'*)
    trap 'exit 0' TERM
    while :; do sleep 1 & wait $!; done
    ;;
esac
echo '{}'
`,
};

/** Tests with the same capacity share a server; each ends its runs. */
const servers = new Map<string, TestServer>();
let server: TestServer;

/** Starts a server of the capacity with the app, or returns to the one that an earlier test has started. */
async function start(capacity: string): Promise<void> {
  const known = servers.get(capacity);
  server = known ?? (await startTestServer({ env: { SWITCHYARD_CAPACITY: capacity } }));
  if (known) return;
  servers.set(capacity, server);
  await pushApp(server, 'app', APP, { executable_type: 'binary', runtime: 'native' });
}

afterEach(async () => {
  const unfinished = server.runningServer.database.read
    .selectFrom('runs')
    .select('id')
    .where('status', 'in', ['queued', 'running']);
  for (const { id } of await unfinished.execute()) await finish(id);
});
afterAll(() => Promise.all([...servers.values()].map((one) => one.close())));

interface TestRun {
  waits?: boolean;
  priority?: number;
  disabled?: boolean;
  class?: string;
}

const formatBody = ({ waits = false, priority, disabled, class: name }: TestRun) => ({
  input: { waits },
  configuration: {
    ...(name ? { execution_class: name } : {}),
    queuing: { ...(priority ? { priority } : {}), ...(disabled === undefined ? {} : { disabled }) },
  },
});
const create = (run: TestRun = {}): Promise<string> => {
  const { input, ...body } = formatBody(run);
  return createRun(server, 'app', { input, body });
};
const postRun = (run: TestRun) =>
  server.request('POST', '/v1/applications/app/runs', { body: formatBody(run) });
const cancel = (run: string) => server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`);

async function waiting(options: TestRun = {}): Promise<string> {
  const run = await create({ ...options, waits: true });
  await waitForLogLine(server, 'app', run, 'started');
  return run;
}

async function finish(run: string): Promise<void> {
  await cancel(run);
  await waitForRunEnd(server, 'app', run);
}

const readStatus = async (run: string): Promise<string> => {
  const { body } = await server.client.call('getRunMetadata', {
    params: { application_id: 'app', run_id: run },
  });
  return body.status_v2;
};

/** Returns the runs in the order they were claimed. */
async function sortByClaim(runs: readonly string[]): Promise<string[]> {
  const rows = await server.runningServer.database.read
    .selectFrom('run_events')
    .select('run_id')
    .where('status', '=', 'running')
    .orderBy('seq')
    .execute();
  return rows.map((row) => row.run_id).filter((id: string) => runs.includes(id));
}

test('goes by priority, then by age, one at a time on one slot', async () => {
  await start('1');
  const blocker = await waiting();
  const priorities = [6, 9, 1, undefined, 2, 1, 9];
  const runs: string[] = [];
  for (const priority of priorities) runs.push(await create(priority === undefined ? {} : { priority }));
  for (const run of runs) expect(await readStatus(run)).toBe('queued');
  await finish(blocker);
  for (const run of runs) await waitForRunEnd(server, 'app', run);
  // By priority 1, 1, 2, 6, 6 (the default), 9, 9; within one the older first.
  const order = [2, 5, 4, 0, 3, 1, 6].map((index) => runs[index]);
  expect(await sortByClaim([blocker, ...runs])).toEqual([blocker, ...order]);
});

test('a class without its own slots uses the shared ones; a class with its own slots uses only those', async () => {
  await start(`${SMALL}=1,${MIDDLE}=1,0`);
  const small = await waiting({ class: SMALL });
  const next = await create({ class: SMALL, priority: 1 });
  const middle = await waiting({ class: MIDDLE });
  const large = await create({ class: LARGE, priority: 1 });
  expect(await readStatus(next)).toBe('queued');
  await finish(middle);
  expect(await readStatus(next)).toBe('queued');
  await finish(small);
  await waitForRunEnd(server, 'app', next);
  expect(await readStatus(large)).toBe('queued');
  expect((await postRun({ class: LARGE, disabled: true })).status).toBe(429);
});

test('two slots hold two runs, whatever their class', async () => {
  await start('2');
  const runs = [await waiting({ class: SMALL }), await waiting({ class: LARGE })];
  const third = await create({ class: MIDDLE });
  expect(await readStatus(third)).toBe('queued');
  await finish(runs[0] ?? '');
  await waitForRunEnd(server, 'app', third);
  await finish(runs[1] ?? '');
});

test('a run that may not wait is refused when no slot is free, and leaves no rows', async () => {
  await start('1');
  const free = await postRun({ disabled: true, waits: true });
  expect(free.status).toBe(202);
  const { run_id } = free.body as { run_id: string };
  await waitForLogLine(server, 'app', run_id, 'started');
  const count = async (table: 'runs' | 'contents'): Promise<number> =>
    (await server.runningServer.database.read.selectFrom(table).select('id').execute()).length;
  const before = [await count('runs'), await count('contents')];
  const refused = await postRun({ disabled: true });
  expect(refused.status).toBe(429);
  expect(refused.body).toEqual({
    ...{ status: 'Busy', error: expect.stringContaining(SMALL), code: 'no_capacity' },
  });
  expect([await count('runs'), await count('contents')]).toEqual(before);
  await finish(run_id);
  const again = await postRun({ disabled: true });
  expect(again.status).toBe(202);
  await waitForRunEnd(server, 'app', (again.body as { run_id: string }).run_id);
});

test('a run that may not wait does not overtake a queued run', async () => {
  await start('1');
  const blocker = await waiting();
  const queued = await create();
  expect((await postRun({ disabled: true })).status).toBe(429);
  await finish(blocker);
  await waitForRunEnd(server, 'app', queued);
});

test('of many simultaneous runs that may not wait, one for each slot is accepted', async () => {
  await start('3');
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => postRun({ disabled: true, waits: true })),
  );
  const statuses = responses.map((response) => response.status).sort();
  expect(statuses).toEqual([202, 202, 202, ...Array.from({ length: 47 }, () => 429)]);
});

test('one run for each free slot is accepted while slots are acquired and released', async () => {
  await start('4');
  let held = [await waiting(), await waiting()];
  for (let round = 0; round < 3; round += 1) {
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => postRun({ disabled: true, waits: true })),
    );
    const accepted = responses
      .filter((one) => one.status === 202)
      .map((one) => (one.body as { run_id: string }).run_id);
    expect(accepted).toHaveLength(2);
    for (const run of accepted) await waitForLogLine(server, 'app', run, 'started');
    for (const run of held) await finish(run);
    held = accepted;
  }
});

test('a class is refused only for its own workers: a worker full of other classes takes no slot from another worker', async () => {
  await start('1');
  await waiting({ class: SMALL });
  // Another worker, that serves the large class alone and has nothing to do.
  await server.runningServer.database.transact((tx) =>
    tx
      .insertInto('workers')
      .values({
        id: 'worker-elsewhere',
        folder_id: 'elsewhere',
        capacity: JSON.stringify({ shared: 0, own: { [LARGE]: 1 } }),
        heartbeat_at: Date.now() + 60_000,
        ...{ host: '', version: '', started_at: 0, kind: 'process', containment: 'limits' },
      })
      .execute(),
  );
  expect((await postRun({ class: SMALL, disabled: true })).status).toBe(429);
  expect((await postRun({ class: LARGE, disabled: true })).status).toBe(202);
  expect((await postRun({ class: LARGE, disabled: true })).status).toBe(429);
  await server.runningServer.database.transact((tx) =>
    tx.deleteFrom('workers').where('id', '=', 'worker-elsewhere').execute(),
  );
});

test('a slot is free again after a start on the same data', async () => {
  await start('1');
  const run = await waiting();
  await server.restart();
  await waitForLogLine(server, 'app', run, 'started');
  expect((await postRun({ disabled: true })).status).toBe(429);
  await finish(run);
});
