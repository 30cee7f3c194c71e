/** The queue: who is next, how many at once, and runs that may not wait. */
import { afterEach, expect, test } from 'vitest';
import { createRun, nodeApp, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const SMALL = '6c9500mb870s';
const MIDDLE = '8c16gb12h';
const LARGE = '16c60gb12h';

let server: TestServer;
afterEach(() => server.close());

/** A server of the capacity, with an app that ends at once or waits to be canceled. */
async function start(capacity: string): Promise<void> {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: capacity } });
  await pushApp(
    server,
    'app',
    nodeApp(`(input) => {
      console.error('started');
      if (!input.waits) return {};
      setInterval(() => {}, 1000);
      return new Promise((resolve) => process.on('SIGTERM', () => process.exit(0)));
    }`),
  );
}

interface Asked {
  waits?: boolean;
  priority?: number;
  disabled?: boolean;
  class?: string;
}

const bodyOf = ({ waits = false, priority, disabled, class: name }: Asked) => ({
  input: { waits },
  configuration: {
    ...(name ? { execution_class: name } : {}),
    queuing: { ...(priority ? { priority } : {}), ...(disabled === undefined ? {} : { disabled }) },
  },
});
const create = (asked: Asked = {}): Promise<string> => {
  const { input, ...body } = bodyOf(asked);
  return createRun(server, 'app', { input, body });
};
const ask = (asked: Asked) => server.request('POST', '/v1/applications/app/runs', { body: bodyOf(asked) });
const cancel = (run: string) => server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`);

async function waiting(asked: Asked = {}): Promise<string> {
  const run = await create({ ...asked, waits: true });
  await waitForLogLine(server, 'app', run, 'started');
  return run;
}

async function finish(run: string): Promise<void> {
  await cancel(run);
  await waitForRunEnd(server, 'app', run);
}

const statusOf = async (run: string): Promise<string> => {
  const { body } = await server.client.call('getRunMetadata', {
    params: { application_id: 'app', run_id: run },
  });
  return body.status_v2;
};

/** Runs in the order they were claimed. */
async function claimed(): Promise<string[]> {
  const rows = await server.runningServer.database.read
    .selectFrom('run_events')
    .select('run_id')
    .where('status', '=', 'running')
    .orderBy('seq')
    .execute();
  return rows.map((row) => row.run_id);
}

test('goes by priority, then by age, one at a time on one slot', async () => {
  await start('1');
  const blocker = await waiting();
  const asked = [6, 9, 1, undefined, 2, 1, 9];
  const runs: string[] = [];
  for (const priority of asked) runs.push(await create(priority === undefined ? {} : { priority }));
  for (const run of runs) expect(await statusOf(run)).toBe('queued');
  await finish(blocker);
  for (const run of runs) await waitForRunEnd(server, 'app', run);
  // By priority 1, 1, 2, 6, 6 (the default), 9, 9; within one the older first.
  const order = [2, 5, 4, 0, 3, 1, 6].map((index) => runs[index]);
  expect(await claimed()).toEqual([blocker, ...order]);
});

test('a class without slots of its own shares; one with slots of its own has those and no others', async () => {
  await start(`${SMALL}=1,${MIDDLE}=1,0`);
  const small = await waiting({ class: SMALL });
  const next = await create({ class: SMALL, priority: 1 });
  const middle = await waiting({ class: MIDDLE });
  const large = await create({ class: LARGE, priority: 1 });
  expect(await statusOf(next)).toBe('queued');
  await finish(middle);
  expect(await statusOf(next)).toBe('queued');
  await finish(small);
  await waitForRunEnd(server, 'app', next);
  expect(await statusOf(large)).toBe('queued');
  expect((await ask({ class: LARGE, disabled: true })).status).toBe(429);
});

test('two slots hold two runs, whatever their class', async () => {
  await start('2');
  const runs = [await waiting({ class: SMALL }), await waiting({ class: LARGE })];
  const third = await create({ class: MIDDLE });
  expect(await statusOf(third)).toBe('queued');
  await finish(runs[0] ?? '');
  await waitForRunEnd(server, 'app', third);
  await finish(runs[1] ?? '');
});

test('a run that may not wait is refused when no slot is free, and leaves nothing behind', async () => {
  await start('1');
  const free = await ask({ disabled: true, waits: true });
  expect(free.status).toBe(202);
  const { run_id } = free.body as { run_id: string };
  await waitForLogLine(server, 'app', run_id, 'started');
  const count = async (table: 'runs' | 'contents'): Promise<number> =>
    (await server.runningServer.database.read.selectFrom(table).select('id').execute()).length;
  const before = [await count('runs'), await count('contents')];
  const refused = await ask({ disabled: true });
  expect(refused.status).toBe(429);
  expect(refused.body).toEqual({ status: 'Busy', error: expect.stringContaining(SMALL) });
  expect([await count('runs'), await count('contents')]).toEqual(before);
  await finish(run_id);
  const again = await ask({ disabled: true });
  expect(again.status).toBe(202);
  await waitForRunEnd(server, 'app', (again.body as { run_id: string }).run_id);
});

test('a run that may not wait does not pass one that waits', async () => {
  await start('1');
  const blocker = await waiting();
  const queued = await create();
  expect((await ask({ disabled: true })).status).toBe(429);
  await finish(blocker);
  await waitForRunEnd(server, 'app', queued);
});

test('of many that may not wait, asked at once, exactly as many are taken as there are slots', async () => {
  await start('3');
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask({ disabled: true, waits: true })));
  const statuses = answers.map((answer) => answer.status).sort();
  expect(statuses).toEqual([202, 202, 202, ...Array.from({ length: 47 }, () => 429)]);
});

test('exactly as many are taken each time, while slots are being taken and given back', async () => {
  await start('4');
  let held = [await waiting(), await waiting()];
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask({ disabled: true, waits: true })));
    const taken = answers
      .filter((one) => one.status === 202)
      .map((one) => (one.body as { run_id: string }).run_id);
    expect(taken).toHaveLength(2);
    for (const run of taken) await waitForLogLine(server, 'app', run, 'started');
    for (const run of held) await finish(run);
    held = taken;
  }
});

test('a class is refused for its own workers only: one full of other classes takes no slot of the next', async () => {
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
      })
      .execute(),
  );
  expect((await ask({ class: SMALL, disabled: true })).status).toBe(429);
  expect((await ask({ class: LARGE, disabled: true })).status).toBe(202);
  expect((await ask({ class: LARGE, disabled: true })).status).toBe(429);
});

test('a slot is shared out again after a start on the same data', async () => {
  await start('1');
  const run = await waiting();
  await server.restart();
  await waitForLogLine(server, 'app', run, 'started');
  expect((await ask({ disabled: true })).status).toBe(429);
  await finish(run);
});
