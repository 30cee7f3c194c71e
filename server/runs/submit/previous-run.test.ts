/** Runs that start from the output of an earlier run. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  packFiles,
  pushApp,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus, uploadContent } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** Prints its input and, when there is one, the path and the content of the previous output. */
const APP = `#!/bin/sh
read -r input
if [ -z "\${SWITCHYARD_PREVIOUS+set}" ]; then echo "{\\"input\\":$input}"; exit; fi
echo changed 2>/dev/null >"$SWITCHYARD_PREVIOUS" && exit 9
printf '{"input":%s,"path":"%s","previous":%s}' "$input" "$SWITCHYARD_PREVIOUS" "$(cat "$SWITCHYARD_PREVIOUS")"
`;
/** Copies the previous plan, if there is one, beside its own. */
const FILES_APP = `#!/bin/sh
cat inputs/in.csv >outputs/solutions/plan.csv
[ -z "$SWITCHYARD_PREVIOUS" ] || cat "$SWITCHYARD_PREVIOUS/plan.csv" >outputs/solutions/earlier.csv
cat outputs/solutions/*.csv >&2
`;
const path = '/v1/applications/plan';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const type = { executable_type: 'binary', runtime: 'native' } as const;
  await pushApp(server, 'plan', { main: APP }, type);
  const format = { io_configuration: { format: 'multi-file' } } as const;
  await pushApp(server, 'files', { main: FILES_APP }, { ...type, ...format });
});
afterAll(() => server.close());

const runToEnd = async (input: unknown, body: Record<string, unknown> = {}) =>
  createRunAndWait(server, 'plan', { input, body });
const request = (body: object) => server.request('POST', `${path}/runs`, { body: { input: 2, ...body } });

test('the app finds the output of the previous run, byte for byte and read-only', async () => {
  const first = await runToEnd(1.5);
  expect(first.output).toEqual({ input: 1.5 });
  expect(first.metadata).not.toHaveProperty('previous_run_id');
  const second = await runToEnd(2, { previous_run_id: first.id });
  expect(second.output).toEqual({
    input: 2,
    path: expect.stringMatching(/\/output\.json$/),
    previous: { input: 1.5 },
  });
  expect(second.metadata.previous_run_id).toBe(first.id);
});

test('the output stays with the run, also for its replay and its clone, when the previous run is deleted', async () => {
  const first = await runToEnd(1);
  const second = await runToEnd(2, { previous_run_id: first.id });
  expectStatus(await server.request('DELETE', `${path}/runs/${first.id}`), 204);
  const replayed = await server.request('POST', `${path}/runs/${second.id}/replay`);
  expectStatus(replayed, 202);
  const { run_id: replay } = replayed.body as { run_id: RunId };
  const clone = await createRun(server, 'plan', {
    input: 3,
    body: { previous_run_id: first.id, tracking: { cloned_run_id: second.id } },
  });
  for (const id of [replay, clone])
    expect(await waitForRunEnd(server, 'plan', id)).toMatchObject({
      metadata: { previous_run_id: first.id },
      output: { previous: { input: 1 } },
    });
  expectError(await request({ previous_run_id: first.id }), 400, first.id, 'no such run', 'retention');
});

test('an app of files finds the files of the previous run', async () => {
  const params = { application_id: 'files' };
  const run = async (rows: string, previous_run_id: RunId | null) => {
    const upload_id = await uploadContent(server, 'files', await packFiles({ 'in.csv': rows }));
    const { body } = await server.client.call('createRun', { params, body: { upload_id, previous_run_id } });
    await server.waitUntil('runs-ended', async () => {
      const { body: found } = await server.client.call('getRunMetadata', {
        params: { ...params, run_id: body.run_id },
      });
      return found.status_v2 === 'succeeded' || null;
    });
    return body.run_id;
  };
  const second = await run('two\n', await run('one\n', null));
  const log = await server.request('GET', `/v1/applications/files/runs/${second}/logs`);
  expect(log.body).toEqual({ log: 'one\ntwo\n' });
});

test('refuses a run without an output, a missing one, and one of another application', async () => {
  const external = { configuration: { run_type: { type: 'external' as const } } };
  const created = await request(external);
  const { run_id: open } = created.body as { run_id: string };
  expectError(await request({ previous_run_id: open }), 400, open, 'is none and has no output yet');
  expectStatus(await server.request('PATCH', `${path}/runs/${open}/cancel`), 204);
  expectError(await request({ previous_run_id: open }), 400, open, 'has the status canceled');
  await server.client.call('createApplication', { body: { id: 'other', name: 'Other' } });
  const other = await server.client.call('createRun', {
    params: { application_id: 'other' },
    body: { input: null, ...external, result: { status: 'succeeded' } },
  });
  for (const id of [other.body.run_id, 'nothing'])
    expectError(await request({ previous_run_id: id }), 400, id, '"plan" has no such run');
  const first = await runToEnd(1);
  expectError(await request({ ...external, previous_run_id: first.id }), 400, first.id, 'external');
});

test('every run of an ensemble starts from the previous output', async () => {
  const instance = { id: 'one', name: 'One', version_id: 'v1' };
  expectStatus(await server.request('POST', `${path}/versions`, { body: { id: 'v1', name: 'One' } }), 201);
  expectStatus(await server.request('POST', `${path}/instances`, { body: instance }), 201);
  const group = { id: 'all', instance_id: 'one', repetitions: 2 };
  const rule = {
    id: 'best',
    statistics_path: '$.result.value',
    objective: 'minimize',
    tolerance: { type: 'absolute', value: 0 },
    index: 0,
  };
  const ensemble = { id: 'two', name: 'Two', run_groups: [group], rules: [rule] };
  expectStatus(await server.request('POST', `${path}/ensembles`, { body: ensemble }), 201);
  const first = await runToEnd(1);
  const id = await createRun(server, 'plan', {
    input: 2,
    body: {
      previous_run_id: first.id,
      configuration: { run_type: { type: 'ensemble', definition_id: 'two' } },
    },
  });
  await waitForRunEnd(server, 'plan', id);
  const { body } = await server.request('GET', `${path}/runs`);
  const { runs } = body as { runs: { id: RunId; run_type: { reference_id: string } }[] };
  const children = runs.filter(({ run_type }) => run_type.reference_id === id);
  expect(children).toHaveLength(2);
  for (const child of children)
    expect((await waitForRunEnd(server, 'plan', child.id)).output).toMatchObject({ previous: { input: 1 } });
});

test('the output counts as storage of the application, once for each run that keeps it', async () => {
  await pushApp(server, 'counted', { main: APP }, { executable_type: 'binary', runtime: 'native' });
  const first = await createRunAndWait(server, 'counted', { input: 1 });
  const body = { previous_run_id: first.id };
  const second = await createRunAndWait(server, 'counted', { input: 2, body });
  const sizes = [first, second].flatMap(({ input_size, output_size }) => [input_size, output_size]);
  const { body: storage } = await server.client.call('getStorage');
  expect(storage.items.find(({ application_id }) => application_id === 'counted')?.run_bytes).toBe(
    sizes.reduce((sum, size) => sum + size, first.output_size),
  );
});
