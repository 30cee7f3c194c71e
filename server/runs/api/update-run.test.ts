/** What can be changed of a run, and what cannot. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun, nodeApp, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
  const source = `async (input) => {
    if (input.waits) setInterval(() => console.error('waiting'), 20);
    if (input.waits) await new Promise((resolve) => process.on('SIGTERM', () => process.exit(0)));
    return {};
  }`;
  await pushApp(server, 'app', nodeApp(source));
});
afterAll(() => server.close());

const path = (run: string, rest = '') => `/v1/applications/app/runs/${run}${rest}`;
const put = (run: string, body: object): Promise<TestResponse> => server.request('PUT', path(run), { body });
const read = async (run: string) =>
  (await server.request('GET', path(run, '/metadata'))).body as Record<string, unknown>;

test('the priority of a queued run changes its place, and that of no other', async () => {
  const blocker = await createRun(server, 'app', { input: { waits: true } });
  await waitForLogLine(server, 'app', blocker, 'waiting');
  const older = await createRun(server, 'app', { input: {} });
  const younger = await createRun(server, 'app', { input: {} });

  const answer = await put(younger, { queuing_priority: 2, name: 'Urgent' });
  expectStatus(answer, 200);
  expect(answer.body).toMatchObject({
    name: 'Urgent',
    queuing_priority: 2,
    metadata: { queuing_priority: 2, waiting: { place: 1 } },
  });
  expect(await read(older)).toMatchObject({ queuing_priority: 6, metadata: { waiting: { place: 2 } } });

  expectError(
    await put(blocker, { queuing_priority: 1, name: 'No' }),
    400,
    'queuing_priority is 1',
    '6',
    'queued',
  );
  expect(await read(blocker)).toMatchObject({ name: '', queuing_priority: 6, status_v2: 'running' });
  for (const priority of [0, 10, 1.5])
    expectError(await put(older, { queuing_priority: priority }), 400, 'queuing_priority');

  expectStatus(await server.request('PATCH', path(blocker, '/cancel')), 204);
  const [first, second] = [
    await waitForRunEnd(server, 'app', younger),
    await waitForRunEnd(server, 'app', older),
  ];
  expect([first, second]).toMatchObject([{ status_v2: 'succeeded' }, { status_v2: 'succeeded' }]);
  const started = (run: object): number =>
    Date.parse((run as { metadata: { initiated_at: string } }).metadata.initiated_at);
  expect(started(first)).toBeLessThanOrEqual(started(second));
});

test('a run that is deleted while its priority is changed is not there, whatever its status', async () => {
  const blocker = await createRun(server, 'app', { input: { waits: true } });
  await waitForLogLine(server, 'app', blocker, 'waiting');
  for (let round = 0; round < 10; round += 1) {
    const run = await createRun(server, 'app', { input: {} });
    const [gone, changed] = await Promise.all([
      server.request('DELETE', path(run)),
      put(run, { queuing_priority: 1 }),
    ]);
    expectStatus(gone, 204);
    expect([200, 404], changed.text).toContain(changed.status);
  }
  expectStatus(await server.request('PATCH', path(blocker, '/cancel')), 204);
  await waitForRunEnd(server, 'app', blocker);
});

test('a name and a description given by two at once are both kept', async () => {
  const run = await createRun(server, 'app', { input: {} });
  await waitForRunEnd(server, 'app', run);
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all([
      put(run, { name: `Name ${round}` }),
      put(run, { description: `Description ${round}` }),
    ]);
    for (const answer of answers) expectStatus(answer, 200);
    expect(await read(run)).toMatchObject({
      name: `Name ${round}`,
      description: `Description ${round}`,
    });
  }
});

test('the whole object can be sent back, whatever the status', async () => {
  const run = await createRun(server, 'app', { input: {} });
  await waitForRunEnd(server, 'app', run);
  const before = await read(run);
  const answer = await put(run, { ...before, name: 'Renamed' });
  expectStatus(answer, 200);
  expect(answer.body).toEqual({ ...before, name: 'Renamed' });
  expectError(await put(run, { ...before, queuing_priority: 1 }), 400, 'queuing_priority', 'queued');
});
