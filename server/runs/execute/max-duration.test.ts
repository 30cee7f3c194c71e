/** F2: a maximum duration below that of the execution class. */
import { computeDurationLimit } from '@switchyard/contract/execution-classes.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { resolveMaxDuration } from '../submit/resolve-max-duration.ts';

/** Prints its best solution when it is stopped, or nothing with the input "silent". */
const APP = {
  main: `#!/bin/sh
IFS= read -r input
case "$input" in
  *silent*) trap 'exit 0' TERM ;;
  *) trap 'echo "{\\"limit\\":$SWITCHYARD_MAX_DURATION}"; exit 0' TERM ;;
esac
while :; do sleep 30 & wait $!; done
`,
};
const params = { application_id: 'app' };

let server: TestServer;
/** They run at the same time. The app that is to print its output has the time that a busy machine needs to start it. */
const runs = new Map<string, string>();
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '4' } });
  await pushApp(server, 'app', APP, { executable_type: 'binary', runtime: 'native' });
  await server.client.call('createVersion', { params, body: { id: 'v1', name: 'One' } });
  await server.client.call('createInstance', {
    params,
    body: { id: 'short', name: 'Short', version_id: 'v1', configuration: { max_duration: 1 } },
  });
  const configure = (max_duration: number) => ({ configuration: { max_duration } });
  runs.set('own', await createRun(server, 'app', { input: {}, body: configure(6) }));
  runs.set('of the instance', await createRun(server, 'app', { input: {}, instance: 'short' }));
  runs.set('silent', await createRun(server, 'app', { input: 'silent', body: configure(1) }));
});
afterAll(() => server.close());

const postRun = (configuration: object) =>
  server.request('POST', '/v1/applications/app/runs', { body: { input: {}, configuration } });
async function waitForRun(name: string) {
  const run_id = runs.get(name) as RunId;
  await waitForRunEnd(server, 'app', run_id);
  return (await server.client.call('getRun', { params: { ...params, run_id } })).body;
}

test('F2: a run is stopped after its maximum duration, which its app knows, and keeps the output', async () => {
  const { output, metadata } = await waitForRun('own');
  expect(output).toEqual({ limit: 6 });
  expect(metadata).toMatchObject({
    status_v2: 'failed',
    error: 'The app ran for its limit of 6\u00a0s and was stopped. The output that it had printed is stored.',
    ...{ max_duration: 6, limits: { duration_ms: 6000 } },
  });
});

test.each(['of the instance', 'silent'])('F2: the maximum duration %s stops a run', async (name) => {
  const { metadata } = await waitForRun(name);
  expect(metadata).toMatchObject({ status_v2: 'failed', max_duration: 1, limits: { duration_ms: 1000 } });
  expect(metadata.error).toMatch(/^The app ran for its limit of 1\ss and was stopped\./);
});

test.each([
  [871, ['configuration.max_duration is 871', '6c9500mb870s', '870']],
  [0, ['max_duration', '1']],
  [1.5, ['max_duration']],
  [43_201, ['max_duration']],
])('F2: a maximum duration of %s s is refused for a run and for an instance', async (max_duration, words) => {
  expectError(await postRun({ max_duration }), 400, ...words);
  const path = '/v1/applications/app/instances';
  const body = { id: 'long', name: 'Long', version_id: 'v1', configuration: { max_duration } };
  expectError(await server.request('POST', path, { body }), 400, ...words);
  expectStatus(await server.request('GET', `${path}/long`), 404);
});

const PLANNED = { experiment: { id: 'batch' } };
test.each<[string, Parameters<typeof resolveMaxDuration>[0], number | null, number | null]>([
  ['without any', { configuration: {} }, null, null],
  ['of the instance', { configuration: {} }, 100, 100],
  ['of the run', { configuration: { max_duration: 50 } }, 100, 50],
  ['of the experiment', { configuration: { max_duration: 200 }, ...PLANNED }, 100, 200],
  ['beyond the class', { configuration: { max_duration: 3600 }, ...PLANNED }, null, 870],
  ['of an instance with a longer class', { configuration: { execution_class: '6c9500mb870s' } }, 3600, 870],
  ['of an ensemble', { configuration: { max_duration: 3600 }, definitionId: 'pair' }, null, 3600],
])('F2: a run has the limit %s', (_, request, ofInstance, expected) => {
  expect(resolveMaxDuration(request, { max_duration: ofInstance })).toBe(expected);
});

test.each([
  ['6c9500mb870s', null, 870_000],
  ['6c9500mb870s', 10, 10_000],
  ['6c9500mb870s', 3600, 870_000],
  ['8c16gb12h', 3600, 3_600_000],
] as const)('F2: the limit of the class %s with %s s is %s ms', (execution_class, max_duration, expected) => {
  expect(computeDurationLimit({ execution_class, max_duration })).toBe(expected);
});
