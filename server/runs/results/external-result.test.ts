/** External runs: executed elsewhere, and stored here with their results. */
import type { ExternalResult } from '@switchyard/contract/runs/external-runs.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodeApp, packFiles, pushApp } from '../../testing/fixtures/apps.ts';
import {
  createApplication,
  createInstance,
  expectError,
  expectStatus,
  uploadContent,
} from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const EXTERNAL = { run_type: { type: 'external' } };
const STATISTICS = { schema: 'v1', result: { value: 12.5, custom: { trucks: 3 } } };

const requestRun = (application: string, body: object, query = ''): Promise<TestResponse> =>
  server.request('POST', `/v1/applications/${application}/runs${query}`, { body });

async function createExternalRun(application: string, body: object = {}, query = ''): Promise<string> {
  const response = await requestRun(
    application,
    { input: { n: 1 }, configuration: EXTERNAL, ...body },
    query,
  );
  expectStatus(response, 202);
  return (response.body as { run_id: string }).run_id;
}

const getRunPath = (application: string, run: string, rest = '') =>
  server.request('GET', `/v1/applications/${application}/runs/${run}${rest}`);
const updateRun = (application: string, run: string, body: object) =>
  server.request('PUT', `/v1/applications/${application}/runs/${run}`, { body });
const uploadJson = (application: string, value: unknown) =>
  uploadContent(server, application, JSON.stringify(value));

describe('an external run', () => {
  test('without an executable has the status none until it receives its result', async () => {
    const application = await createApplication(server);
    const run = await createExternalRun(application, { name: 'Monday', options: { speed: 2 } });
    const before = (await getRunPath(application, run)).body;
    expect(before).toMatchObject({
      status: 'running',
      status_v2: 'none',
      run_type: { type: 'external' },
      duration: 0,
      execution_duration: 0,
      metadata: {
        application_instance_id: 'latest',
        application_version_id: '',
        options: { options_summary: [{ name: 'speed', value: '2', source: 'run' }] },
        containment: '',
        attempt: 0,
      },
    });
    expect(before).not.toHaveProperty('output');
    expectError(await getRunPath(application, run, '/logs'), 400, 'none');

    const result = {
      output_upload_id: await uploadJson(application, {
        solution: [1],
        statistics: STATISTICS,
        metrics: { cost: 7 },
      }),
      error_upload_id: await uploadContent(server, application, 'first line\nsecond line\n'),
      execution_duration: 5000,
    };
    const updated = await updateRun(application, run, { result });
    expectStatus(updated, 200);
    const ended = {
      name: 'Monday',
      status: 'succeeded',
      status_v2: 'succeeded',
      duration: 5000,
      execution_duration: 5000,
      error: '',
      statistics: {
        status: 'success',
        indicators: [
          { name: 'result.value', value: 12.5 },
          { name: 'result.custom.trucks', value: 3 },
          { name: 'cost', value: 7, source: 'metrics' },
        ],
      },
      metadata: { metrics: { cost: 7 }, statistics: STATISTICS, status_v2: 'succeeded' },
    };
    expect(updated.body).toMatchObject(ended);
    const fetched = (await getRunPath(application, run)).body as Record<string, unknown>;
    expect(fetched).toMatchObject({ ...ended, output: { solution: [1] } });
    expect(fetched.output_size).toBe(JSON.stringify(fetched.output).length);
    expect((await getRunPath(application, run, '/logs')).body).toEqual({ log: 'first line\nsecond line\n' });
    expect((await getRunPath(application, run, '/logs/live')).body).toMatchObject({
      items: [],
      status_v2: 'succeeded',
    });
    expect((await getRunPath(application, run, '/input')).body).toEqual({ n: 1 });

    expectError(await updateRun(application, run, { result }), 400, 'result', run, 'succeeded', 'once');
    expectStatus(await updateRun(application, run, fetched), 200);
    expect((await getRunPath(application, run)).body).toEqual(fetched);
  });

  test('with a result in its request ends at its creation', async () => {
    const application = await createInstance(server);
    const response = await requestRun(
      application,
      {
        upload_id: await uploadJson(application, { n: 2 }),
        result: { error_message: 'No vehicle is free.' },
      },
      '?instance_id=i1',
    );
    expectStatus(response, 202);
    const { run_id } = response.body as { run_id: string };
    expect((await getRunPath(application, run_id)).body).toMatchObject({
      status: 'failed',
      status_v2: 'failed',
      error: 'No vehicle is free.',
      run_type: { type: 'external' },
      application_instance_id: 'i1',
      application_version_id: 'v1',
      error_log: { error: 'No vehicle is free.', stdout: '', stderr: '' },
    });
    expect((await getRunPath(application, run_id, '/input')).body).toEqual({ n: 2 });
    const { body } = await server.request('GET', `/v1/applications/${application}/runs`);
    expect((body as { runs: object[] }).runs).toMatchObject([{ id: run_id, status_v2: 'failed' }]);
  });

  test.each([
    [{ status: 'failed' }, 'failed'],
    [{ status: 'succeeded', error_message: 'a warning' }, 'succeeded'],
    [{}, 'succeeded'],
  ] satisfies [ExternalResult, string][])('with the result %j is %s', async (result, status) => {
    const application = await createApplication(server);
    const run = await createExternalRun(application, { result });
    expect((await getRunPath(application, run)).body).toMatchObject({
      status_v2: status,
      execution_duration: 0,
    });
  });

  test.each([
    ['', 'empty'],
    [' \n', 'only white space'],
  ])('whose uploaded output %j is %s has no output, and its responses stay JSON', async (content) => {
    const application = await createApplication(server);
    const output_upload_id = await uploadContent(server, application, content);
    const run = await createExternalRun(application, { result: { output_upload_id } });
    for (const format of ['', '?format=url']) {
      expect((await getRunPath(application, run, `/output${format}`)).body).toEqual({});
      const { body } = await getRunPath(application, run, format);
      expect(body).toMatchObject({ id: run, status_v2: 'succeeded', output_size: 0 });
      expect(body).not.toHaveProperty('output');
    }
  });

  test('uses uploaded statistics, metrics and assets in place of those in the output', async () => {
    const application = await createApplication(server);
    const output = { statistics: { schema: 'v1', result: { value: 1 } }, metrics: { a: 1 }, assets: [] };
    const run = await createExternalRun(application, {
      result: {
        output_upload_id: await uploadJson(application, output),
        statistics_upload_id: await uploadJson(application, { statistics: STATISTICS }),
        metrics_upload_id: await uploadJson(application, { cost: { fuel: 3 } }),
        assets_upload_id: await uploadJson(application, { assets: [{ name: 'map', content: [1, 2] }] }),
      },
    });
    expect((await getRunPath(application, run)).body).toMatchObject({
      output,
      statistics: {
        indicators: [
          { name: 'result.value', value: 12.5 },
          { name: 'result.custom.trucks', value: 3 },
          { name: 'cost.fuel', value: 3, source: 'metrics' },
        ],
      },
      metadata: { statistics: STATISTICS, metrics: { cost: { fuel: 3 } } },
    });
    expect((await getRunPath(application, run, '/assets')).body).toMatchObject({
      items: [{ name: 'map', size: 5 }],
    });
  });

  test('returns uploaded archives and text unchanged at a URL', async () => {
    const application = await createApplication(server);
    const archive = await packFiles({ 'plan.csv': 'x,y\n1,2\n' });
    for (const [type, content] of [
      ['csv-archive', archive],
      ['multi-file', archive],
      ['text', Buffer.from('plain text')],
    ] as const) {
      const run = await createExternalRun(application, {
        configuration: { ...EXTERNAL, format: { input: { type: 'json' }, output: { type } } },
        result: { output_upload_id: await uploadContent(server, application, content) },
      });
      expect((await getRunPath(application, run)).status).toBe(400);
      expectError(await getRunPath(application, run, '/output'), 400, 'format=url');
      const { body } = await getRunPath(application, run, '/output?format=url');
      const downloaded = await fetch((body as { url: string }).url);
      expect(Buffer.from(await downloaded.arrayBuffer())).toEqual(content);
    }
  });

  test('treats an empty id of an upload or a managed input as absent', async () => {
    const application = await createApplication(server);
    for (const field of ['upload_id', 'input_id']) {
      const run = await createExternalRun(application, { [field]: '' });
      expect((await getRunPath(application, run, '/input')).body).toEqual({ n: 1 });
    }
  });

  test.each([
    ['empty', ''],
    ['text', 'stops: 5'],
    ['not UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
  ])('whose uploaded JSON input is %s returns it only at a URL', async (_case, content) => {
    const application = await createApplication(server);
    const upload_id = await uploadContent(server, application, content);
    const run = await createExternalRun(application, { input: null, upload_id });
    expectError(await getRunPath(application, run, '/input'), 400, 'format=url');
    const { url } = (await getRunPath(application, run, '/input?format=url')).body as { url: string };
    const uploaded = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(uploaded);
  });

  test('W5: returns an uploaded JSON input without its byte order mark', async () => {
    const application = await createApplication(server);
    const upload_id = await uploadContent(server, application, '\uFEFF{"n":2}');
    const run = await createExternalRun(application, { input: null, upload_id });
    expect((await getRunPath(application, run, '/input')).body).toEqual({ n: 2 });
  });

  test('can be canceled before its result, and then accepts none', async () => {
    const application = await createApplication(server);
    const run = await createExternalRun(application);
    expectStatus(await server.request('PATCH', `/v1/applications/${application}/runs/${run}/cancel`), 204);
    const { body } = await getRunPath(application, run);
    expect(body).toMatchObject({ status: 'failed', status_v2: 'canceled' });
    expect((body as { error: string }).error).toContain('canceled');
    expectError(await updateRun(application, run, { result: {} }), 400, 'result', 'canceled');
    expect((await getRunPath(application, run)).body).toEqual(body);
  });

  test('accepts one of several concurrent results', async () => {
    const application = await createApplication(server);
    const run = await createExternalRun(application);
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        updateRun(application, run, { result: { execution_duration: index } }),
      ),
    );
    const statuses = responses.map((response) => response.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 400)).toHaveLength(7);
    const { body } = await getRunPath(application, run);
    expect(body).toMatchObject({ execution_duration: statuses.indexOf(200) });
  });

  test('needs no slot, so it is accepted when none is free', async () => {
    const application = await createApplication(server);
    const run = await createExternalRun(application, {
      configuration: { ...EXTERNAL, queuing: { disabled: true, priority: 1 } },
    });
    expect((await getRunPath(application, run)).body).toMatchObject({
      status_v2: 'none',
      queuing_disabled: true,
    });
  });
});

describe('a 400 rejects', () => {
  test('a result of a run that is executed here', async () => {
    const application = await createApplication(server);
    await pushApp(server, application, nodeApp('(input) => input'));
    const standard = { input: {}, configuration: { run_type: { type: 'standard' } }, result: {} };
    expectError(
      await requestRun(application, standard),
      400,
      'result',
      'configuration.run_type.type',
      '"standard"',
    );
    const { run_id } = (
      await server.client.call('createRun', { params: { application_id: application }, body: { input: {} } })
    ).body;
    expectError(
      await updateRun(application, run_id, { name: 'No', result: {} }),
      400,
      'result',
      'standard',
      'external',
    );
    expect((await getRunPath(application, run_id, '/metadata')).body).toMatchObject({ name: '' });
  });

  test('an ensemble, a batch and a managed input that the application does not have', async () => {
    const application = await createInstance(server);
    const ensemble = (run_type: object) =>
      requestRun(application, { input: {}, configuration: { run_type } });
    expectError(await ensemble({ type: 'ensemble', definition_id: 'e1' }), 400, 'definition_id', '"e1"');
    expectError(await ensemble({ type: 'ensemble' }), 400, 'definition_id', 'missing');
    expectError(
      await requestRun(application, { input: {}, batch_experiment_id: 'b1' }),
      400,
      'batch_experiment_id',
      '"b1"',
    );
    expectError(await requestRun(application, { input_id: 'i9' }), 400, 'input_id', '"i9"');
  });

  test.each([
    { input: {}, upload_id: 'u' },
    { input: 0, input_id: 'i' },
    { upload_id: 'u', input_id: 'i' },
    { input: {}, upload_id: 'u', input_id: 'i' },
  ])('more than one input: %j', async (body) => {
    const application = await createInstance(server);
    expectError(await requestRun(application, body), 400, ...Object.keys(body));
  });

  test.each([
    ['output_upload_id', '[1]', 'not an object'],
    ['output_upload_id', '{"open', 'not JSON'],
    ['statistics_upload_id', 'words', 'not JSON'],
    ['metrics_upload_id', '"words"', 'not an object'],
    ['assets_upload_id', '{', 'not JSON'],
  ])('a %s whose content is %s', async (field, content, reason) => {
    const application = await createApplication(server);
    const upload = await uploadContent(server, application, content);
    const response = await requestRun(application, { input: {}, result: { [field]: upload } });
    expectError(response, 400, `result.${field}`, upload, reason);
    const run = await createExternalRun(application);
    expectError(
      await updateRun(application, run, { result: { [field]: upload } }),
      400,
      `result.${field}`,
      reason,
    );
    expect((await getRunPath(application, run, '/metadata')).body).toMatchObject({ status_v2: 'none' });
  });

  test('uploads that do not exist, have no content, or belong to another application', async () => {
    const application = await createApplication(server);
    const other = await uploadContent(server, await createApplication(server), '{}');
    const { body } = await server.client.call('createRunUpload', { params: { application_id: application } });
    for (const upload of ['nothing', other, body.upload_id]) {
      for (const field of ['output', 'error', 'statistics', 'metrics', 'assets']) {
        const result = { [`${field}_upload_id`]: upload };
        expectError(
          await requestRun(application, { input: {}, result }),
          400,
          `result.${field}_upload_id`,
          upload,
        );
      }
    }
  });

  test('a result with unknown fields, or with a status that no result has', async () => {
    const application = await createApplication(server);
    const requestWithResult = (result: object) => requestRun(application, { input: {}, result });
    expectError(await requestWithResult({ statuss: 'failed' }), 400, 'result', 'statuss', 'status');
    expectError(await requestWithResult({ status: 'canceled' }), 400, 'result.status', 'canceled');
    expectError(await requestWithResult({ execution_duration: -1 }), 400, 'result.execution_duration', '-1');
    expectError(await requestWithResult({ execution_duration: 1.5 }), 400, 'result.execution_duration');
  });
});
