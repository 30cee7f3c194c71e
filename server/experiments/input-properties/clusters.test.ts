/** Batch and acceptance tests whose inputs come in clusters, through HTTP. The test chooses the outcomes of the runs. */
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createInputSet,
  requestAcceptanceTest,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import {
  batchExperimentPath,
  createBatchExperiment,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import { endRuns, WITHOUT_EXECUTION } from '../../testing/fixtures/chosen-outcomes.ts';
import { expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { countRowsByTable } from '../../testing/servers/orphan-rows.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const DAY_MS = 86_400_000;
const MINIMIZE = { objectives: { 'result.value': 'minimize' } };

let server: TestServer;
let clock: ManualClock;
let application: string;
/** Twenty inputs of five depots, four each, and of two regions. */
let set: string;
/** The place of each input in its set. */
const places = new Map<string, number>();
beforeAll(async () => {
  clock = createManualClock(Date.UTC(2026, 0, 5, 8));
  server = await startTestServer({ clock, env: WITHOUT_EXECUTION });
  application = await createAcceptanceApp(server);
  const inputs = Array.from({ length: 20 }, (_, place) => ({
    control: place,
    depot: `depot ${Math.floor(place / 4)}`,
    region: place < 12 ? 'north' : 'south',
    ...(place < 2 ? { urgent: place === 0 } : {}),
  }));
  set = await createInputSet(server, application, inputs);
  await rememberPlaces(set);
});
afterAll(() => server.close());

async function rememberPlaces(id: string): Promise<void> {
  const response = await server.request('GET', `/v1/applications/${application}/experiments/inputsets/${id}`);
  const { input_ids } = response.body as { input_ids: string[] };
  for (const [place, input] of input_ids.entries()) places.set(input, place);
}

const createBatch = (body: object) =>
  createBatchExperiment(server, application, {
    input_set_id: set,
    instance_ids: ['control', 'candidate'],
    ...MINIMIZE,
    ...body,
  });

/** The candidate wins the first twelve inputs by 9 to 20 %, and loses the other eight by 1 to 8 %: so are the ranks. */
const endWithChosenEffects = (id: string) =>
  endRuns(server, id, ({ instance_id, input_id }) => {
    const place = places.get(input_id) ?? 0;
    const effect = place < 12 ? -(9 + place) : place - 11;
    const value = instance_id === 'control' ? 100 : 100 * Math.exp(effect / 100);
    return { indicators: { 'result.value': value } };
  });

/** Ends a new batch with these effects, and returns its comparison of `result.value`. */
async function compare(body: object): Promise<{ comparison: Comparison; warnings: string[] }> {
  const { id } = await createBatch(body);
  await endWithChosenEffects(id);
  const { comparisons, warnings } = await waitForBatchEnd(server, application, id);
  const comparison = comparisons[0]?.indicators.find(({ indicator }) => indicator === 'result.value');
  if (!comparison) throw new Error('The batch does not compare result.value.');
  return { comparison, warnings };
}

/** Two-sided p-value of Student's t with 4 degrees of freedom (closed form; Hill, Communications of the ACM 1970). */
function computeFourDegreesTail(t: number): number {
  const ratio = t / Math.sqrt(1 + (t * t) / 4);
  return 2 * (0.5 - (3 / 8) * ratio * (1 - (ratio * ratio) / 12));
}

describe('a batch of inputs in five depots', () => {
  test('has a verdict while the inputs count as independent', async () => {
    const { comparison } = await compare({ cluster_by: ['content'] });
    expect(comparison).toMatchObject({ verdict: 'better', dependence: { clusterings: [] } });
  });

  test('has none when they are tested by depot', async () => {
    const { comparison, warnings } = await compare({ cluster_by: ['/depot'] });
    expect(comparison.verdict).toBe('undecided');
    expect(comparison.dependence?.clusterings).toMatchObject([
      { by: '/depot', count: 5, effective: 5, use: 'tested' },
    ]);
    // Signed ranks by depot: -42, -58, -74, 10 and 26, with the mean -27.6 and the variance 1892.8.
    const t = 27.6 / Math.sqrt(1892.8 / 5);
    expect(comparison.wilcoxon.p_value).toBeCloseTo(computeFourDegreesTail(t), 7);
    expect(warnings).toEqual([]);
  });

  test('has none when they come from two regions that differ, and the plan warns of it', async () => {
    const { comparison, warnings } = await compare({ cluster_by: ['content', '/region'] });
    expect(comparison.verdict).toBe('undecided');
    expect(comparison.dependence?.clusterings).toMatchObject([{ by: '/region', count: 2, use: 'different' }]);
    expect(comparison.reasons.join()).toContain('a verdict needs at least 5, or clusters that do not differ');
    // 20 inputs as 12 and 8: 400 / (144 + 64).
    expect(warnings).toEqual([
      'cluster_by /region: the inputs form 2 clusters, which count as 1.9 of equal size. Below 5 there is a verdict only if the clusters do not differ; use inputs of more clusters.',
    ]);
  });
});

test('inputs without the field count as one cluster, and the response names the clustering', async () => {
  const batch = await createBatch({ cluster_by: ['/urgent'] });
  expect(batch.cluster_by).toEqual(['/urgent']);
  expect(batch.warnings?.[0]).toBe(
    'cluster_by /urgent: 18 of 20 inputs have no such value; they count as one cluster.',
  );
  await server.request('DELETE', batchExperimentPath(application, `/${batch.id}`));
});

describe('inputs that come from runs', () => {
  test('cluster by day and by caller, also through a managed input', async () => {
    const ids: RunId[] = [];
    for (let index = 0; index < 20; index += 1) {
      const path = `/v1/applications/${application}/runs?instance_id=control`;
      const response = await server.request('POST', path, { body: { input: { control: index } } });
      expectStatus(response, 202);
      ids.push((response.body as { run_id: RunId }).run_id);
      if (index % 4 === 3) clock.advance(DAY_MS);
    }
    const managed = uniqueId('in');
    const body = { id: managed, run_id: ids[19] };
    expectStatus(await server.request('POST', `/v1/applications/${application}/inputs`, { body }), 201);
    const ofRuns = uniqueId('set');
    const response = await server.request('POST', `/v1/applications/${application}/experiments/inputsets`, {
      body: { id: ofRuns, name: 'Any name', run_ids: ids.slice(0, 19), inputs: [{ id: managed }] },
    });
    expectStatus(response, 201);
    await rememberPlaces(ofRuns);
    const { comparison, warnings } = await compare({
      input_set_id: ofRuns,
      cluster_by: ['day', 'caller'],
    });
    // One caller is no clustering.
    expect(comparison.dependence?.clusterings).toMatchObject([{ by: 'day', count: 5, effective: 5 }]);
    expect(comparison.verdict).toBe('undecided');
    expect(warnings).toEqual([
      'cluster_by caller: all inputs belong to one cluster, so the verdict holds for this cluster alone.',
    ]);
  });
});

describe('an acceptance test', () => {
  const endTest = async (body: object): Promise<AcceptanceTest> => {
    const { id } = await createAcceptanceTest(server, application, { input_set_id: set, ...body });
    await endWithChosenEffects(id);
    return waitForDecision(server, application, id);
  };
  const metrics = [
    {
      field: 'result.value',
      statistic: 'mean',
      metric_type: 'direct-comparison',
      hypothesis: 'non-inferiority',
      params: { operator: 'le', tolerance: { type: 'relative', value: 0.01 } },
    },
  ];

  test('decides by clusters whether the loss is within the tolerance', async () => {
    const plain = await endTest({ metrics });
    expect(plain.results?.passed).toBe(true);
    const clustered = await endTest({ metrics, cluster_by: ['/depot'], features: ['/region'] });
    const [result] = clustered.results?.metric_results ?? [];
    expect(result?.passed).toBe(false);
    expect(result?.comparison.dependence?.clusterings).toMatchObject([{ by: '/depot', count: 5 }]);
    expect(result?.comparison.interactions?.[0]).toMatchObject({ feature: '/region', type: 'category' });
  });

  test('takes the clusters of a batch that exists, and refuses others', async () => {
    const { id } = await createBatch({ cluster_by: ['/depot'] });
    const body = { experiment_id: id, cluster_by: ['/region'] };
    expectError(await requestAcceptanceTest(server, application, body), 400, 'leave cluster_by out');
    const test = await createAcceptanceTest(server, application, { experiment_id: id, metrics });
    await endWithChosenEffects(id);
    const { results } = await waitForDecision(server, application, test.id);
    expect(results?.metric_results?.[0]?.comparison.dependence?.clusterings).toHaveLength(1);
  });
});

describe('a request is refused', () => {
  test.each([
    [{ cluster_by: ['depot'] }, 'cluster_by.0 is "depot"; it must be content, caller, day, a JSON Pointer'],
    [{ cluster_by: ['/a~2'] }, 'In a pointer, ~ is written ~0 and / is ~1'],
    [{ cluster_by: ['/depot', '/depot'] }, 'cluster_by.1 is "/depot", as cluster_by.0 is'],
    [{ cluster_by: ['/nowhere'] }, 'no input has such a field'],
    [{ cluster_by: ['day:/depot'] }, 'no input has such a field'],
    [{ cluster_by: ['day'] }, 'no input comes from a run that still exists'],
    [{ features: ['day'] }, 'features.0 is "day"; it must be bytes or a JSON Pointer'],
    [{ features: [''] }, 'features.0'],
    [{ features: ['/nowhere'] }, 'no input has such a field'],
  ])('for %j', async (body, message) => {
    const response = await server.request('POST', batchExperimentPath(application), {
      body: {
        id: uniqueId('batch'),
        name: 'Any name',
        input_set_id: set,
        instance_ids: ['control', 'candidate'],
        ...MINIMIZE,
        ...body,
      },
    });
    expectError(response, 400, message);
  });

  test('for clusters of a plan that can give no verdict', async () => {
    const runs = ['control', 'candidate'].flatMap((instance_id) =>
      [...places.keys()].slice(0, 9).map((input_id) => ({ instance_id, input_id })),
    );
    const response = await server.request('POST', batchExperimentPath(application), {
      body: { id: uniqueId('batch'), name: 'Any name', input_set_id: set, runs, cluster_by: ['/depot'] },
    });
    expectError(response, 400, 'cluster_by is given, but this plan can never give a verdict');
  });
});

test('the properties of the inputs are deleted with the experiment', async () => {
  const response = await server.request('DELETE', `/v1/applications/${application}`);
  expectStatus(response, 204);
  await expect.poll(async () => (await countRowsByTable(server)).experiment_input_properties).toBe(0);
});
