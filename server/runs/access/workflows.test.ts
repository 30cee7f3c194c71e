/** Runs whose apps use the API with their run token: what they reach, their child runs, and their slots. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, nodeApp, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import {
  type AppRequest,
  type CallingInput,
  createCallingRun,
  pushCallingApp,
} from '../../testing/fixtures/workflows.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
  await pushApp(server, 'leaf', nodeApp('(input) => ({ solution: { doubled: input.value * 2 } })'));
  await pushApp(server, 'stranger', nodeApp('() => ({})'));
  await pushCallingApp(server, 'parent', ['leaf', 'parent']);
});
afterAll(() => server.close());

const CREATE = (value: number, path = '/v1/applications/leaf/runs'): AppRequest => ({
  method: 'POST',
  path,
  body: { input: { value }, name: `step ${value}` },
});

async function call(input: CallingInput) {
  const id = await createCallingRun(server, 'parent', input);
  const run = await waitForRunEnd(server, 'parent', id);
  expect(run.metadata.error).toBe('');
  return {
    id,
    ...(
      run.output as {
        solution: { responses: { status: number; body: any }[]; outputs: any[]; token?: string };
      }
    ).solution,
  };
}

test('twenty runs of a workflow end on a server with one slot, and name the workflow', async () => {
  const requests = Array.from({ length: 20 }, (_, value) => CREATE(value));
  const { id, outputs } = await call({ requests, atOnce: true });
  expect(outputs.map((output) => output.solution.doubled)).toEqual(requests.map((_, value) => value * 2));
  const { body } = await server.request('GET', '/v1/applications/leaf/runs?limit=50');
  const runs = (body as { runs: Record<string, unknown>[] }).runs;
  expect(runs).toHaveLength(20);
  for (const run of runs)
    expect(run).toMatchObject({
      parent_run_id: id,
      parent_application_id: 'parent',
      workflow_name: 'parent',
    });
  const child = await server.client.call('getRunMetadata', {
    params: { application_id: 'leaf' as never, run_id: runs[0]?.id as never },
  });
  expect(child.body.metadata).toMatchObject({ parent_run_id: id, workflow_name: 'parent' });
  expect(child.body.user_email).toBe('root@localhost');
});
