/** The memory of a question, through HTTP: repeats, deletions, and rules that changed after results were known. */
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createInputSet,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import { createBatchExperiment, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { endRuns, WITHOUT_EXECUTION } from '../../testing/fixtures/chosen-outcomes.ts';
import { expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { storeLooks } from './store.ts';

const INPUTS = 12;
let server: TestServer;
let application: string;
let set: string;
let firstInput = 0;
/** The inputs of the set, in order. */
let ids: string[];
beforeAll(async () => {
  server = await startTestServer({ env: WITHOUT_EXECUTION });
});
afterAll(() => server.close());
beforeEach(async () => {
  application = await createAcceptanceApp(server);
  [set, ids] = await createSet();
});

/** Creates a set of inputs that no other set has. */
async function createSet(): Promise<[string, string[]]> {
  firstInput += INPUTS;
  const values = Array.from({ length: INPUTS }, (_, index) => ({ control: firstInput + index }));
  const id = await createInputSet(server, application, values);
  const { body } = await server.request('GET', `/v1/applications/${application}/experiments/inputsets/${id}`);
  return [id, (body as { input_ids: string[] }).input_ids];
}

const minimize = (indicator = 'result.value') => ({ objectives: { [indicator]: 'minimize' } });

/** Ends the runs of a batch: the candidate costs 10 % less, with a little spread. */
async function end(id: string): Promise<void> {
  let place = 0;
  await endRuns(server, id, ({ instance_id }) => {
    place += 1;
    const cost = instance_id === 'candidate' ? 90 + ((-1) ** place * place) / 100 : 100;
    return { indicators: { 'result.value': cost, 'result.custom.late': cost } };
  });
}

/** Creates a batch of both instances, and returns its results. */
async function runBatch(id: string, body: object = minimize()): Promise<BatchExperiment> {
  await createBatchExperiment(server, application, {
    ...{ id, input_set_id: set, instance_ids: ['control', 'candidate'] },
    ...body,
  });
  await end(id);
  return waitForBatchEnd(server, application, id);
}

const readBatch = async (id: string): Promise<BatchExperiment> => {
  const { body } = await server.request('GET', `/v1/applications/${application}/experiments/batch/${id}`);
  return body as BatchExperiment;
};

const remove = async (path: string): Promise<void> =>
  void expectStatus(
    await server.request('DELETE', `/v1/applications/${application}/experiments/${path}`),
    204,
  );

/** The runs of both sides on the first inputs of the set only. */
const chooseInputs = (count: number) => ({
  instance_ids: null,
  runs: ['control', 'candidate'].flatMap((instance_id) =>
    ids.slice(0, count).map((input_id) => ({ instance_id, input_id, input_set_id: set })),
  ),
});

/** Stores earlier looks with the same question and inputs as that of the batch, whose experiments are deleted. */
async function repeatLook(id: string, count: number): Promise<void> {
  const { database } = server.runningServer;
  const look = await database.read
    .selectFrom('question_looks')
    .selectAll()
    .where('experiment_id', '=', id)
    .orderBy('known_at', 'desc')
    .executeTakeFirstOrThrow();
  await database.transact(async (tx) => {
    for (let index = 0; index < count; index += 1) {
      const earlier = { experiment_uid: uniqueId('look'), runs_uid: uniqueId('look') };
      await storeLooks(tx, [{ ...look, ...earlier, known_at: look.known_at - 1 }]);
    }
  });
}

describe('T9: a batch', () => {
  test('counts every look at the same question, over deletions, and says so', async () => {
    const first = await runBatch('first');
    expect(first.decision?.release).toBe('yes');
    expect(first.question).toEqual({
      ...{ look: 1, reading: 'This is the first look at this question.', earlier: [], changes: [] },
    });
    await runBatch('second');
    await remove('batch/first');
    const third = await runBatch('third');
    const earlier = [
      { type: 'batch', experiment_id: 'first', deleted: true, shared_inputs: INPUTS },
      { type: 'batch', experiment_id: 'second', deleted: false, shared_inputs: INPUTS },
    ];
    const reading =
      '12 of these 12 inputs were run with the same versions in batch experiment "first"; this is look 3, one of them deleted.';
    expect(third.question).toEqual({ look: 3, reading, earlier, changes: [] });
    // A repeat by the same rules is said, and does not change the decision.
    expect(third.decision).toMatchObject({ release: 'yes', reason: expect.stringContaining(reading) });
    expect((await readBatch('second')).question?.look).toBe(2);
  });

  test('that leaves inputs out is undecided, and not one on new inputs', async () => {
    await runBatch('all');
    const fewer = await runBatch('fewer', { ...minimize(), ...chooseInputs(10) });
    expect(fewer.comparisons[0]?.indicators[0]?.verdict).toBe('better');
    expect(fewer.question).toMatchObject({
      look: 2,
      changes: ['2 of the 12 inputs of batch experiment "all", whose results were known, are left out.'],
    });
    expect(fewer.decision).toMatchObject({
      release: 'undecided',
      because_of: [{ verdict: 'better' }, { change: expect.stringContaining('left out') }],
    });
    [set, ids] = await createSet();
    const fresh = await runBatch('fresh', { objectives: { 'result.value': 'minimize' } });
    expect(fresh.question).toMatchObject({
      look: 3,
      reading: '2 earlier experiments compared the same versions on other inputs; this is look 3.',
      changes: [],
    });
    expect(fresh.decision?.release).toBe('yes');
    const again = await runBatch('again');
    expect(again.question?.reading).toBe(
      '12 of these 12 inputs were run with the same versions in batch experiment "fresh"; this is look 4, and look 2 on these inputs.',
    );
  });

  test.each([
    [3, []],
    [5, []],
    [6, ['6 of the 12 inputs of batch experiment "first", whose results were known, are left out.']],
  ])('that shares %i of its 12 inputs leaves others out from half on', async (shared, changes) => {
    await runBatch('first');
    const { runs } = chooseInputs(shared);
    [set, ids] = await createSet();
    const fresh = chooseInputs(INPUTS - shared);
    const second = await runBatch('second', { ...minimize(), ...fresh, runs: [...runs, ...fresh.runs] });
    expect(second.question).toMatchObject({ look: 2, earlier: [{ shared_inputs: shared }], changes });
    expect(second.decision?.release).toBe(changes.length === 0 ? 'yes' : 'undecided');
  });

  test('counts all of many looks on other inputs, and finds those on its own behind them', async () => {
    const [ownSet, own] = [set, ids];
    [set, ids] = await createSet();
    await runBatch('other');
    await repeatLook('other', 204);
    [set, ids] = [ownSet, own];
    await runBatch('all');
    const fewer = await runBatch('fewer', { ...minimize(), ...chooseInputs(10) });
    expect(fewer.question).toMatchObject({
      look: 207,
      reading:
        '10 of these 10 inputs were run with the same versions in batch experiment "all"; this is look 207, 204 of them deleted, and look 2 on these inputs. Only the newest 200 earlier looks are compared.',
      changes: ['2 of the 12 inputs of batch experiment "all", whose results were known, are left out.'],
    });
    expect(fewer.question?.earlier.at(-1)?.experiment_id).toBe('all');
    expect(fewer.decision?.release).toBe('undecided');
    // Another read has the same result.
    expect((await readBatch('fewer')).question).toEqual(fewer.question);
  });

  const guarded = {
    objectives: { 'result.value': 'minimize', 'result.custom.late': 'minimize' },
    primary: 'result.value',
    guardrails: ['result.custom.late'],
  };
  test.each([
    [
      'a turned direction',
      { objectives: { 'result.value': 'maximize' } },
      minimize(),
      'result.value is minimised here, and was maximised in batch experiment "first".',
    ],
    [
      'another primary indicator and no guardrail',
      guarded,
      minimize('result.custom.late'),
      'The primary indicator is result.custom.late here, and was result.value in batch experiment "first".',
    ],
    [
      'a guardrail less',
      guarded,
      { ...guarded, guardrails: [] },
      'result.custom.late was a guardrail in batch experiment "first", and is none here.',
    ],
    [
      'another margin',
      minimize(),
      {
        objectives: { 'result.value': { direction: 'minimize', margin: { type: 'relative', value: 0.05 } } },
      },
      'The margin of result.value is 5\u00a0% here, and was 1\u00a0% in batch experiment "first".',
    ],
    [
      'another shift',
      minimize(),
      { objectives: { 'result.value': { direction: 'minimize', shift: 3 } } },
      'shift of result.value differs from that in batch experiment "first".',
    ],
    [
      'another measure and tolerance',
      minimize(),
      {
        objectives: {
          'result.value': { direction: 'minimize', measure: 'relative', tie_tolerance: 1e-6 },
        },
      },
      'measure and tie_tolerance of result.value differ from those in batch experiment "first".',
    ],
  ])('with %s is undecided, and says it', async (_title, before, after, change) => {
    await runBatch('first', before);
    const second = await runBatch('second', after);
    expect(second.comparisons[0]?.indicators.find(({ role }) => role === 'primary')?.verdict).toBe('better');
    expect(second.question?.changes).toContain(change);
    expect(second.decision).toMatchObject({ release: 'undecided', reason: expect.stringContaining(change) });
  });

  test('whose rules came before every result is not held back, and other sides ask another question', async () => {
    const turned = {
      ...minimize(),
      id: 'parallel',
      input_set_id: set,
      instance_ids: ['control', 'candidate'],
    };
    await createBatchExperiment(server, application, turned);
    await runBatch('first', { objectives: { 'result.value': 'maximize' } });
    await end('parallel');
    const parallel = await waitForBatchEnd(server, application, 'parallel');
    expect(parallel.question).toMatchObject({ look: 2, changes: [] });
    expect(parallel.decision?.release).toBe('yes');
    const other = await runBatch('options', {
      ...{ instance_ids: ['control'], option_sets: { a: { side: 'x' }, b: { side: 'y' } }, ...minimize() },
    });
    expect(other.question?.look).toBe(1);
  });

  test('that swaps the sides is a look at the same question', async () => {
    await runBatch('first', { objectives: { 'result.value': 'maximize' } });
    const swapped = await runBatch('swapped', {
      ...{ objectives: { 'result.value': 'maximize' }, instance_ids: ['candidate', 'control'] },
    });
    expect(swapped.question).toMatchObject({ look: 2, changes: [] });
  });

  test('that was deleted while it ran is remembered once a run had ended', async () => {
    const body = { input_set_id: set, instance_ids: ['control', 'candidate'], ...minimize() };
    await createBatchExperiment(server, application, { ...body, id: 'unread' });
    await remove('batch/unread');
    await createBatchExperiment(server, application, { ...body, id: 'read' });
    let left = 4;
    await endRuns(server, 'read', () => {
      left -= 1;
      return left < 0 ? null : { indicators: { 'result.value': 100 } };
    });
    await remove('batch/read');
    const next = await runBatch('next');
    expect(next.question?.earlier.map(({ experiment_id }) => experiment_id)).toEqual(['read']);
  });
});

describe('T9: an acceptance test', () => {
  const rule = (operator: 'le' | 'ge', value = 0.01, field = 'result.value') => ({
    ...{ field, statistic: 'mean', metric_type: 'direct-comparison' },
    params: { operator, tolerance: { type: 'relative', value } },
  });

  /** Creates a test with its batch, and returns it when it is decided. */
  async function runTest(id: string, metric = rule('le')): Promise<AcceptanceTest> {
    await createAcceptanceTest(server, application, { id, input_set_id: set, metrics: [metric] });
    await end(id);
    return waitForDecision(server, application, id);
  }

  test('does not say that its rules came before the results of the same question', async () => {
    const first = await runTest('first');
    expect(first).toMatchObject({
      rules_before_results: true,
      decision: { release: 'yes' },
      question: { look: 1, changes: [] },
    });
    await remove('acceptance/first');
    const second = await runTest('second');
    expect(second).toMatchObject({
      rules_before_results: false,
      question: { look: 2, earlier: [{ type: 'acceptance', experiment_id: 'first', deleted: true }] },
      decision: { release: 'yes' },
    });
    const third = await runTest('third', rule('le', 0.2));
    expect(third.results?.passed).toBe(true);
    expect(third.decision?.release).toBe('undecided');
    expect(third.question?.changes).toEqual([
      'The rule mean of result.value: candidate ≤ control + 20\u00a0% is new: acceptance test "first" did not have it.',
      'The rule mean of result.value: candidate ≤ control + 1\u00a0% of acceptance test "first" is missing here.',
    ]);
  });

  test('with a direction that the known results of its batch ask for is undecided', async () => {
    await runBatch('known', { objectives: { 'result.value': 'maximize' } });
    const id = uniqueId('late');
    await createAcceptanceTest(server, application, { id, experiment_id: 'known', metrics: [rule('le')] });
    const late = await waitForDecision(server, application, id);
    expect(late).toMatchObject({
      rules_before_results: false,
      results: { passed: true },
      decision: { release: 'undecided' },
      question: { look: 2 },
    });
    expect(late.question?.changes).toEqual([
      'result.value is minimised here, and was maximised in batch experiment "known".',
    ]);
  });
});

test('T9: an application forgets its questions with its deletion, and others never see them', async () => {
  await runBatch('first');
  const { database } = server.runningServer;
  const { application_uid } = await database.read
    .selectFrom('experiments')
    .select('application_uid')
    .where('application_id', '=', application as never)
    .executeTakeFirstOrThrow();
  const count = async (): Promise<number> =>
    (
      await database.read
        .selectFrom('question_looks')
        .select('experiment_uid')
        .where('application_uid', '=', application_uid)
        .execute()
    ).length;
  expect(await count()).toBe(1);
  expectStatus(await server.request('DELETE', `/v1/applications/${application}`), 204);
  await expect.poll(count).toBe(0);
});
