/** What candidates of shadow and switchback tests do wrong, and what that leaves the baseline and its callers: nothing of it. */

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

/** No slot for runs: what is made stays queued. */
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

/** Gives an instance a version of its own, whose app takes the options so defined. */
async function define(instance: string, options: Requirements['options']): Promise<void> {
  await pushOnlineTestApp(server, 'app', { options });
  const params = { application_id: 'app' };
  await server.client.call('createVersion', { params, body: { id: `of-${instance}`, name: 'Its own' } });
  const path = `/v1/applications/app/instances/${instance}`;
  expectStatus(await server.request('PUT', path, { body: { version_id: `of-${instance}` } }), 200);
}

const hidden = (name: string, more: object = {}) => ({
  name,
  ui: { hidden_from: ['viewer' as const] },
  ...more,
});
const make = (options: Record<string, string> = {}) =>
  createRun(server, 'app', { instance: 'baseline', input: { cost: 100 }, body: { options } });
const metadataOf = async (run: string) =>
  (
    (await server.request('GET', `/v1/applications/app/runs/${run}/metadata`)).body as {
      metadata: Record<string, unknown>;
    }
  ).metadata;

describe('a candidate that refuses an option', () => {
  test('refuses the copy, which says so, and nothing happens to the original', async () => {
    await start();
    await define('candidate', {
      validation: { enforce: 'all' },
      items: [{ name: 'less', option_type: 'int', additional_attributes: { max: 20 } }],
    });
    await shadow.startTest({ termination_events: { maximum_runs: 2 } });
    const [bad, good] = [await make({ less: '21' }), await make({ less: '20' })];
    for (const run of [bad, good])
      expect(await waitForRunEnd(server, 'app', run)).toMatchObject({ status_v2: 'succeeded' });
    expect(await shadow.waitForStatus('test', 'completed')).toMatchObject({
      number_of_requested_runs: 2,
      number_of_runs: 1,
      number_of_completed_runs: 1,
      number_of_failed_runs: 1,
    });
    const found = await shadow.get('test');
    expect(found.refused_runs).toEqual([
      {
        instance_id: 'candidate',
        version_id: '',
        input_set_id: null,
        option_set: null,
        scenario_id: null,
        repetition: null,
        input_id: bad,
        error: 'options.less is "21"; it must be at most 20.',
      },
    ]);
    // It counts with the copies that were made, as one that failed.
    expect(found.compared).toMatchObject([
      {
        candidate: { instance_id: 'candidate', version_id: 'of-candidate' },
        indicators: [{ candidate: { runs: { total: 2, succeeded: 1, failed: 1 } } }, {}],
      },
    ]);
    const groups = (
      found.grouped_distributional_summaries as { group_keys: string[]; group_values: string[] }[]
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
      'of its own',
      async () =>
        define('candidate', {
          validation: { enforce: 'all' },
          items: [hidden(SECRET, { option_type: 'int' })],
        }),
    ],
    [
      'of the baseline',
      async () => {
        await define('baseline', { items: [hidden(SECRET)] });
        await define('candidate', { strict: true, items: [{ name: 'less' }] });
      },
    ],
  ])('that is hidden tells nobody its name or value: one %s', async (_, prepare) => {
    await start(NO_SLOTS);
    await prepare();
    await shadow.startTest();
    await make({ [SECRET]: 'seven' });
    const refused = await server.waitUntil(
      'runs-ended',
      async () => (await shadow.get('test/metadata')).number_of_failed_runs === 1 && shadow.get('test'),
    );
    expect(refused.refused_runs).toMatchObject([
      { error: expect.stringContaining('hidden from some roles') },
    ]);
    expect(JSON.stringify(refused)).not.toMatch(/margin|seven/);
  });

  test('leaves the run to the baseline in a switchback test, with an input of its own, uploaded or managed', async () => {
    await start(NO_SLOTS);
    await define('candidate', { strict: true, items: [{ name: 'less' }] });
    await waitForCandidate(() => server);
    const upload = await uploadContent(server, 'app', JSON.stringify({ cost: 1 }));
    const other = await uploadContent(server, 'app', JSON.stringify({ cost: 2 }));
    expectStatus(
      await server.request('POST', '/v1/applications/app/inputs', { body: { id: 'kept', upload_id: other } }),
      201,
    );
    // Beyond what lies in the database: a blob is made of it.
    const large = { cost: 3, pad: 'x'.repeat(100_000) };
    for (const input of [{ input: large }, { upload_id: upload }, { input_id: 'kept' }]) {
      const answer = await server.request('POST', '/v1/applications/app/runs?instance_id=baseline', {
        body: { ...input, options: { note: 'n' } },
      });
      expectStatus(answer, 202);
      const { run_id } = answer.body as { run_id: string };
      const { application_instance_id, experiment_id, plan_unit_index } = await metadataOf(run_id);
      expect([application_instance_id, experiment_id, plan_unit_index]).toEqual([
        'baseline',
        undefined,
        undefined,
      ]);
      expectStatus(await server.request('GET', `/v1/applications/app/runs/${run_id}/input`), 200);
    }
    expect(await metadataOf(await make())).toMatchObject({ application_instance_id: 'candidate' });
    // What the baseline refuses, too, is refused as without the test.
    expectError(
      await server.request('POST', '/v1/applications/app/runs?instance_id=baseline', {
        body: { input_id: 'nowhere' },
      }),
      400,
      '"nowhere"',
    );
  });

  test('is not noticed by a repeated request: it has the answer of the first', async () => {
    await start(NO_SLOTS);
    await define('candidate', { strict: true, items: [] });
    await waitForCandidate(() => server);
    const ask = () =>
      server.request('POST', '/v1/applications/app/runs?instance_id=baseline', {
        body: { input: {}, options: { note: 'n' } },
        headers: { 'idempotency-key': 'once' },
      });
    const [first, second] = [await ask(), await ask()];
    expectStatus(first, 202);
    expect(second.body).toEqual(first.body);
  });
});

test('a candidate that reaches its time limit fails its copy, and the original has succeeded', async () => {
  // The limit is the one of the class; twelve hours would be long for a test.
  const limits: { duration_ms: number } = CLASS_LIMITS['8c16gb12h'];
  const before = limits.duration_ms;
  limits.duration_ms = 1500;
  try {
    await start({}, { mode: 'hang' });
    const path = '/v1/applications/app/instances/candidate';
    const configuration = { execution_class: '8c16gb12h', options: { mode: 'hang' } };
    expectStatus(await server.request('PUT', path, { body: { configuration } }), 200);
    await shadow.startTest({ termination_events: { maximum_runs: 1 } });
    const original = await make();
    expect(await waitForRunEnd(server, 'app', original)).toMatchObject({ status_v2: 'succeeded' });
    expect(await shadow.waitForStatus('test', 'completed')).toMatchObject({ number_of_failed_runs: 1 });
    const [copy] = await shadow.copies();
    expect(copy).toMatchObject({ status_v2: 'failed' });
    expect(await metadataOf(String(copy?.id))).toMatchObject({
      error: expect.stringContaining('ran for its limit of 1500 ms'),
    });
  } finally {
    limits.duration_ms = before;
  }
});

test('a candidate that hangs lets go of its slot when the test is deleted, and its copy is gone', async () => {
  await start({ SWITCHYARD_CAPACITY: '1' }, { mode: 'hang' });
  await shadow.startTest();
  const original = await make();
  expect(await waitForRunEnd(server, 'app', original)).toMatchObject({ status_v2: 'succeeded' });
  // The topic runs-queued says nothing of a run that begins, so its start is polled.
  const running = async () => (await shadow.copies()).find((run) => run.status_v2 === 'running');
  await expect.poll(running).toBeDefined();
  const copy = await running();
  const waiting = await make();
  expectStatus(await shadow.remove('test'), 204);
  // There is one slot: it succeeds only once the copy has ended.
  expect(await waitForRunEnd(server, 'app', waiting)).toMatchObject({ status_v2: 'succeeded' });
  expectStatus(await server.request('GET', `/v1/applications/app/runs/${copy?.id}`), 404);
  expectStatus(await server.request('GET', `/v1/applications/app/runs/${original}`), 200);
});

test('options that are hidden from a role are in no list of the runs of its tests', async () => {
  await start(NO_SLOTS);
  const options = { items: [hidden(SECRET), { name: 'note' }] };
  await define('baseline', options);
  await define('candidate', options);
  await shadow.startTest();
  await make({ [SECRET]: 'seven', note: 'plain' });
  await shadow.waitForCopies(1);
  expectStatus(await shadow.stop('test'), 204);
  const turns = await waitForCandidate(() => server);
  await make({ [SECRET]: 'seven', note: 'plain' });
  const { token } = await server.createKey('viewer');
  for (const [path, runs] of [
    [`${shadow.root}/test/runs`, 2],
    [`${shadow.root}/test/runs?pagereturn=true`, 4],
    [`${switchback.root}/${turns}/runs`, 1],
  ] as const) {
    const answer = await server.request('GET', path, { token });
    expectStatus(answer, 200);
    expect(answer.text.match(/"note":"plain"/g)?.length).toBeGreaterThanOrEqual(runs);
    expect(answer.text).not.toMatch(/margin|seven/);
    expect((await server.request('GET', path)).text).toMatch(/margin/);
  }
});

describe('a test whose instances are gone', () => {
  test.each([
    ['shadow', shadow, { termination_events: { maximum_runs: 1 } }],
    ['switchback', switchback, { generate_random_plan: { unit_duration_minutes: 1, units: 1 } }],
  ] as const)('is not started: %s', async (_, calls, more) => {
    await start(NO_SLOTS);
    expectStatus(await calls.create({ id: 'test', name: 'Any name', comparison: COMPARISON, ...more }), 201);
    expectStatus(await server.request('DELETE', '/v1/applications/app/instances/candidate'), 204);
    expectError(await calls.start('test'), 400, '"candidate"', 'deleted');
    expect(await calls.status('test')).toBe('draft');
  });
});

test('a side that was given another version in the middle is told to be two things', async () => {
  await start();
  await shadow.startTest({ termination_events: { maximum_runs: 2 } });
  const first = await make();
  await server.waitUntil('runs-ended', async () =>
    (await shadow.copies()).some((copy) => originalRunId(copy) === first && copy.status_v2 === 'succeeded'),
  );
  await define('candidate', { items: [] });
  await make();
  await shadow.waitForStatus('test', 'completed');
  const { warnings } = await shadow.get('test');
  expect(warnings).toEqual([
    'Runs of the candidate "candidate" are of 2 versions, "v1", "of-candidate": it was changed while the test went on.',
  ]);
});
