/** Requests for ensemble runs: every kind of input, idempotency, and the requests that the server rejects. */
import { afterEach, describe, expect, test } from 'vitest';
import { createRunAndWait, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import {
  createEnsemble,
  createEnsembleApp,
  ensembleRunType,
  fetchEnsembleRun,
  runGroup,
  runGroupOn,
  SCRIPTED_APP,
  SCRIPTED_APP_TYPE,
} from '../../testing/fixtures/ensembles.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
afterEach(() => server.close());

async function start(
  groups: Parameters<typeof createEnsembleApp>[1],
  { env = {} }: { env?: Record<string, string> } = {},
): Promise<void> {
  server = await startTestServer({ env });
  await createEnsembleApp(server, groups);
}
const type = ensembleRunType('best');
const postRun = (body: object) =>
  server.request('POST', '/v1/applications/app/runs', { body: { input: {}, ...body } });
const errorMessage = ({ body }: { body: unknown }) => (body as { error: string }).error;
const fetchChildRuns = async (run: string) => (await fetchEnsembleRun(server, run)).child_runs;

test('each child run gets the input of the request, whatever its kind', async () => {
  await start([runGroup('a', { value: 1 }, { repetitions: 2 })]);
  const params = { application_id: 'app' };
  const upload = (await server.client.call('createRunUpload', { params })).body;
  await fetch(upload.upload_url, { method: 'PUT', body: '{"by":"upload"}' });
  const uploaded = await postRun({ input: undefined, upload_id: upload.upload_id, configuration: type });
  const one = await waitForRunEnd(server, 'app', (uploaded.body as { run_id: string }).run_id);
  expect(one.output).toMatchObject({ solution: { by: 'upload' } });
  await server.client.call('createInput', { params, body: { id: 'monday', run_id: one.id } });
  const managed = await postRun({ input: undefined, input_id: 'monday', configuration: type });
  const two = await waitForRunEnd(server, 'app', (managed.body as { run_id: string }).run_id);
  expect(two).toMatchObject({
    output: { solution: { by: 'upload' } },
    metadata: { tracking: { input_id: 'monday' } },
  });
  for (const { id } of await fetchChildRuns(two.id)) {
    const child = await waitForRunEnd(server, 'app', id);
    expect(child).toMatchObject({
      output: { solution: { by: 'upload' } },
      metadata: { tracking: { input_id: 'monday' } },
    });
  }
  const text = await postRun({
    input: 'some text',
    configuration: { ...type, format: { input: { type: 'text' } } },
  });
  expect(await waitForRunEnd(server, 'app', (text.body as { run_id: string }).run_id)).toMatchObject({
    status_v2: 'succeeded',
    metadata: { format: { input: { type: 'text' }, output: { type: 'json' } } },
  });
});

test('a repeated idempotency key creates one ensemble run', async () => {
  await start([runGroup('a', { value: 1 }, { repetitions: 2 })]);
  const post = () =>
    server.request('POST', '/v1/applications/app/runs', {
      body: { input: {}, configuration: type },
      headers: { 'idempotency-key': 'one' },
    });
  const [first, second] = [await post(), await post()];
  expect(second.body).toEqual(first.body);
  await waitForRunEnd(server, 'app', (first.body as { run_id: string }).run_id);
  expect(await server.runningServer.database.read.selectFrom('runs').select('id').execute()).toHaveLength(3);
});

describe('the server rejects an ensemble run and creates nothing', () => {
  const refused: [string, object, string | RegExp][] = [
    [
      'without a definition',
      { configuration: { run_type: { type: 'ensemble' } } },
      'configuration.run_type.definition_id is missing; a run of the type ensemble names its ensemble definition.',
    ],
    [
      'with an empty one',
      { configuration: { run_type: { type: 'ensemble', definition_id: '' } } },
      /definition_id is missing/,
    ],
    [
      'with an unknown one',
      { configuration: ensembleRunType('nope') },
      'configuration.run_type.definition_id is "nope"; the application "app" has no such ensemble definition.',
    ],
    [
      'with a definition on another type',
      { configuration: { run_type: { type: 'standard', definition_id: 'best' } } },
      'configuration.run_type.definition_id is "best" and the run is of the type standard; only a run of the type ensemble has a definition.',
    ],
    [
      'with a result',
      { configuration: type, result: { status: 'succeeded' } },
      /^result is given and configuration.run_type.type is "ensemble"/,
    ],
    [
      'in a batch',
      { configuration: type, batch_experiment_id: 'b' },
      'batch_experiment_id is "b" and configuration.run_type.type is "ensemble"; the run of an ensemble cannot join a batch experiment.',
    ],
    [
      'with an execution class',
      { configuration: { ...type, execution_class: '8c16gb12h' } },
      /^configuration.execution_class is "8c16gb12h"; the instances of the run groups decide it/,
    ],
    [
      'that must not wait',
      { configuration: { ...type, queuing: { disabled: true } } },
      /^configuration.queuing.disabled is true/,
    ],
    ['with two inputs', { configuration: type, input_id: 'x' }, /^input and input_id \("x"\) are given/],
    [
      'on a managed input that does not exist',
      { configuration: type, input: undefined, input_id: 'x' },
      /^input_id is "x"/,
    ],
    [
      'with invalid names of options',
      { configuration: type, options: { 'a b': '1' } },
      /options has the option "a b"/,
    ],
    [
      'when an app does not accept the options of a group',
      { configuration: ensembleRunType('strict') },
      'The run group "s" of the ensemble "strict" cannot run. options.say is not an option of this app, which allows only other.',
    ],
    [
      'when an instance was deleted',
      { configuration: ensembleRunType('lost') },
      'The run group "l" of the ensemble "lost" cannot run. There is no instance "i2" of application "app".',
    ],
    [
      'when the apps of its groups take different input formats',
      { configuration: ensembleRunType('mixed') },
      'The run group "files" of the ensemble "mixed" cannot run. Its app takes multi-file input, but the app of the run group "one" takes json; all runs of an ensemble share one input.',
    ],
    [
      'with an output format that its runs do not return',
      { configuration: { ...type, format: { output: { type: 'multi-file' } } } },
      'The run group "a" of the ensemble "best" cannot run. configuration.format.output.type is "multi-file"; its app returns json for json input.',
    ],
  ];
  test('with an error message for each case', async () => {
    await start([runGroup('a', { value: 1 })]);
    const params = { application_id: 'app' };
    await pushApp(server, 'app', SCRIPTED_APP, {
      ...SCRIPTED_APP_TYPE,
      options: { strict: true, items: [{ name: 'other' }] },
    });
    await server.client.call('createVersion', { params, body: { id: 'v1', name: 'One' } });
    for (const id of ['i1', 'i2'])
      await server.client.call('createInstance', {
        params,
        body: { id, name: 'Any name', version_id: 'v1' },
      });
    await pushApp(server, 'app', SCRIPTED_APP, {
      ...SCRIPTED_APP_TYPE,
      io_configuration: { format: 'multi-file' },
    });
    await server.client.call('createVersion', { params, body: { id: 'v2', name: 'Two' } });
    await server.client.call('createInstance', {
      params,
      body: { id: 'i3', name: 'Any name', version_id: 'v2' },
    });
    await pushApp(server, 'app', SCRIPTED_APP, SCRIPTED_APP_TYPE);
    await createEnsemble(server, 'mixed', [
      runGroup('one', { value: 1 }),
      runGroupOn('i3', 'files', { value: 1 }),
    ]);
    await createEnsemble(server, 'strict', [runGroupOn('i1', 's', {})]);
    await createEnsemble(server, 'lost', [runGroupOn('i2', 'l', {})]);
    await server.request('DELETE', '/v1/applications/app/instances/i2');
    for (const [, body, expected] of refused) {
      const response = await postRun(body);
      expect([
        response.status,
        typeof expected === 'string' ? errorMessage(response) : response.text,
      ]).toEqual([400, typeof expected === 'string' ? expected : expect.any(String)]);
      if (typeof expected !== 'string') expect(errorMessage(response)).toMatch(expected);
    }
    const { read } = server.runningServer.database;
    expect(await read.selectFrom('runs').select('id').execute()).toEqual([]);
    expect(await read.selectFrom('planned_runs').selectAll().execute()).toEqual([]);
  });
});

test('the ensemble of a standard run, or of an unknown run, is a 404', async () => {
  await start([runGroup('a', { value: 1 })]);
  const run = await createRunAndWait(server, 'app', { input: {} });
  const response = await server.request('GET', `/v1/applications/app/runs/${run.id}/ensemble`);
  expect([response.status, errorMessage(response)]).toEqual([
    404,
    `The run "${run.id}" is of the type standard; it is not an ensemble run.`,
  ]);
  expect((await server.request('GET', '/v1/applications/app/runs/run-nope/ensemble')).status).toBe(404);
});
