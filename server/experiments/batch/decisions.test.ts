/** The decision of each kind of experiment with a comparison, through HTTP. Each test chooses the outcomes of the runs. */
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createInputSet,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import { createBatchExperiment, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { endRuns, WITHOUT_EXECUTION } from '../../testing/fixtures/chosen-outcomes.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const INPUTS = 12;
let server: TestServer;
let application: string;
let set: string;
beforeAll(async () => {
  server = await startTestServer({ env: WITHOUT_EXECUTION });
  application = await createAcceptanceApp(server);
  set = await createInputSet(
    server,
    application,
    Array.from({ length: INPUTS }, (_, size) => ({ control: size })),
  );
});
afterAll(() => server.close());

const GUARDED = {
  objectives: { 'result.value': 'minimize', 'result.custom.late': 'minimize' },
  primary: 'result.value',
  guardrails: ['result.custom.late'],
};

/** Runs a batch whose candidate has these ratios to the control, with a little spread; undefined reports nothing. */
async function runBatch(
  cost: number,
  late: number | undefined,
  body: object = GUARDED,
): Promise<BatchExperiment> {
  const { id } = await createBatchExperiment(server, application, {
    ...{ input_set_id: set, instance_ids: ['control', 'candidate'] },
    ...body,
  });
  const places = new Map<string, number>();
  await endRuns(server, id, ({ instance_id, input_id }) => {
    const place = places.get(input_id) ?? places.size;
    places.set(input_id, place);
    const factor = (ratio: number) =>
      instance_id === 'candidate' ? ratio + ((-1) ** place * place) / 1_000 : 1;
    return {
      indicators: {
        'result.value': 100 * factor(cost),
        ...(late !== undefined && { 'result.custom.late': 10 * factor(late) }),
      },
    };
  });
  return waitForBatchEnd(server, application, id);
}

test('T12: a guardrail that is 32 % worse holds a better candidate back, and the decision names it', async () => {
  const good = await runBatch(0.9, 0.95);
  expect(good.decision).toEqual({
    release: 'yes',
    reason: expect.stringMatching(
      /^candidate is better than control in result\.value: −10.* No guardrail is worse\.$/,
    ),
    because_of: [{ candidate: 'candidate', indicator: 'result.value', role: 'primary', verdict: 'better' }],
  });
  const guarded = await runBatch(0.9, 1.32);
  expect(guarded.comparisons[0]?.indicators.map(({ verdict }) => verdict)).toEqual(['better', 'worse']);
  expect(guarded.decision).toEqual({
    release: 'no',
    reason: expect.stringMatching(/^candidate is worse than control in result\.custom\.late: \+3[12]/),
    because_of: [
      { candidate: 'candidate', indicator: 'result.custom.late', role: 'guardrail', verdict: 'worse' },
    ],
  });
});

test('T12: a guardrail without a number, and equal sides, leave the decision undecided', async () => {
  const silent = await runBatch(0.9, undefined);
  expect(silent.decision).toMatchObject({
    release: 'undecided',
    because_of: [{ indicator: 'result.custom.late', role: 'guardrail' }],
  });
  // Without a named primary indicator, all objectives are primary.
  const named = await runBatch(0.9, undefined, { objectives: GUARDED.objectives });
  expect(named.decision).toMatchObject({
    release: 'undecided',
    because_of: expect.arrayContaining([
      { candidate: 'candidate', indicator: 'result.custom.late', role: 'primary' },
    ]),
  });
  const equal = await runBatch(1, 1);
  expect(equal.decision?.release).toBe('undecided');
  // Without a second side nothing is compared, so there is nothing to decide.
  const alone = await runBatch(1, 1, { instance_ids: ['control'] });
  expect(alone).not.toHaveProperty('decision');
});

test('T12: the decision of an acceptance test is that of its rules', async () => {
  const { id } = await runBatch(0.9, 1.32);
  const decide = async (field: string) => {
    const metric = {
      ...{ field, statistic: 'mean', metric_type: 'direct-comparison' },
      params: { operator: 'le', tolerance: { type: 'relative', value: 0.01 } },
    };
    const created = await createAcceptanceTest(server, application, { experiment_id: id, metrics: [metric] });
    expect(created).not.toHaveProperty('decision');
    return (await waitForDecision(server, application, created.id)).decision;
  };
  expect(await decide('result.value')).toMatchObject({ release: 'yes', because_of: [{ rule: 0 }] });
  expect(await decide('result.custom.late')).toMatchObject({
    release: 'no',
    reason: expect.stringContaining('Not met: mean of result.custom.late'),
    because_of: [{ candidate: 'candidate', indicator: 'result.custom.late', rule: 0 }],
  });
});
