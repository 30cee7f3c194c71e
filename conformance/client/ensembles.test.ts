/** The published Python client and ensembles, as seen by the client's own models; see client.test.ts. */
import { describe, expect, test } from 'vitest';
import { startClientDriver } from './client-driver.ts';
import { openPublishedClient } from './published-client.ts';

const client = await openPublishedClient();
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

// client.test.ts reports a missing client once.
describe.skipIf(typeof client === 'string')('the published client', () => {
  const { runPart: drive } = startClientDriver(client);

  test('creates ensembles, runs one, and finds, updates and deletes them', async () => {
    const seen = await drive('ensembles');
    const made = {
      id: 'largest',
      application_id: 'py-ensembles',
      name: 'The largest',
      description: 'Of three.',
      run_groups: [
        { id: 'small', instance_id: 'latest', options: { factor: '2' }, repetitions: 1 },
        { id: 'large', instance_id: 'latest', options: { factor: '5' }, repetitions: 2 },
      ],
      rules: [
        {
          id: 'total',
          statistics_path: '$.result.value',
          objective: 'maximize',
          tolerance: { type: 'relative', value: 0.1 },
          index: 0,
        },
      ],
      created_at: TIME,
      updated_at: TIME,
    };
    const { id } = seen.generated as { id: string };
    const named = { id, name: id, description: id };
    expect(seen).toMatchObject({ made, generated: { ...made, ...named } });
    const renamed = { ...made, name: 'Renamed one' };
    expect(seen).toMatchObject({ updated: renamed, got: renamed, get_after_delete: 404 });
    expect(seen).toMatchObject({ listed: [id, 'largest'], unpaged: [id, 'largest'], left: [id] });

    const result = seen.result as { id: string };
    expect(result).toMatchObject({
      output: { solution: { numbers: [5, 10, 15] } },
      metadata: {
        status_v2: 'succeeded',
        run_type: { run_type: 'ensemble', definition_id: 'largest', reference_id: null },
      },
    });
    const ensemble = seen.ensemble as { child_runs: { id: string }[] };
    expect(ensemble).toMatchObject({
      id: result.id,
      rules_result: { best_run_id: ensemble.child_runs[1]?.id },
    });
    expect(seen.children).toHaveLength(3);
    for (const child of seen.children as object[])
      expect(child).toMatchObject({
        metadata: {
          status_v2: 'succeeded',
          run_type: { run_type: 'standard', definition_id: null, reference_id: result.id },
        },
      });
    // The client's list of runs contains the ensemble run and its child runs.
    expect((seen.runs as string[]).toSorted()).toEqual(
      [result.id, ...ensemble.child_runs.map((one) => one.id)].toSorted(),
    );
  });
});
