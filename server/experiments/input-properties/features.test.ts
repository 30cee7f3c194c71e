/** The effect of a candidate by features of the inputs, through HTTP. The test chooses the outcomes of the runs. */
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
import { expectError, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
/** Thirty inputs with 1 to 30 stops, and regions by turns. The last has a size above 64 kB, which a thread reads. */
let set: string;
const places = new Map<string, number>();
beforeAll(async () => {
  server = await startTestServer({ env: WITHOUT_EXECUTION });
  application = await createAcceptanceApp(server);
  set = await createInputSet(
    server,
    application,
    Array.from({ length: 30 }, (_, place) => ({
      control: place,
      stops: Array.from({ length: place + 1 }, () => ({})),
      ...(place < 28 ? { region: place % 2 === 0 ? 'north' : 'south' } : {}),
      ...(place === 29 ? { notes: 'x'.repeat(100_000) } : {}),
    })),
  );
  const response = await server.request(
    'GET',
    `/v1/applications/${application}/experiments/inputsets/${set}`,
  );
  const { input_ids } = response.body as { input_ids: string[] };
  for (const [place, id] of input_ids.entries()) places.set(id, place);
});
afterAll(() => server.close());

/** Changes by turns, which cancel each other in every ten inputs from the first: -5 to 4, plus 0.5, in thousandths. */
const jitter = (place: number) => ((place % 10) - 4.5) / 1000;

/** Ends a new batch: the candidate saves `saved` on the ten largest inputs, and nothing on the others. */
async function runBatch(
  saved: number,
  body: object,
  choose: (run: ChosenRun, place: number) => ChosenOutcome | null = () => null,
): Promise<BatchExperiment> {
  const { id } = await createBatchExperiment(server, application, {
    input_set_id: set,
    instance_ids: ['control', 'candidate'],
    objectives: { 'result.value': 'minimize' },
    ...body,
  });
  await endRuns(server, id, (run) => {
    const place = places.get(run.input_id) ?? 0;
    const effect = (place < 20 ? 0 : Math.log(1 - saved)) + jitter(place);
    const value = run.instance_id === 'control' ? 100 : 100 * Math.exp(effect);
    return choose(run, place) ?? { indicators: { 'result.value': value } };
  });
  return waitForBatchEnd(server, application, id);
}

function readComparison({ comparisons }: BatchExperiment): Comparison {
  const found = comparisons[0]?.indicators.find(({ indicator }) => indicator === 'result.value');
  if (!found) throw new Error('The batch does not compare result.value.');
  return found;
}

describe('a candidate that saves 10 % on large inputs alone', () => {
  const features = ['/stops', '/region', 'bytes'];

  test('shows its effect by thirds of the sizes, and by region', async () => {
    const batch = await runBatch(0.1, { id: 'by-features', features });
    expect(batch.features).toEqual(features);
    const [stops, region, bytes] = readComparison(batch).interactions ?? [];
    expect(stops).toMatchObject({ feature: '/stops', type: 'number', missing: 0 });
    expect(stops?.groups).toMatchObject([
      { label: '1 to 10', low: 1, high: 10, inputs: 10, wins: 5, ties: 0, losses: 5 },
      { label: '11 to 20', low: 11, high: 20, inputs: 10 },
      { label: '21 to 30', low: 21, high: 30, inputs: 10, wins: 10, losses: 0 },
    ]);
    const [small, , large] = stops?.groups ?? [];
    const listPlaces = (ids: readonly string[] = []) =>
      ids.map((id) => places.get(id)).toSorted((a = 0, b = 0) => a - b);
    expect(listPlaces(small?.input_ids)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // The changes by turns have the mean 0, so the geometric means are 1 and 0.9.
    expect(small?.effect?.value).toBeCloseTo(1, 12);
    expect(large?.effect?.value).toBeCloseTo(0.9, 12);
    expect(large?.effect?.interval?.high).toBeLessThan(0.91);
    expect(region).toMatchObject({ type: 'category', missing: 2 });
    expect(region?.groups).toMatchObject([
      { label: 'north', low: null, inputs: 14 },
      { label: 'south', low: null, inputs: 14 },
    ]);
    expect(bytes?.groups.map(({ inputs }) => inputs)).toEqual([10, 10, 10]);
  });

  test('has the same verdict and evidence as without features', async () => {
    const explored = readComparison(await runBatch(0.1, { features }));
    const plain = readComparison(await runBatch(0.1, {}));
    // Each experiment draws its own sign flips, so that the p-values of equal runs differ by chance.
    const readReasons = ({ reasons }: Comparison) =>
      reasons.map((text) => text.replace(/p-value of [\d.]+\d/, 'p-value'));
    const { verdict, warnings, inputs, wilcoxon } = plain;
    expect(explored).toMatchObject({ verdict, warnings, inputs, wilcoxon });
    expect(readReasons(explored)).toEqual(readReasons(plain));
    expect(explored.interactions).toHaveLength(3);
    expect(plain.interactions).toBeUndefined();
  });
});

test('a candidate that fails on large inputs loses in their group', async () => {
  const batch = await runBatch(0, { features: ['/stops'] }, (run, place) =>
    run.instance_id === 'candidate' && place >= 21 ? { status: 'failed' } : null,
  );
  const [stops] = readComparison(batch).interactions ?? [];
  // Of the ten largest, one keeps a result: a change of -4.5 thousandths.
  expect(stops?.groups[2]).toMatchObject({ label: '21 to 30', inputs: 10, wins: 1, losses: 9 });
});

test('a running batch shows interactions of the inputs that have ended', async () => {
  const { id } = await createBatchExperiment(server, application, {
    input_set_id: set,
    instance_ids: ['control', 'candidate'],
    features: ['/stops'],
  });
  await endRuns(server, id, ({ input_id }) =>
    (places.get(input_id) ?? 0) < 8 ? { indicators: { 'result.value': 1 } } : null,
  );
  const { body } = await server.request('GET', batchExperimentPath(application, `/${id}`));
  const [stops] = readComparison(body as BatchExperiment).interactions ?? [];
  expect(stops).toMatchObject({ groups: [{ label: '1 to 8', inputs: 8 }] });
});

test('fields of an input above 20 MiB are refused, and its size is not', async () => {
  const large = await createInputSet(server, application, [{ control: 'x'.repeat(21 * 1024 ** 2) }]);
  const body = { id: uniqueId('batch'), name: 'Any name', input_set_id: large, instance_ids: ['control'] };
  const path = batchExperimentPath(application);
  const response = await server.request('POST', path, { body: { ...body, features: ['/control'] } });
  expectError(response, 400, 'has 21\u00a0MiB, and fields are read from inputs of at most 20\u00a0MiB');
  const bySize = await server.request('POST', path, { body: { ...body, features: ['bytes'] } });
  expect(bySize.status).toBe(201);
});
