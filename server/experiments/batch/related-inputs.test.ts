/** Batch experiments and acceptance tests on the inputs of a period, whose neighbours may resemble each other. Through HTTP. */
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  MEAN_METRIC,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import { createBatchExperiment, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { endRuns, WITHOUT_EXECUTION } from '../../testing/fixtures/chosen-outcomes.ts';
import { expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { endRunsWith, type RunOutcome } from '../../testing/fixtures/run-outcomes.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** As many as a set of the runs of a period may have. */
const INPUTS = 20;

let server: TestServer;
let clock: ManualClock;
let application: string;
/** The runs of the period, the oldest first. */
const runIds: string[] = [];
beforeAll(async () => {
  clock = createManualClock(Date.UTC(2026, 0, 5, 8));
  server = await startTestServer({ clock, env: WITHOUT_EXECUTION });
  application = await createAcceptanceApp(server);
  for (let index = 0; index < INPUTS; index += 1) {
    const path = `/v1/applications/${application}/runs?instance_id=control`;
    const response = await server.request('POST', path, { body: { input: { control: index } } });
    expectStatus(response, 202);
    runIds.push((response.body as { run_id: string }).run_id);
    clock.advance(1000);
  }
  const outcomes = runIds.map((id): [string, RunOutcome] => [id, { 'result.value': 1 }]);
  await endRunsWith(server, new Map(outcomes), clock.now());
});
afterAll(() => server.close());

const PERIOD = { instance_id: 'control' };

/** Creates a batch of both instances on a set of this source, and ends its runs; the candidate is `findGain(place)` lower. */
async function runBatch(source: object, findGain: (place: number) => number): Promise<BatchExperiment> {
  const input_set_id = uniqueId('set');
  const path = `/v1/applications/${application}/experiments/inputsets`;
  expectStatus(
    await server.request('POST', path, { body: { id: input_set_id, name: 'Any', ...source } }),
    201,
  );
  const { id } = await createBatchExperiment(server, application, {
    input_set_id,
    instance_ids: ['control', 'candidate'],
    objectives: { 'result.value': 'minimize' },
  });
  await endRuns(server, id, ({ instance_id, input_id }) => {
    const gain = instance_id === 'control' ? 0 : findGain(runIds.indexOf(input_id));
    return { indicators: { 'result.value': 100 * Math.exp(-gain) } };
  });
  return waitForBatchEnd(server, application, id);
}

function findComparison({ comparisons }: BatchExperiment): Comparison {
  const found = comparisons[0]?.indicators.find(({ indicator }) => indicator === 'result.value');
  if (!found) throw new Error('The batch does not compare result.value.');
  return found;
}

/** Half a wave over all inputs: 1 to 9 % in an order in which every gain is nearly that of the run before. */
const findWave = (place: number) => 0.05 - 0.04 * Math.cos((Math.PI * place) / (INPUTS - 1));
/** The same gains, of which neighbours are 11 places of the wave apart. */
const findMixed = (place: number) => findWave((11 * place) % INPUTS);
/** The wave from 5 % to 6 % and back: half as much of it hides in a noise that repeats every 7 runs. */
const findRelated = (place: number) => 0.05 + findWave(place) / 8 + ((place * 3) % 7) / 1000;

test('D5: inputs of a period whose neighbours resemble each other count as fewer', async () => {
  const comparison = findComparison(await runBatch(PERIOD, findWave));
  expect(comparison).toMatchObject({ verdict: 'undecided', inputs: { total: INPUTS, wins: INPUTS } });
  expect(comparison.dependence?.serial_correlation).toBeGreaterThan(0.8);
  expect(comparison.dependence?.effective_sample_size).toBeLessThan(10);
  expect(comparison.reasons[0]).toMatch(
    /^Neighbouring inputs resemble each other \(correlation 0\.\d\d\): 20 inputs count as \d\.\d; a verdict needs at least 10\.$/,
  );
});

test('a weaker relation of the inputs of a short period leaves no verdict either', async () => {
  const comparison = findComparison(await runBatch(PERIOD, findRelated));
  expect(comparison.verdict).toBe('undecided');
  expect(comparison.reasons[0]).toMatch(/^Neighbouring inputs resemble each other \(/);
});

test('T13: inputs of a period whose neighbours do not resemble each other have a verdict for that time', async () => {
  const comparison = findComparison(await runBatch(PERIOD, findMixed));
  expect(comparison).toMatchObject({
    verdict: 'better',
    dependence: { serial_correlation: null, effective_sample_size: INPUTS },
  });
  expect(comparison.warnings).toEqual([]);
  expect(comparison.reasons).toContain(
    'Fewer than 150 inputs seldom show an effect that changes slowly: the verdict holds for their time.',
  );
});

test('runs that the set names one by one have no order in time', async () => {
  const comparison = findComparison(await runBatch({ run_ids: runIds }, findWave));
  expect(comparison).toMatchObject({ verdict: 'better', warnings: [] });
});

test('a non-inferiority rule on related inputs is not met', async () => {
  const { id: experiment_id } = await runBatch(PERIOD, findWave);
  const params = { operator: 'le', tolerance: { type: 'relative', value: 0.02 } };
  const metric = { ...MEAN_METRIC, hypothesis: 'non-inferiority', params };
  const { id } = await createAcceptanceTest(server, application, { experiment_id, metrics: [metric] });
  const { results } = await waitForDecision(server, application, id);
  expect(results?.passed).toBe(false);
  expect(results?.metric_results?.[0]?.reason).toContain('Neighbouring inputs resemble each other');
});
