/** Changes of a run: name, description and the priority of a queued run. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun, nodeApp, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { openStream } from '../../testing/http/event-streams.ts';
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
const updateRun = (run: string, body: object): Promise<TestResponse> =>
  server.request('PUT', path(run), { body });
const getMetadata = async (run: string) =>
  (await server.request('GET', path(run, '/metadata'))).body as Record<string, unknown>;

test('only the priority of a queued run can change, and it changes the queue position', async () => {
  const blocker = await createRun(server, 'app', { input: { waits: true } });
  await waitForLogLine(server, 'app', blocker, 'waiting');
  const older = await createRun(server, 'app', { input: {} });
  const younger = await createRun(server, 'app', { input: {} });

  const stream = await openStream(server, '/v1/account/events');
  await stream.next();
  const response = await updateRun(younger, { queuing_priority: 2, name: 'Urgent' });
  expectStatus(response, 200);
  expect(await stream.next()).toMatchObject({ event: 'queue' });
  await stream.close();
  expect(response.body).toMatchObject({
    name: 'Urgent',
    queuing_priority: 2,
    metadata: { queuing_priority: 2, waiting: { place: 1 } },
  });
  expect(await getMetadata(older)).toMatchObject({
    queuing_priority: 6,
    metadata: { waiting: { place: 2 } },
  });

  expectError(
    await updateRun(blocker, { queuing_priority: 1, name: 'No' }),
    400,
    'queuing_priority is 1',
    '6',
    'queued',
  );
  expect(await getMetadata(blocker)).toMatchObject({ name: '', queuing_priority: 6, status_v2: 'running' });
  for (const priority of [0, 10, 1.5])
    expectError(await updateRun(older, { queuing_priority: priority }), 400, 'queuing_priority');

  expectStatus(await server.request('PATCH', path(blocker, '/cancel')), 204);
  const [first, second] = [
    await waitForRunEnd(server, 'app', younger),
    await waitForRunEnd(server, 'app', older),
  ];
  expect([first, second]).toMatchObject([{ status_v2: 'succeeded' }, { status_v2: 'succeeded' }]);
  const readStartTime = (run: object): number =>
    Date.parse((run as { metadata: { initiated_at: string } }).metadata.initiated_at);
  expect(readStartTime(first)).toBeLessThanOrEqual(readStartTime(second));
});

test('a change of the priority during a deletion succeeds or is a 404', async () => {
  const blocker = await createRun(server, 'app', { input: { waits: true } });
  await waitForLogLine(server, 'app', blocker, 'waiting');
  for (let round = 0; round < 10; round += 1) {
    const run = await createRun(server, 'app', { input: {} });
    const [deleted, changed] = await Promise.all([
      server.request('DELETE', path(run)),
      updateRun(run, { queuing_priority: 1 }),
    ]);
    expectStatus(deleted, 204);
    expect([200, 404], changed.text).toContain(changed.status);
  }
  expectStatus(await server.request('PATCH', path(blocker, '/cancel')), 204);
  await waitForRunEnd(server, 'app', blocker);
});

test('concurrent changes of name and description are both stored', async () => {
  const run = await createRun(server, 'app', { input: {} });
  await waitForRunEnd(server, 'app', run);
  for (let round = 0; round < 5; round += 1) {
    const responses = await Promise.all([
      updateRun(run, { name: `Name ${round}` }),
      updateRun(run, { description: `Description ${round}` }),
    ]);
    for (const response of responses) expectStatus(response, 200);
    expect(await getMetadata(run)).toMatchObject({
      name: `Name ${round}`,
      description: `Description ${round}`,
    });
  }
});

test('an ended run accepts a PUT of the whole object with a new name', async () => {
  const run = await createRun(server, 'app', { input: {} });
  await waitForRunEnd(server, 'app', run);
  const before = await getMetadata(run);
  const response = await updateRun(run, { ...before, name: 'Renamed' });
  expectStatus(response, 200);
  expect(response.body).toEqual({ ...before, name: 'Renamed' });
  expectError(await updateRun(run, { ...before, queuing_priority: 1 }), 400, 'queuing_priority', 'queued');
});
