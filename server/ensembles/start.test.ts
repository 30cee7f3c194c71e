/** What runs of ensembles are asked for with: every kind of input, and what is refused. */
import { afterEach, describe, expect, test } from 'vitest';
import { createRunAndWait, pushApp, waitForRunEnd } from '../testing/fixtures/apps.ts';
import {
  createEnsemble,
  createEnsembleApp,
  ensembleRunType,
  fetchEnsembleRun,
  runGroup,
  runGroupOn,
  SCRIPTED_APP,
} from '../testing/fixtures/ensembles.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';

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
const ask = (body: object) =>
  server.request('POST', '/v1/applications/app/runs', { body: { input: {}, ...body } });
const sentence = (answer: { body: unknown }) => (answer.body as { error: string }).error;
const children = async (run: string) => (await fetchEnsembleRun(server, run)).child_runs;

test('every kind of input goes to each of its runs', async () => {
  await start([runGroup('a', { value: 1 }, { repetitions: 2 })]);
  const params = { application_id: 'app' };
  const upload = (await server.client.call('createRunUpload', { params })).body;
  await fetch(upload.upload_url, { method: 'PUT', body: '{"by":"upload"}' });
  const uploaded = await ask({ input: undefined, upload_id: upload.upload_id, configuration: type });
  const one = await waitForRunEnd(server, 'app', (uploaded.body as { run_id: string }).run_id);
  expect(one.output).toMatchObject({ solution: { by: 'upload' } });
  await server.client.call('createInput', { params, body: { id: 'monday', run_id: one.id } });
  const managed = await ask({ input: undefined, input_id: 'monday', configuration: type });
  const two = await waitForRunEnd(server, 'app', (managed.body as { run_id: string }).run_id);
  expect(two).toMatchObject({
    output: { solution: { by: 'upload' } },
    metadata: { tracking: { input_id: 'monday' } },
  });
  for (const { id } of await children(two.id)) {
    const child = await waitForRunEnd(server, 'app', id);
    expect(child).toMatchObject({
      output: { solution: { by: 'upload' } },
      metadata: { tracking: { input_id: 'monday' } },
    });
  }
  const text = await ask({
    input: 'some text',
    configuration: { ...type, format: { input: { type: 'text' } } },
  });
  expect(await waitForRunEnd(server, 'app', (text.body as { run_id: string }).run_id)).toMatchObject({
    status_v2: 'succeeded',
    metadata: { format: { input: { type: 'text' }, output: { type: 'json' } } },
  });
});

test('the same key makes one run of it', async () => {
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

describe('is refused, and nothing is made', () => {
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
      'with a class of its own',
      { configuration: { ...type, execution_class: '8c16gb12h' } },
      /^configuration.execution_class is "8c16gb12h"; the runs of an ensemble are made as/,
    ],
    [
      'that may not wait',
      { configuration: { ...type, queuing: { disabled: true } } },
      /^configuration.queuing.disabled is true/,
    ],
    ['with two inputs', { configuration: type, input_id: 'x' }, /^input and input_id \("x"\) are given/],
    [
      'on a managed input that is not there',
      { configuration: type, input: undefined, input_id: 'x' },
      /^input_id is "x"/,
    ],
    [
      'with options that no app can have',
      { configuration: type, options: { 'a b': '1' } },
      /options has the option "a b"/,
    ],
    [
      'when an app does not take the options of a group',
      { configuration: ensembleRunType('strict') },
      'The run group "s" of the ensemble "strict" cannot be run. options.say is not an option of this app, which allows only other.',
    ],
    [
      'when an instance is gone',
      { configuration: ensembleRunType('lost') },
      'The run group "l" of the ensemble "lost" cannot be run. There is no instance "i2" of application "app".',
    ],
    [
      'when the apps of its groups take other formats of input',
      { configuration: ensembleRunType('mixed') },
      'The run group "files" of the ensemble "mixed" cannot be run. Its app takes multi-file, and that of the run group "one" json; the runs of an ensemble have one input.',
    ],
    [
      'with a format of the output that its runs do not leave',
      { configuration: { ...type, format: { output: { type: 'multi-file' } } } },
      'The run group "a" of the ensemble "best" cannot be run. configuration.format.output.type is "multi-file"; an app that is given json leaves json here.',
    ],
  ];
  test('each with its reason', async () => {
    await start([runGroup('a', { value: 1 })]);
    const params = { application_id: 'app' };
    await pushApp(server, 'app', SCRIPTED_APP, { options: { strict: true, items: [{ name: 'other' }] } });
    await server.client.call('createVersion', { params, body: { id: 'v1', name: 'One' } });
    for (const id of ['i1', 'i2'])
      await server.client.call('createInstance', {
        params,
        body: { id, name: 'Any name', version_id: 'v1' },
      });
    await pushApp(server, 'app', SCRIPTED_APP, { io_configuration: { format: 'multi-file' } });
    await server.client.call('createVersion', { params, body: { id: 'v2', name: 'Two' } });
    await server.client.call('createInstance', {
      params,
      body: { id: 'i3', name: 'Any name', version_id: 'v2' },
    });
    await pushApp(server, 'app', SCRIPTED_APP);
    await createEnsemble(server, 'mixed', [
      runGroup('one', { value: 1 }),
      runGroupOn('i3', 'files', { value: 1 }),
    ]);
    await createEnsemble(server, 'strict', [runGroupOn('i1', 's', {})]);
    await createEnsemble(server, 'lost', [runGroupOn('i2', 'l', {})]);
    await server.request('DELETE', '/v1/applications/app/instances/i2');
    for (const [, body, expected] of refused) {
      const answer = await ask(body);
      expect([answer.status, typeof expected === 'string' ? sentence(answer) : answer.text]).toEqual([
        400,
        typeof expected === 'string' ? expected : expect.any(String),
      ]);
      if (typeof expected !== 'string') expect(sentence(answer)).toMatch(expected);
    }
    const { read } = server.runningServer.database;
    expect(await read.selectFrom('runs').select('id').execute()).toEqual([]);
    expect(await read.selectFrom('planned_runs').selectAll().execute()).toEqual([]);
  });
});

test('a run that is no ensemble has none, and that of another account is not there', async () => {
  await start([runGroup('a', { value: 1 })]);
  const run = await createRunAndWait(server, 'app', { input: {} });
  const answer = await server.request('GET', `/v1/applications/app/runs/${run.id}/ensemble`);
  expect([answer.status, sentence(answer)]).toEqual([
    404,
    `The run "${run.id}" is of the type standard; it is no ensemble.`,
  ]);
  expect((await server.request('GET', '/v1/applications/app/runs/run-nope/ensemble')).status).toBe(404);
});
