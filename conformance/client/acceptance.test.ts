/** The published Python client and acceptance tests, as seen by the client's own models; see client.test.ts. */
import { describe, expect, test } from 'vitest';
import { startClientDriver } from './client-driver.ts';
import { openPublishedClient } from './published-client.ts';

const client = await openPublishedClient();
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

// client.test.ts reports a missing client once.
describe.skipIf(typeof client === 'string')('the published client', () => {
  const { runPart: drive } = startClientDriver(client);

  test('creates acceptance tests with their batch, waits for them, finds, updates and deletes them', async () => {
    const seen = await drive('acceptance_tests');
    const metric = (operator: string, statistic: string, type = '', value = 0) => ({
      field: 'result.value',
      metric_type: 'direct-comparison',
      params: { operator, tolerance: { type, value } },
      statistic,
    });
    const greater = metric('gt', 'mean');
    const within = metric('le', 'p95', 'relative', 0.1);
    // The values are 1, 2 and 3 times the factor: 2 of the baseline, 3 of the candidate.
    const side = (instance_id: string, factor: number) => ({
      instance_id,
      version_id: 'v1',
      number_of_runs_total: 3,
      distribution_summary_statistics: {
        min: factor,
        max: 3 * factor,
        count: 3,
        mean: 2 * factor,
        std: factor,
        shifted_geometric_mean: expect.closeTo(
          ((10 + factor) * (10 + 2 * factor) * (10 + 3 * factor)) ** (1 / 3) - 10,
          8,
        ),
        shift_parameter: 10,
      },
      distribution_percentiles: expect.objectContaining({ p50: 2 * factor, p75: 2.5 * factor }),
    });
    const statistics = { control: side('baseline', 2), candidate: side('candidate', 3) };
    const first = { metric: greater, passed: true, statistics };
    const withSet = {
      id: 'on-a-set',
      name: 'On a set',
      description: 'Made with its batch in one step.',
      app_id: 'py-accept',
      experiment_id: 'on-a-set',
      control: { instance_id: 'baseline', version_id: '' },
      candidate: { instance_id: 'candidate', version_id: '' },
      metrics: [greater, within],
      created_at: TIME,
      updated_at: TIME,
      status: 'completed',
      results: {
        passed: false,
        error: null,
        metric_results: [first, { metric: within, passed: false, statistics }],
      },
    };
    const { id } = seen.generated as { id: string };
    const generated = { ...withSet, id, experiment_id: id, name: id, description: '', metrics: [greater] };
    const bounded = metric('ge', 'mean', 'relative', 0.5);
    expect(seen).toMatchObject({
      with_set: withSet,
      generated: { ...generated, status: 'started', results: null },
      polled: { ...generated, results: { passed: true, error: null, metric_results: [first] } },
      without: expect.stringContaining('input_set_id must be defined'),
      listed: [id, 'on-a-set'],
      unpaged: [true, false],
      updated: { ...withSet, name: 'Renamed test', description: 'New words.' },
      get_after_delete: 404,
      // The client created the batch by a request of its own, so it stays.
      batch_after_delete: null,
      left: [id],
      // Three inputs are too few for a bound.
      non_inferiority: { id: 'non-inferiority', metrics: [bounded], results: { passed: false } },
      listed_with_non_inferiority: ['non-inferiority', id],
    });
  });

  test('B2: decides an acceptance test of an app that reports only metrics', async () => {
    const seen = await drive('acceptance_on_metrics');
    const side = (mean: number) => ({ distribution_summary_statistics: { count: 3, mean } });
    // The totals are 1, 2 and 3 times the factor: 2 of the baseline, 3 of the candidate.
    const decided = { passed: true, statistics: { control: side(4), candidate: side(6) } };
    const indicators = [
      { name: 'total', value: 2 },
      { name: 'count', value: 1 },
    ];
    expect(seen).toMatchObject({
      test: { status: 'completed', results: { passed: true, metric_results: [decided, decided] } },
      run: { statistics: { status: 'success', indicators }, metrics: { status: 'success', indicators } },
    });
  });
});
