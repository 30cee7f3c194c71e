/** The published Python client, external runs and secrets, as seen by the client's own models; see client.test.ts. */
import { describe, expect, test } from 'vitest';
import { startClientDriver } from './client-driver.ts';
import { openPublishedClient } from './published-client.ts';

const client = await openPublishedClient();
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

// client.test.ts reports a missing client once.
describe.skipIf(typeof client === 'string')('the published client', () => {
  const { runPart: drive } = startClientDriver(client);

  test('tracks runs that were executed elsewhere, in an application without an executable', async () => {
    const seen = await drive('tracked');
    const external = { run_type: { run_type: 'external' } };
    expect(seen.done).toMatchObject({
      name: 'On my machine',
      description: 'Made elsewhere.',
      metadata: { ...external, status_v2: 'succeeded', duration: 5000, execution_duration: 5000 },
      output: { solution: { route: [1, 2, 3] } },
    });
    expect(seen.input).toEqual({ stops: 3 });
    // The client joins the lines of a list with a backslash and an n; the server stores them unchanged.
    expect(seen.logs).toBe('begun\\nfound');
    expect(seen.assets).toEqual([
      {
        id: expect.any(String),
        run_id: (seen.done as { id: string }).id,
        name: 'chart',
        created_at: TIME,
        size: '{"data":[1]}'.length,
        content_type: 'json',
        visual: expect.objectContaining({ visual_schema: 'plotly', label: 'Chart' }),
      },
    ]);
    expect(seen.chart).toEqual({ data: [1] });
    expect(seen.broken).toMatchObject({
      metadata: { ...external, status_v2: 'failed', error: 'There is no stop.', duration: 10 },
      error_log: { error: 'There is no stop.' },
    });
    expect(seen.files).toMatchObject({ metadata: { ...external, metrics: { cost: 4 }, duration: 7 } });
    expect(seen.file_assets).toEqual(['chart']);
    expect(seen.solutions).toEqual({ 'out.csv': 'c,d' });
    expect(seen.listed).toMatchObject([
      {
        status_v2: 'succeeded',
        statistics: {
          indicators: [
            { name: 'result.value', value: 3 },
            { name: 'cost', value: 4 },
          ],
        },
      },
      { status_v2: 'failed' },
      { status_v2: 'succeeded', statistics: { indicators: [{ name: 'result.value', value: 12 }] } },
    ]);
  });

  test('creates secrets, updates single ones, and runs get them', async () => {
    const seen = await drive('secrets');
    const summary = { collection_id: 'keys', application_id: 'py-secrets', name: 'Keys', description: '' };
    expect(seen).toMatchObject({
      made: summary,
      output: { key: 'open-sesame'.length, licence: 'line one' },
      renamed: { ...summary, name: 'Renamed keys' },
      kept: {
        name: 'Renamed keys',
        secrets: [
          { secret_type: 'env', location: 'API_KEY', value: 'open-sesame' },
          { secret_type: 'file', location: 'licence.txt', value: 'line one' },
          { secret_type: 'env', location: 'OTHER', value: 'new' },
        ],
      },
      replaced: { secrets: [{ secret_type: 'env', location: 'API_KEY', value: 'changed' }] },
      listed: ['keys'],
      after_delete: 404,
    });
    expect(seen.logs).toContain('the key is ***');
    expect(seen.logs).not.toContain('open-sesame');
  });

  test('runs managed inputs and repeats runs', async () => {
    const seen = await drive('repeated');
    const tracking = { input_id: 'numbers' };
    expect(seen).toMatchObject({
      first: { metadata: { tracking }, output: { solution: { numbers: [12, 14] } } },
      second: { metadata: { tracking }, output: { solution: { numbers: [12, 14] } } },
      clone: {
        metadata: { tracking: { ...tracking, cloned_run_id: (seen.first as { id: string }).id } },
        output: { solution: { numbers: [30, 35] } },
      },
    });
  });
});
