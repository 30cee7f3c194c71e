/** The plan of a batch through HTTP: the order of its runs, seeds, inputs of equal content, and plans without a verdict. */
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAcceptanceApp, createInputSet } from '../../testing/fixtures/acceptance-tests.ts';
import { pushApp } from '../../testing/fixtures/apps.ts';
import {
  ARITHMETIC_APP,
  ARITHMETIC_APP_TYPE,
  batchExperimentPath,
  createBatchExperiment,
  waitForBatchEnd,
  waitForSubmission,
} from '../../testing/fixtures/batch-experiments.ts';
import { type ChosenRun, endRuns, WITHOUT_EXECUTION } from '../../testing/fixtures/chosen-outcomes.ts';
import { expectError, expectStatus, uniqueId, uploadContent } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
/** An input set of twelve inputs. */
let set: string;
beforeAll(async () => {
  server = await startTestServer({ env: WITHOUT_EXECUTION });
  application = await createAcceptanceApp(server);
  set = await createInputSet(
    server,
    application,
    Array.from({ length: 12 }, (_, size) => ({ control: size })),
  );
});
afterAll(() => server.close());

const INSTANCES = { instance_ids: ['control', 'candidate'] };
const MINIMIZE = { objectives: { 'result.value': 'minimize' } };

const create = (body: object) =>
  createBatchExperiment(server, application, { input_set_id: set, ...INSTANCES, ...body });

const request = (body: object) =>
  server.request('POST', batchExperimentPath(application), {
    body: { id: uniqueId('batch'), name: 'Any name', input_set_id: set, ...INSTANCES, ...body },
  });

/** Lists the runs of the batch in queue order, once all are queued. */
async function listQueued(id: string): Promise<ExperimentRun[]> {
  await waitForSubmission(server, id);
  const response = await server.request('GET', batchExperimentPath(application, `/${id}/runs`));
  expectStatus(response, 200);
  return (response.body as { runs: ExperimentRun[] }).runs.reverse();
}

/** Ends the runs of the batch: the candidate is 3 % lower everywhere. */
async function end(id: string): Promise<BatchExperiment> {
  const value = (run: ChosenRun) => (run.instance_id === 'control' ? 100 : 97);
  await endRuns(server, id, (run) => ({ indicators: { 'result.value': value(run) } }));
  return waitForBatchEnd(server, application, id);
}

describe('D8: the order of runs', () => {
  test('has both sides of an input next to each other, in random order, and repetitions one after the other', async () => {
    const created = await create({ repetitions: 2 });
    expect(created.run_order).toEqual({
      design: 'randomized-blocks',
      seed: expect.stringMatching(/^\w{16}$/),
    });
    const runs = await listQueued(created.id);
    expect(runs.map(({ repetition }) => repetition)).toEqual(runs.map((_, index) => (index < 24 ? 0 : 1)));
    const blocks = Array.from({ length: 24 }, (_, block) => runs.slice(2 * block, 2 * block + 2));
    for (const [first, second] of blocks) {
      expect(first?.input_id).toBe(second?.input_id);
      expect(new Set([first?.instance_id, second?.instance_id])).toEqual(new Set(['control', 'candidate']));
    }
    // 24 coins that all fall alike: a chance of 1e-7.
    expect(new Set(blocks.map(([first]) => first?.instance_id)).size).toBe(2);
    const inputs = blocks.map(([first]) => first?.input_id);
    expect(inputs.slice(0, 12)).not.toEqual(inputs.slice(12));
  });

  test('does not change the order of the results', async () => {
    const { id } = await create({ instance_ids: ['candidate', 'control'] });
    const { comparisons, grouped_distributional_summaries: groups } = await end(id);
    expect(comparisons[0]?.control.instance_id).toBe('candidate');
    expect(groups.slice(0, 2).map(({ group_values }) => group_values[0])).toEqual(['candidate', 'control']);
  });
});

describe('D15: seeds', () => {
  test('are repetitions of each input on every side, never sides of their own', async () => {
    const created = await create({ ...MINIMIZE, seeds: [7, 8, 'x9'], seed_option: 'random.seed' });
    expect(created).toMatchObject({
      seeds: ['7', '8', 'x9'],
      seed_option: 'random.seed',
      number_of_requested_runs: 72,
    });
    for (const { repetition, options } of await listQueued(created.id))
      expect(options?.['random.seed']).toBe(['7', '8', 'x9'][repetition ?? -1]);
    const { comparisons } = await end(created.id);
    expect(comparisons).toHaveLength(1);
    expect(comparisons[0]).toMatchObject({
      control: { instance_id: 'control' },
      candidate: { instance_id: 'candidate' },
      indicators: [{ verdict: 'better', inputs: { total: 12, wins: 12 }, pairs: { total: 36, wins: 36 } }],
    });
  });

  test('are combined with option sets', async () => {
    const created = await create({ seeds: [1, 2], option_sets: { fast: { speed: 'high' }, none: {} } });
    const runs = await listQueued(created.id);
    expect(runs).toHaveLength(96);
    expect(
      new Set(
        runs.map(({ option_set, options }) => JSON.stringify([option_set, options?.seed, options?.speed])),
      ),
    ).toEqual(
      new Set(['["fast","1","high"]', '["fast","2","high"]', '["none","1",null]', '["none","2",null]']),
    );
  });

  test.each([
    ['the same seed twice', { seeds: [1, 2, '1'] }, 'seeds.2 is "1", as seeds.0 is'],
    ['seeds with repetitions', { seeds: [1], repetitions: 2 }, 'seeds and repetitions are both given'],
    [
      'seeds with runs',
      { seeds: [1], instance_ids: null, runs: [{ instance_id: 'control' }] },
      'seeds and runs are both given',
    ],
    ['an option without seeds', { seed_option: 'seed' }, 'seed_option is "seed", but seeds is absent'],
    [
      'an option set with the option',
      { seeds: [1], option_sets: { a: { seed: '5' } } },
      'option_sets.a has the option "seed"',
    ],
    ['too many runs', { seeds: Array.from({ length: 500 }, (_, seed) => seed) }, '500 seeds are 12000 runs'],
    [
      'an option with an invalid name',
      { seeds: [1], seed_option: 'a b' },
      'seed_option has the option "a b"',
    ],
    ['a seed that is no integer', { seeds: [1.5] }, 'seeds'],
    ['no seed', { seeds: [] }, 'seeds'],
  ])('are a 400 for %s', async (_reason, body, message) => expectError(await request(body), 400, message));

  test('are a 400 for an option that the app does not declare', async () => {
    const declaring = uniqueId('declaring');
    await pushApp(server, declaring, ARITHMETIC_APP, {
      ...ARITHMETIC_APP_TYPE,
      options: { items: [{ name: 'factor', option_type: 'float' }] },
    });
    const input_set_id = await createInputSet(server, declaring, [{ control: 1 }]);
    const response = await server.request('POST', batchExperimentPath(declaring), {
      body: { id: 'b', name: 'Any name', input_set_id, instance_ids: ['latest'], seeds: [1, 2] },
    });
    expectError(response, 400, 'seed_option is "seed", which the app does not declare', 'factor');
  });

  test('given as option sets are warned about', async () => {
    const created = await create({ option_sets: { a: { seed: '1' }, b: { seed: '2' } } });
    expect(created.warnings).toEqual([expect.stringContaining('Give the values as seeds instead')]);
    const metadata = await server.request('GET', batchExperimentPath(application, `/${created.id}/metadata`));
    expect(metadata.body).toMatchObject({ warnings: created.warnings });
    expect((await end(created.id)).warnings).toEqual(created.warnings);
  });
});

describe('a plan that can give no verdict', () => {
  let few: string;
  beforeAll(async () => {
    few = await createInputSet(
      server,
      application,
      Array.from({ length: 9 }, (_, size) => ({ candidate: size })),
    );
  });

  test('is created with a warning that names the number of inputs', async () => {
    const { warnings } = await create({ ...MINIMIZE, input_set_id: few });
    expect(warnings).toEqual([expect.stringContaining('Use an input set of at least 10 distinct inputs')]);
  });

  test.each([
    ['primary', { ...MINIMIZE, primary: 'result.value' }],
    ['guardrails', { ...MINIMIZE, guardrails: ['result.value'] }],
    ['seeds', { seeds: [1, 2] }],
    [
      'objectives.cost',
      { objectives: { cost: { direction: 'minimize', margin: { type: 'relative', value: 0.02 } } } },
    ],
  ])('is a 400 with %s', async (field, body) =>
    expectError(
      await request({ ...body, input_set_id: few }),
      400,
      `${field} is given, but this plan can never give a verdict`,
      'at least 10 distinct inputs',
    ),
  );
});

describe('D17: the content decides which inputs are the same', () => {
  const createInput = async (id: string, content: string): Promise<void> => {
    const upload_id = await uploadContent(server, application, content);
    const path = `/v1/applications/${application}/inputs`;
    expectStatus(await server.request('POST', path, { body: { id, upload_id } }), 201);
  };
  const createSet = async (inputs: readonly string[]): Promise<string> => {
    const id = uniqueId('set');
    const path = `/v1/applications/${application}/experiments/inputsets`;
    const body = { id, name: 'Any name', inputs: inputs.map((one) => ({ id: one })) };
    expectStatus(await server.request('POST', path, { body }), 201);
    return id;
  };
  const ids = Array.from({ length: 6 }, (_, index) => `reused-${index}`);

  test('inputs of two sets with the same id and different contents are different inputs', async () => {
    const sets: string[] = [];
    for (const version of ['old', 'new']) {
      for (const id of ids) await createInput(id, JSON.stringify({ [id]: version }));
      sets.push(await createSet(ids));
      for (const id of ids)
        expectStatus(await server.request('DELETE', `/v1/applications/${application}/inputs/${id}`), 204);
    }
    const runs = INSTANCES.instance_ids.flatMap((instance_id) =>
      sets.map((input_set_id) => ({ instance_id, input_set_id })),
    );
    const { id, warnings } = await create({ ...MINIMIZE, input_set_id: null, instance_ids: null, runs });
    expect(warnings).toBeUndefined();
    const { comparisons } = await end(id);
    const [comparison] = comparisons[0]?.indicators ?? [];
    expect(comparison).toMatchObject({
      verdict: 'better',
      inputs: { total: 12, wins: 12 },
      pairs: { total: 12 },
    });
    expect(comparison?.warnings.filter((text) => text.includes('repetitions'))).toEqual([]);
  });

  test.each([
    ['short', 10],
    ['long', 100_000],
  ])('inputs of equal %s content under different ids are one input', async (name, length) => {
    const inputs = Array.from({ length: 11 }, (_, index) => `${name}-${index}`);
    // The last two are the same text.
    for (const [index, id] of inputs.entries())
      await createInput(id, JSON.stringify({ text: 'x'.repeat(length), index: Math.min(index, 9) }));
    const { id } = await create({ ...MINIMIZE, input_set_id: await createSet(inputs) });
    const { comparisons } = await end(id);
    expect(comparisons[0]?.indicators[0]).toMatchObject({
      verdict: 'better',
      inputs: { total: 10, wins: 10 },
    });
    expect(comparisons[0]?.indicators[0]?.warnings).toContain(
      '1 input of 11 repeats the content of another and counts with it as one.',
    );
  });
});
