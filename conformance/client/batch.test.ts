/**
 * The published Python client, batch experiments and scenario tests, as seen by the client's own models; see
 * client.test.ts.
 */
import { describe, expect, test } from 'vitest';
import { startClientDriver } from './client-driver.ts';
import { openPublishedClient } from './published-client.ts';

const client = await openPublishedClient();
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

/** The result of a rule, as the client parses it. */
interface MetricResult {
  metric: { params: { operator: string } };
  passed: boolean;
  statistics: object;
}

/** The fields of a run that the client must parse; `value` is the result of the app for the input. */
interface Expected {
  instance: string;
  input: string;
  value: number;
  option_set?: string;
  options?: Record<string, string>;
  scenario?: string;
  repetition?: number;
  input_set?: unknown;
}

const expectedRun = (application: string, experiment: string, run: Expected) => ({
  id: expect.stringMatching(/^run-/),
  user_email: expect.any(String),
  name: '',
  description: '',
  created_at: TIME,
  application_id: application,
  application_instance_id: run.instance,
  application_version_id: run.instance === 'latest' ? '' : 'v1',
  run_type: { run_type: 'standard', definition_id: null, reference_id: null },
  execution_class: '6c9500mb870s',
  runtime: expect.any(String),
  status_v2: 'succeeded',
  queuing_priority: 9,
  queuing_disabled: false,
  experiment_id: experiment,
  statistics: {
    status: 'success',
    error: '',
    indicators: expect.arrayContaining([{ name: 'result.value', value: run.value }]),
  },
  input_id: run.input,
  option_set: run.option_set ?? null,
  options: expect.objectContaining(run.options ?? {}),
  request_options: run.options ?? {},
  scenario_id: run.scenario ?? null,
  repetition: run.repetition ?? 0,
  input_set_id: run.input_set ?? 'three',
});

interface Run {
  application_instance_id: string;
  input_id: string;
  option_set: string | null;
  scenario_id: string | null;
  repetition: number;
}

/** Returns the fields that distinguish a run within its experiment. */
const formatKey = (run: Run): string =>
  [run.scenario_id, run.application_instance_id, run.option_set, run.input_id, run.repetition].join();

/** Lists are newest first; runs with the same time have no defined order. */
function expectRuns(found: unknown, wanted: ReturnType<typeof expectedRun>[]): void {
  const sorted = <T extends Run>(runs: readonly T[]) =>
    [...runs].sort((a, b) => (formatKey(a) < formatKey(b) ? -1 : 1));
  expect(sorted(found as Run[])).toMatchObject(sorted(wanted));
}

// client.test.ts reports a missing client once.
describe.skipIf(typeof client === 'string')('the published client', () => {
  const { runPart: drive } = startClientDriver(client);

  test('creates batch experiments of runs, waits for them, finds, updates and deletes them', async () => {
    const seen = await drive('batch_experiments');
    const inputs = seen.inputs as string[];
    const base = {
      id: 'noted',
      name: 'Noted runs',
      description: 'Both of the instances on three inputs.',
      created_at: TIME,
      updated_at: TIME,
      status: 'completed',
      number_of_requested_runs: 6,
      number_of_runs: 6,
      number_of_completed_runs: 6,
      type: 'batch',
      option_sets: { noted: { note: 'seen' } },
    };
    const renamed = { ...base, name: 'Renamed batch', description: 'New words.' };
    const { id, runs } = seen.generated as { id: string; runs: Run[] };
    const generated = {
      ...base,
      id,
      name: id,
      description: '',
      number_of_requested_runs: 4,
      number_of_runs: 4,
      number_of_completed_runs: 4,
      option_sets: {},
    };
    expect(seen).toMatchObject({
      made: 'noted',
      polled: { ...base, input_set_id: '', instance_ids: [] },
      generated: { ...generated, input_set_id: 'three', instance_ids: [] },
      nowhere: 400,
      again: 400,
      metadata: { ...base, app_id: 'py-batch' },
      listed: [
        { ...generated, app_id: 'py-batch' },
        { ...base, app_id: 'py-batch' },
      ],
      unpaged: [id, 'noted'],
      scenarios: [],
      updated: renamed,
      got: renamed,
      get_after_delete: 404,
      metadata_after_delete: 404,
      run_after_delete: 404,
      left: [id],
    });
    const both = { baseline: 2, candidate: 3 };
    const noted = Object.entries(both).flatMap(([instance, factor]) =>
      inputs.map((input, at) =>
        expectedRun('py-batch', 'noted', {
          instance,
          input,
          value: factor * (at + 1),
          option_set: 'noted',
          options: { note: 'seen' },
        }),
      ),
    );
    const { polled, got } = seen as Record<
      string,
      { runs: Run[]; grouped_distributional_summaries: object[] }
    >;
    expectRuns(polled?.runs, noted);
    expectRuns(got?.runs, noted);
    // The run of the version alone has the factor of its executable.
    expectRuns(runs, [
      expectedRun('py-batch', id, { instance: '', input: inputs[0] ?? '', value: 2 }),
      ...inputs.map((input, at) =>
        expectedRun('py-batch', id, { instance: 'baseline', input, value: 2 * (at + 1) }),
      ),
    ]);
    expect(polled?.grouped_distributional_summaries[1]).toMatchObject({
      group_keys: ['instanceID', 'versionID'],
      group_values: ['candidate', 'v1'],
      indicator_keys: ['result.custom.count', 'result.value'],
      indicator_distributions: {
        'result.value': { min: 3, max: 9, count: 3, mean: 6, std: 3, percentiles: { p50: 6, p25: 4.5 } },
      },
    });
  });

  test('creates scenario tests of an input set, of managed inputs and of new data', async () => {
    const seen = await drive('scenario_tests');
    const inputs = seen.inputs as string[];
    const base = {
      id: 'every-kind',
      name: 'Every kind of input',
      description: 'Of an input set, of a managed input and of new data.',
      created_at: TIME,
      updated_at: TIME,
      status: 'completed',
      // Twice: three inputs; one with two by two options; two inputs.
      number_of_requested_runs: 18,
      number_of_runs: 18,
      number_of_completed_runs: 18,
      type: 'scenario',
      option_sets: {
        'scenario-1_0': {},
        managed_0: { factor: '5', note: 'a' },
        managed_1: { factor: '5', note: 'b' },
        managed_2: { factor: '7', note: 'a' },
        managed_3: { factor: '7', note: 'b' },
        'new-data_0': {},
      },
    };
    const { id, runs } = seen.generated as { id: string; runs: Run[] };
    expect(seen).toMatchObject({
      made: 'every-kind',
      polled: { ...base, input_set_id: '', instance_ids: [] },
      generated: { id, name: id, type: 'scenario', status: 'completed', number_of_runs: 3 },
      metadata: { ...base, app_id: 'py-scenario' },
      listed: [id, 'every-kind'],
      unpaged: [id, 'every-kind'],
      batches: [],
      updated: { ...base, name: 'Renamed scenarios', description: 'New words.' },
      got: ['Renamed scenarios', 18],
      get_after_delete: 404,
      left: [id],
    });
    const { runs: found } = seen.polled as { runs: Run[] };
    // The client generates the names of the inputs with new data.
    const [hundred = '', twoHundred = ''] = [300, 600].map(
      (value) =>
        (found as (Run & { statistics: { indicators: { value: unknown }[] } })[]).find(
          (run) => run.statistics.indicators[0]?.value === value,
        )?.input_id,
    );
    const twice = (run: Expected) =>
      [0, 1].map((repetition) =>
        expectedRun('py-scenario', 'every-kind', { ...run, option_set: run.option_set ?? '', repetition }),
      );
    expectRuns(found, [
      ...inputs.flatMap((input, at) =>
        twice({
          instance: 'baseline',
          input,
          value: 2 * (at + 1),
          option_set: 'scenario-1_0',
          scenario: 'scenario-1',
        }),
      ),
      ...[
        { factor: '5', note: 'a' },
        { factor: '5', note: 'b' },
        { factor: '7', note: 'a' },
        { factor: '7', note: 'b' },
      ].flatMap((options, at) =>
        twice({
          instance: 'latest',
          input: 'nine',
          value: 9 * Number(options.factor),
          option_set: `managed_${at}`,
          options,
          scenario: 'managed',
          input_set: expect.stringMatching(/^inpset-managed-/),
        }),
      ),
      ...[[hundred, 300] as const, [twoHundred, 600] as const].flatMap(([input, value]) =>
        twice({
          instance: 'candidate',
          input,
          value,
          option_set: 'new-data_0',
          scenario: 'new-data',
          input_set: expect.stringMatching(/^inpset-new-data-/),
        }),
      ),
    ]);
    expectRuns(
      runs,
      inputs.map((input, at) =>
        expectedRun('py-scenario', id, {
          instance: 'baseline',
          input,
          value: 2 * (at + 1),
          option_set: 'scenario-1_0',
          scenario: 'scenario-1',
        }),
      ),
    );
  });

  test('creates an acceptance test of a running batch experiment', async () => {
    const seen = await drive('acceptance_of_a_batch');
    const inputs = seen.inputs as string[];
    const side = (instance_id: string, mean: number) => ({
      instance_id,
      version_id: 'v1',
      number_of_runs_total: 3,
      distribution_summary_statistics: expect.objectContaining({ count: 3, mean }),
    });
    expect(seen).toMatchObject({
      test: {
        id: 'batch-first',
        name: 'batch-first',
        experiment_id: 'batch-first',
        status: 'completed',
        results: {
          passed: false,
        },
      },
      batch_after_delete: null,
    });
    // Each value of the candidate is 1.5 times that of the control, and so is every statistic but the geometric mean, which
    // is above too. A field that no run reports meets no rule, and its numbers are 0.
    const { results } = seen.test as { results: { metric_results: MetricResult[] } };
    const outcomes = results.metric_results.map(({ metric, passed }) => [metric.params.operator, passed]);
    const statistics = Array.from({ length: seen.statistics as number });
    expect(statistics).toHaveLength(14);
    expect(outcomes).toEqual([
      ...Object.entries({ eq: false, gt: true, ge: true, lt: false, le: false, ne: true }).flatMap(
        (outcome) => statistics.map(() => outcome),
      ),
      ['gt', false],
    ]);
    expect(results.metric_results[0]?.statistics).toMatchObject({
      control: side('baseline', 4),
      candidate: side('candidate', 6),
    });
    expect(results.metric_results.at(-1)?.statistics).toMatchObject({
      candidate: { distribution_summary_statistics: { count: 0, mean: 0 } },
    });
    expectRuns(
      seen.runs,
      [['baseline', 2] as const, ['candidate', 3] as const].flatMap(([instance, factor]) =>
        inputs.map((input, at) =>
          expectedRun('py-first', 'batch-first', { instance, input, value: factor * (at + 1) }),
        ),
      ),
    );
  });
});
