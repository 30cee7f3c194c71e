/** Verdicts of batch experiments before their end, through HTTP. The server executes no run: each test chooses the outcomes. */
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAcceptanceApp, createInputSet } from '../../testing/fixtures/acceptance-tests.ts';
import {
  batchExperimentPath,
  createBatchExperiment,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import {
  type ChosenOutcome,
  type ChosenRun,
  endRuns,
  WITHOUT_EXECUTION,
} from '../../testing/fixtures/chosen-outcomes.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer({ env: WITHOUT_EXECUTION });
  application = await createAcceptanceApp(server);
});
afterAll(() => server.close());

const MINIMIZE = { objectives: { 'result.value': 'minimize' } };

const listInputs = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => ({ control: first + index }));

/** Returns the outcome of the value of the run's side. */
const report = (run: ChosenRun, control: number, candidate: number): ChosenOutcome => ({
  indicators: { 'result.value': run.instance_id === 'control' ? control : candidate },
});

function findComparison({ comparisons }: BatchExperiment): Comparison {
  const found = comparisons[0]?.indicators.find(({ indicator }) => indicator === 'result.value');
  if (!found) throw new Error('The batch does not compare result.value.');
  return found;
}

describe('D6: before the end', () => {
  test('T8: up to 20 inputs there is no verdict', async () => {
    const { id } = await createBatchExperiment(server, application, {
      input_set_id: await createInputSet(server, application, listInputs(20)),
      instance_ids: ['control', 'candidate'],
      ...MINIMIZE,
    });
    await endRuns(server, id, (run) => ((run.block ?? 0) < 19 ? report(run, 100, 97) : null));
    const response = await server.request('GET', batchExperimentPath(application, `/${id}`));
    const { comparisons } = response.body as BatchExperiment;
    expect(comparisons[0]?.indicators[0]).toMatchObject({ verdict: 'undecided', sequential: null });
  });

  /** Creates a batch, and returns a function that ends the runs of its first blocks and returns the comparison. */
  async function startBatch(candidate: number, objectives: object = MINIMIZE.objectives) {
    const { id } = await createBatchExperiment(server, application, {
      input_set_id: await createInputSet(server, application, listInputs(24, 24)),
      instance_ids: ['control', 'candidate'],
      objectives,
    });
    const endBlocks = async (count: number): Promise<Comparison> => {
      await endRuns(server, id, (run) => ((run.block ?? 0) < count ? report(run, 100, candidate) : null));
      const response = await server.request('GET', batchExperimentPath(application, `/${id}`));
      expectStatus(response, 200);
      const batch = response.body as BatchExperiment;
      expect(batch.status).toBe('started');
      return findComparison(batch);
    };
    return { id, endBlocks };
  }

  // The effects are equal. The first sets the scale. Each other one adds 1 to the sum S, and to the sum V of the
  // squares. The e-value is sqrt(8 / (V + 8)) exp(S² / (2 (V + 8))).
  const computeEvidence = (sum: number) => Math.sqrt(8 / (sum + 8)) * Math.exp(sum ** 2 / (2 * (sum + 8)));
  /** Half of the wealth is on the rate 1, a quarter on 1/2, and an eighth on 1/4 and 1/8 each. */
  const computeMeanEvidence = (gain: number, inputs: number) =>
    [
      [1, 1 / 2],
      [1 / 2, 1 / 4],
      [1 / 4, 1 / 8],
      [1 / 8, 1 / 8],
    ].reduce((sum, [rate = 0, part = 0]) => sum + part * (1 + rate * gain) ** inputs, 0);

  test('T4: better needs an e-value of 100 for the typical input and for the mean', async () => {
    const { id, endBlocks } = await startBatch(60);
    const early = await endBlocks(16);
    expect(early).toMatchObject({ interim: true, verdict: 'undecided', sequential: { threshold: 100 } });
    expect(early.sequential?.e_value).toBeCloseTo(computeEvidence(15), 6);
    const later = await endBlocks(17);
    expect(later).toMatchObject({ interim: true, verdict: 'better', sequential: { largest_loss: 1 } });
    expect(later.sequential?.e_value).toBeCloseTo(computeEvidence(16), 6);
    expect(later.sequential?.mean_e_value_max).toBeCloseTo(computeMeanEvidence(0.4, 17), 6);
    expect(later.reasons.join(' ')).toContain(
      'It assumes that no input changes by more than 100\u00a0% the other way.',
    );
    await endRuns(server, id, (run) => report(run, 100, 60));
    const ended = findComparison(await waitForBatchEnd(server, application, id));
    expect(ended).toMatchObject({ interim: false, verdict: 'better' });
  });

  test('T4: a small gain on every input so far leaves room for rare large losses', async () => {
    const { id, endBlocks } = await startBatch(97);
    const early = await endBlocks(18);
    expect(early).toMatchObject({ interim: true, verdict: 'undecided' });
    expect(early.sequential?.e_value_max).toBeCloseTo(computeEvidence(17), 6);
    expect(early.sequential?.mean_e_value_max).toBeCloseTo(computeMeanEvidence(0.03, 18), 9);
    expect(early.reasons.join(' ')).toContain(
      'Rare losses of up to 100\u00a0% that did not occur may outweigh it: the evidence about the mean has the e-value 1.',
    );
    await endRuns(server, id, (run) => report(run, 100, 97));
    const ended = findComparison(await waitForBatchEnd(server, application, id));
    expect(ended).toMatchObject({ interim: false, verdict: 'better' });
  });

  test('T4: a declared largest loss makes the evidence about the mean sufficient earlier', async () => {
    const objectives = { 'result.value': { direction: 'minimize', largest_loss: 0.25 } };
    const { endBlocks } = await startBatch(90, objectives);
    const found = await endBlocks(18);
    expect(found).toMatchObject({ interim: true, verdict: 'better', sequential: { largest_loss: 0.25 } });
    expect(found.sequential?.mean_e_value_max).toBeCloseTo(computeMeanEvidence(0.1 / 0.25, 18), 6);
  });

  test('T4: worse needs the evidence about the typical input only, and says so', async () => {
    const { endBlocks } = await startBatch(103);
    const found = await endBlocks(18);
    expect(found).toMatchObject({ interim: true, verdict: 'worse' });
    expect(found.reasons.join(' ')).toContain('The typical input is worse');
    expect(found.reasons.join(' ')).toContain('Rare large gains that did not occur may outweigh it.');
  });
});
