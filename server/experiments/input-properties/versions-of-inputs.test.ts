/** Batches and acceptance tests on inputs that are versions of each other, through HTTP. The test chooses the outcomes. */
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createInputSet,
  MEAN_METRIC,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import { createBatchExperiment, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { endRuns, WITHOUT_EXECUTION } from '../../testing/fixtures/chosen-outcomes.ts';
import { expectError } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** The input of a place, the value of the control, and the change by the candidate in percent. */
interface Version {
  input: object;
  control: number;
  change: number;
}

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer({ env: WITHOUT_EXECUTION });
  application = await createAcceptanceApp(server);
});
afterAll(() => server.close());

/** Creates a set of the inputs, and returns its id with the version of each input. */
async function createSet(versions: readonly Version[]) {
  const set = await createInputSet(
    server,
    application,
    versions.map(({ input }) => input),
  );
  const response = await server.request(
    'GET',
    `/v1/applications/${application}/experiments/inputsets/${set}`,
  );
  const { input_ids } = response.body as { input_ids: string[] };
  return { set, byInput: new Map(input_ids.map((id, place) => [id, versions[place]])) };
}
type InputSet = Awaited<ReturnType<typeof createSet>>;

const endWithChanges = (id: string, { byInput }: InputSet) =>
  endRuns(server, id, ({ instance_id, input_id }) => {
    const { control = 0, change = 0 } = byInput.get(input_id) ?? {};
    return {
      indicators: { 'result.value': instance_id === 'control' ? control : control * Math.exp(change / 100) },
    };
  });

/** Ends a new batch, and returns its comparison of `result.value`. */
async function compare(
  inputs: InputSet,
  body: object = {},
): Promise<Comparison & { batch: BatchExperiment }> {
  const { id } = await createBatchExperiment(server, application, {
    input_set_id: inputs.set,
    instance_ids: ['control', 'candidate'],
    objectives: { 'result.value': 'minimize' },
    ...body,
  });
  await endWithChanges(id, inputs);
  const batch = await waitForBatchEnd(server, application, id);
  const found = batch.comparisons[0]?.indicators.find(({ indicator }) => indicator === 'result.value');
  if (!found) throw new Error('The batch does not compare result.value.');
  return { ...found, batch };
}

/** Two-sided p-value of Student's t for an even number of degrees of freedom (Abramowitz and Stegun, 26.7.4). */
function computeTail(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  let [term, total] = [1, 1];
  for (let factor = 1; factor < degrees - 1; factor += 2) {
    term *= (factor / (factor + 1)) * Math.cos(angle) ** 2;
    total += term;
  }
  return 1 - Math.sin(angle) * total;
}

/** The p-value of signed ranks summed by pairs of neighbouring places; no two changes have the same magnitude. */
function testPairs(changes: readonly number[]): number {
  const rank = (change: number) =>
    Math.sign(change) * changes.filter((other) => Math.abs(other) <= Math.abs(change)).length;
  const sums = changes.flatMap((change, place) =>
    place % 2 === 0 ? [rank(change) + rank(changes[place + 1] ?? 0)] : [],
  );
  const average = sums.reduce((total, one) => total + one, 0) / sums.length;
  const variance = sums.reduce((total, one) => total + (one - average) ** 2, 0) / (sums.length - 1);
  return computeTail(Math.abs(average) / Math.sqrt(variance / sums.length), sums.length - 1);
}

/** Changes of eleven instances, of which neighbours are unlike; two versions of each. */
const PAIR_CHANGES = [5, -1, 6, -2, 7, 1.5, 8, -3, 9, 2.5, 4].flatMap((change) => [change, change + 0.1]);

describe('inputs whose values show versions', () => {
  let pairs: InputSet;
  let fives: InputSet;
  beforeAll(async () => {
    pairs = await createSet(
      PAIR_CHANGES.map((change, place) => ({
        input: { place },
        control: 100 * 1.5 ** Math.floor(place / 2) * (1 + 0.001 * (place % 2)),
        change,
      })),
    );
    fives = await createSet(
      Array.from({ length: 20 }, (_, place) => ({
        input: { place },
        control: 100 * 2 ** (place % 4) * (1 + 0.001 * place),
        change: ([5, 7, -1, 6][place % 4] ?? 0) + 0.01 * place,
      })),
    );
  });

  test('T2: pairs are tested as clusters, and the result says so', async () => {
    const found = await compare(pairs);
    expect(found.related_inputs).toMatchObject({ clusters: 11, action: 'grouped' });
    expect(found.related_inputs?.p).toBeLessThanOrEqual(0.05);
    expect(found.dependence?.clusterings).toMatchObject([{ by: 'like values', count: 11, use: 'tested' }]);
    expect(found.wilcoxon.p_value).toBeCloseTo(testPairs(PAIR_CHANGES), 7);
    expect(found.warnings).toContainEqual(
      expect.stringMatching(
        /^Inputs of like control values have like effects \(p = 0\.0\d+\), as versions of one input have, or inputs whose size decides: 22 inputs count as 11 groups\./,
      ),
    );
    expect(found.sequential).toBeNull();
  });

  test('T2: versions of four inputs leave no verdict', async () => {
    const found = await compare(fives);
    expect(found).toMatchObject({
      verdict: 'undecided',
      related_inputs: { clusters: null, action: 'withheld' },
    });
    expect(found.reasons[0]).toMatch(/^The inputs look like versions of a few\. /);
  });

  test.each([['content'], ['/place']])('T2: a declared cluster_by of %s is not questioned', async (name) => {
    const found = await compare(fives, { cluster_by: [name] });
    expect(found).toMatchObject({ verdict: 'worse', related_inputs: null });
  });

  test('T2: an acceptance rule on versions of four inputs is not met', async () => {
    const params = { operator: 'le', tolerance: { type: 'relative', value: 0.2 } };
    const metrics = [{ ...MEAN_METRIC, hypothesis: 'non-inferiority', params }];
    const decide = async (body: object) => {
      const { id } = await createAcceptanceTest(server, application, {
        input_set_id: fives.set,
        metrics,
        ...body,
      });
      await endWithChanges(id, fives);
      return (await waitForDecision(server, application, id)).results;
    };
    const refused = await decide({});
    expect(refused?.passed).toBe(false);
    expect(refused?.metric_results?.[0]?.reason).toContain('The inputs look like versions of a few.');
    expect((await decide({ cluster_by: ['content'] }))?.passed).toBe(true);
  });
});

describe('inputs whose contents show versions', () => {
  /** Twenty stops of a fleet, and a time stamp that makes each content another one. */
  const buildInput = (fleet: number, place: number) => ({
    created: `2026-01-05T08:00:${place}Z`,
    fleet: `fleet ${fleet}`,
    stops: Array.from({ length: 20 }, (_, stop) => ({
      id: `${fleet}-${stop}`,
      lat: fleet + stop / 7,
      lon: stop * (fleet + 0.3),
    })),
  });
  const ADVICE =
    'cluster_by: ["/fleet"] declares the same groups, and cluster_by: ["content"] independent inputs.';

  test('T2: each group counts as one input, from the creation of the batch on', async () => {
    // The values of the control tell nothing: all are equal.
    const inputs = await createSet(
      PAIR_CHANGES.map((change, place) => ({
        input: buildInput(Math.floor(place / 2), place),
        control: 100,
        change,
      })),
    );
    const found = await compare(inputs);
    expect(found.related_inputs).toMatchObject({ clusters: 11, action: 'grouped' });
    expect(found.dependence?.clusterings).toMatchObject([{ by: 'similar content', count: 11 }]);
    expect(found.wilcoxon.p_value).toBeCloseTo(testPairs(PAIR_CHANGES), 7);
    expect(found.batch.warnings).toContain(
      `22 of 22 inputs share most of their content with another one: the inputs count as 11 groups. ${ADVICE}`,
    );
    const declared = await compare(inputs, { cluster_by: ['/fleet'] });
    expect(declared.wilcoxon.p_value).toBe(found.wilcoxon.p_value);
    expect(declared).toMatchObject({ related_inputs: null, batch: { warnings: [] } });
  });

  describe('of one input', () => {
    /** Twelve values near 1,000, and changes of about −5 %, all different and in no order. */
    const buildVersions = (unrelated: number): Version[] =>
      Array.from({ length: 12 }, (_, place) => ({
        input: buildInput(place < unrelated ? place + 2 : 1, place),
        control: 1000 + place,
        change: -5 - ((5 * place) % 12) / 100,
      }));
    const REASON =
      'All 12 inputs share most of their content and count as versions of one input, so there is no verdict.';

    test('T2: twelve versions of one input leave no verdict', async () => {
      const inputs = await createSet(buildVersions(0));
      const found = await compare(inputs);
      expect(found).toMatchObject({
        verdict: 'undecided',
        related_inputs: { clusters: 1, action: 'withheld' },
        more_inputs: null,
        detectable_difference: null,
      });
      expect(found.reasons[0]).toMatch(REASON);
      expect(found.batch.warnings).toContainEqual(
        expect.stringMatching(
          /^All 12 inputs share most of their content and count as versions of one input, so there will be no verdict\./,
        ),
      );
      const response = await server.request('POST', `/v1/applications/${application}/experiments/plan`, {
        body: { experiment_id: found.batch.id, difference: { type: 'relative', value: 0.02 } },
      });
      expectError(response, 400, REASON);
      // Declared as independent, the same runs show the 5 %.
      expect(await compare(inputs, { cluster_by: ['content'] })).toMatchObject({
        verdict: 'better',
        related_inputs: null,
      });
    });

    test('T2: eleven versions beside one other input leave no verdict either', async () => {
      const found = await compare(await createSet(buildVersions(1)));
      expect(found).toMatchObject({
        verdict: 'undecided',
        related_inputs: { clusters: 2, action: 'withheld' },
      });
    });

    test('T2: an acceptance rule on versions of one input is not met', async () => {
      const inputs = await createSet(buildVersions(0));
      const params = { operator: 'le', tolerance: { type: 'relative', value: 0.2 } };
      const { id } = await createAcceptanceTest(server, application, {
        input_set_id: inputs.set,
        metrics: [{ ...MEAN_METRIC, hypothesis: 'non-inferiority', params }],
      });
      await endWithChanges(id, inputs);
      const { results } = await waitForDecision(server, application, id);
      expect(results?.passed).toBe(false);
      expect(results?.metric_results?.[0]?.reason).toContain(REASON);
    });
  });

  test('T2: more than 250 inputs are not compared, because the server would stand still', async () => {
    const { set, byInput } = await createSet(
      Array.from({ length: 251 }, (_, place) => ({
        input: buildInput(place >> 1, place),
        control: 1,
        change: 0,
      })),
    );
    const warnings = async (body: object): Promise<readonly string[]> => {
      const { id } = await createBatchExperiment(server, application, body);
      const path = `/v1/applications/${application}/experiments/batch/${id}`;
      return ((await server.request('GET', path)).body as BatchExperiment).warnings;
    };
    const shared = expect.stringContaining('share most of their content with another one');
    const instance_ids = ['control', 'candidate'];
    expect(await warnings({ input_set_id: set, instance_ids })).not.toContainEqual(shared);
    const runs = [...byInput.keys()]
      .slice(1)
      .flatMap((input_id) => instance_ids.map((instance_id) => ({ instance_id, input_id })));
    expect(await warnings({ input_set_id: set, instance_ids: null, runs })).toContainEqual(shared);
  });
});
