/** Failures of candidates in shadow and switchback tests. They do not affect the baseline and its callers. */

import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import { CLASS_LIMITS } from '@switchyard/contract/execution-classes.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { createRun, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import {
  COMPARISON,
  createOnlineTestApp,
  onlineTestCalls,
  originalRunId,
  pushOnlineTestApp,
  shadowCalls,
  waitForCandidate,
} from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus, uploadContent } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** No slot for runs, so they stay queued. */
const NO_SLOTS = { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' };
const SECRET = 'margin';

let server: TestServer;
afterEach(() => server.close());
const shadow = shadowCalls(() => server);
const switchback = onlineTestCalls(() => server, 'switchback');

async function start(env: Record<string, string> = {}, candidate?: Record<string, string>): Promise<void> {
  server = await startTestServer({ env });
  await createOnlineTestApp(server, 'app', candidate);
}

/** Creates a version whose app has these options, and assigns it to the instance. */
async function defineOptions(instance: string, options: Requirements['options']): Promise<void> {
  await pushOnlineTestApp(server, 'app', { options });
  const params = { application_id: 'app' };
  await server.client.call('createVersion', {
    params,
    body: { id: `of-${instance}`, name: 'Its own version' },
  });
  const path = `/v1/applications/app/instances/${instance}`;
  expectStatus(await server.request('PUT', path, { body: { version_id: `of-${instance}` } }), 200);
}

const createHiddenOption = (name: string, overrides: object = {}) => ({
  name,
  ui: { hidden_from: ['viewer' as const] },
  ...overrides,
});
const submitRun = (options: Record<string, string> = {}) =>
  createRun(server, 'app', { instance: 'baseline', input: { cost: 100 }, body: { options } });
const readMetadata = async (run: string) =>
  (
    (await server.request('GET', `/v1/applications/app/runs/${run}/metadata`)).body as {
      metadata: Record<string, unknown>;
    }
  ).metadata;

describe('a candidate that rejects an option', () => {
  test('rejects the copy with the reason, and does not affect the original', async () => {
    await start();
    await defineOptions('candidate', {
      validation: { enforce: 'all' },
      items: [{ name: 'less', option_type: 'int', additional_attributes: { max: 20 } }],
    });
    await shadow.startTest({ termination_events: { maximum_runs: 2 } });
    const [rejected, accepted] = [await submitRun({ less: '21' }), await submitRun({ less: '20' })];
    for (const run of [rejected, accepted])
      expect(await waitForRunEnd(server, 'app', run)).toMatchObject({ status_v2: 'succeeded' });
    expect(await shadow.waitForStatus('test', 'completed')).toMatchObject({
      number_of_requested_runs: 2,
      number_of_runs: 1,
      number_of_completed_runs: 1,
      number_of_failed_runs: 1,
    });
    const test = await shadow.get('test');
    expect(test.refused_runs).toEqual([
      {
        instance_id: 'candidate',
        version_id: '',
        input_set_id: null,
        option_set: null,
        scenario_id: null,
        repetition: null,
        input_id: rejected,
        error: 'options.less is "21"; it must be at most 20.',
      },
    ]);
    // The rejected copy counts as a failed run.
    expect(test.compared).toMatchObject([
      {
        candidate: { instance_id: 'candidate', version_id: 'of-candidate' },
        indicators: [{ candidate: { runs: { total: 2, succeeded: 1, failed: 1 } } }, {}],
      },
    ]);
    const groups = (
      test.grouped_distributional_summaries as { group_keys: string[]; group_values: string[] }[]
    )
      .filter(({ group_keys }) => group_keys.length === 2)
      .map(({ group_values }) => group_values);
    expect(groups).toEqual([
      ['baseline', 'v1'],
      ['candidate', 'of-candidate'],
    ]);
  });

  test.each([
    [
      'of the candidate',
      async () =>
        defineOptions('candidate', {
          validation: { enforce: 'all' },
          items: [createHiddenOption(SECRET, { option_type: 'int' })],
        }),
    ],
    [
      'of the baseline',
      async () => {
        await defineOptions('baseline', { items: [createHiddenOption(SECRET)] });
        await defineOptions('candidate', { strict: true, items: [{ name: 'less' }] });
      },
    ],
  ])('that is hidden exposes neither name nor value: an option %s', async (_, prepare) => {
    await start(NO_SLOTS);
    await prepare();
    await shadow.startTest();
    await submitRun({ [SECRET]: 'seven' });
    const test = await server.waitUntil(
      'runs-ended',
      async () => (await shadow.get('test/metadata')).number_of_failed_runs === 1 && shadow.get('test'),
    );
    expect(test.refused_runs).toMatchObject([{ error: expect.stringContaining('hidden from some roles') }]);
    expect(JSON.stringify(test)).not.toMatch(/margin|seven/);
  });

  test('leaves the run to the baseline in a switchback test: inline, uploaded and managed inputs', async () => {
    await start(NO_SLOTS);
    await defineOptions('candidate', { strict: true, items: [{ name: 'less' }] });
    await waitForCandidate(() => server);
    const upload = await uploadContent(server, 'app', JSON.stringify({ cost: 1 }));
    const managedUpload = await uploadContent(server, 'app', JSON.stringify({ cost: 2 }));
    expectStatus(
      await server.request('POST', '/v1/applications/app/inputs', {
        body: { id: 'managed', upload_id: managedUpload },
      }),
      201,
    );
    // The server stores an input of this size in the blob store, not in the database.
    const large = { cost: 3, pad: 'x'.repeat(100_000) };
    for (const input of [{ input: large }, { upload_id: upload }, { input_id: 'managed' }]) {
      const response = await server.request('POST', '/v1/applications/app/runs?instance_id=baseline', {
        body: { ...input, options: { note: 'n' } },
      });
      expectStatus(response, 202);
      const { run_id } = response.body as { run_id: string };
      // Intention to treat: the run stays in the unit of the candidate.
      const { application_instance_id, experiment_type, plan_unit_index } = await readMetadata(run_id);
      expect([application_instance_id, experiment_type, plan_unit_index]).toEqual([
        'baseline',
        'switchback',
        0,
      ]);
      expectStatus(await server.request('GET', `/v1/applications/app/runs/${run_id}/input`), 200);
    }
    expect(await readMetadata(await submitRun())).toMatchObject({ application_instance_id: 'candidate' });
    // The baseline rejects this run too, so the caller gets its error.
    expectError(
      await server.request('POST', '/v1/applications/app/runs?instance_id=baseline', {
        body: { input_id: 'nowhere' },
      }),
      400,
      '"nowhere"',
    );
  });

  test('does not change the response to a repeated request', async () => {
    await start(NO_SLOTS);
    await defineOptions('candidate', { strict: true, items: [] });
    await waitForCandidate(() => server);
    const request = () =>
      server.request('POST', '/v1/applications/app/runs?instance_id=baseline', {
        body: { input: {}, options: { note: 'n' } },
        headers: { 'idempotency-key': 'once' },
      });
    const [first, second] = [await request(), await request()];
    expectStatus(first, 202);
    expect(second.body).toEqual(first.body);
  });
});

test('a candidate that reaches its time limit fails its copy, and the original succeeds', async () => {
  // The class sets the time limit, and its 12 hours are too long for a test.
  const limits: { duration_ms: number } = CLASS_LIMITS['8c16gb12h'];
  const before = limits.duration_ms;
  limits.duration_ms = 1500;
  try {
    await start({}, { mode: 'hang' });
    const path = '/v1/applications/app/instances/candidate';
    const configuration = { execution_class: '8c16gb12h', options: { mode: 'hang' } };
    expectStatus(await server.request('PUT', path, { body: { configuration } }), 200);
    await shadow.startTest({ termination_events: { maximum_runs: 1 } });
    const original = await submitRun();
    expect(await waitForRunEnd(server, 'app', original)).toMatchObject({ status_v2: 'succeeded' });
    expect(await shadow.waitForStatus('test', 'completed')).toMatchObject({ number_of_failed_runs: 1 });
    const [copy] = await shadow.copies();
    expect(copy).toMatchObject({ status_v2: 'failed' });
    expect(await readMetadata(String(copy?.id))).toMatchObject({
      error: expect.stringContaining('ran for its limit of 1.5\u00a0s'),
    });
  } finally {
    limits.duration_ms = before;
  }
});

test('the deletion of a test frees the slot of a copy that hangs, and removes the copy', async () => {
  await start({ SWITCHYARD_CAPACITY: '1' }, { mode: 'hang' });
  await shadow.startTest();
  const original = await submitRun();
  expect(await waitForRunEnd(server, 'app', original)).toMatchObject({ status_v2: 'succeeded' });
  // No notification reports the start of a run, so the test polls for it.
  const findRunningCopy = async () => (await shadow.copies()).find((run) => run.status_v2 === 'running');
  await expect.poll(findRunningCopy).toBeDefined();
  const copy = await findRunningCopy();
  const waiting = await submitRun();
  expectStatus(await shadow.remove('test'), 204);
  // There is one slot, so this run succeeds only after the end of the copy.
  expect(await waitForRunEnd(server, 'app', waiting)).toMatchObject({ status_v2: 'succeeded' });
  expectStatus(await server.request('GET', `/v1/applications/app/runs/${copy?.id}`), 404);
  expectStatus(await server.request('GET', `/v1/applications/app/runs/${original}`), 200);
});

test('the lists of runs omit options that are hidden from the role', async () => {
  await start(NO_SLOTS);
  const options = { items: [createHiddenOption(SECRET), { name: 'note' }] };
  await defineOptions('baseline', options);
  await defineOptions('candidate', options);
  await shadow.startTest();
  await submitRun({ [SECRET]: 'seven', note: 'plain' });
  await shadow.waitForCopies(1);
  expectStatus(await shadow.stop('test'), 204);
  const switchbackId = await waitForCandidate(() => server);
  await submitRun({ [SECRET]: 'seven', note: 'plain' });
  const { token } = await server.createKey('viewer');
  for (const [path, runs] of [
    [`${shadow.root}/test/runs`, 2],
    [`${shadow.root}/test/runs?pagereturn=true`, 4],
    [`${switchback.root}/${switchbackId}/runs`, 1],
  ] as const) {
    const response = await server.request('GET', path, { token });
    expectStatus(response, 200);
    expect(response.text.match(/"note":"plain"/g)?.length).toBeGreaterThanOrEqual(runs);
    expect(response.text).not.toMatch(/margin|seven/);
    expect((await server.request('GET', path)).text).toMatch(/margin/);
  }
});

describe('a test with a deleted instance', () => {
  test.each([
    ['shadow', shadow, { termination_events: { maximum_runs: 1 } }],
    ['switchback', switchback, { generate_random_plan: { unit_duration_minutes: 1, units: 1 } }],
  ] as const)('does not start: %s', async (_, calls, fields) => {
    await start(NO_SLOTS);
    expectStatus(
      await calls.create({ id: 'test', name: 'Any name', comparison: COMPARISON, ...fields }),
      201,
    );
    expectStatus(await server.request('DELETE', '/v1/applications/app/instances/candidate'), 204);
    expectError(await calls.start('test'), 400, '"candidate"', 'deleted');
    expect(await calls.status('test')).toBe('draft');
  });
});

test('the results warn of a side whose version changed during the test', async () => {
  await start();
  await shadow.startTest({ termination_events: { maximum_runs: 2 } });
  const first = await submitRun();
  await server.waitUntil('runs-ended', async () =>
    (await shadow.copies()).some((copy) => originalRunId(copy) === first && copy.status_v2 === 'succeeded'),
  );
  await defineOptions('candidate', { items: [] });
  await submitRun();
  await shadow.waitForStatus('test', 'completed');
  const { warnings } = await shadow.get('test');
  expect(warnings).toEqual([
    'Runs of the candidate "candidate" are of 2 versions, "v1", "of-candidate": it was changed while the test went on.',
  ]);
});
