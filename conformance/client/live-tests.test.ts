/**
 * The published Python client with shadow and switchback tests, as seen by the client's own models; see client.test.ts.
 */
import { describe, expect, test } from 'vitest';
import { startClientDriver } from './client-driver.ts';
import { openPublishedClient } from './published-client.ts';

const client = await openPublishedClient();

// client.test.ts reports a missing client once.
describe.skipIf(typeof client === 'string')('the published client', () => {
  const { runPart: drive } = startClientDriver(client);

  test('creates, starts, polls, updates, stops and deletes shadow tests', async () => {
    const seen = await drive('shadow_tests');
    const comparisons = [{ baseline_instance_id: 'baseline', candidate_instance_ids: ['latest'] }];
    const [first = '', second = ''] = seen.originals as string[];
    const generated = (seen.generated as { shadow_test_id: string }).shadow_test_id;
    expect(seen).toMatchObject({
      made: {
        shadow_test_id: 'shadow',
        name: 'Shadow',
        status: 'draft',
        comparisons,
        termination_events: { maximum_runs: 2 },
      },
      generated: { name: generated, status: 'draft', start_events: { time: null } },
      updated: { name: 'Renamed', description: 'New words.', status: 'completed' },
      got: { name: 'Renamed', status: 'completed', completed_at: expect.any(String) },
      canceled: { status: 'canceled' },
      listed: [generated, 'shadow'],
      unpaged: [generated, 'shadow'],
      left: ['shadow'],
    });
    const got = seen.got as {
      runs: { id: string; application_instance_id: string; run_type: { reference_id: string | null } }[];
      grouped_distributional_summaries: { group_values: string[] }[];
    };
    const copies = got.runs.filter((run) => run.application_instance_id === 'latest');
    expect(copies.map((run) => run.run_type.reference_id).sort()).toEqual([first, second].sort());
    expect(
      got.runs
        .filter((run) => !copies.includes(run))
        .map((run) => run.id)
        .sort(),
    ).toEqual([first, second].sort());
    const groups = got.grouped_distributional_summaries.map((one) => one.group_values);
    expect(groups).toEqual(
      expect.arrayContaining([
        ['baseline', 'v1'],
        ['latest', ''],
      ]),
    );
  });

  test('creates, starts, reads, updates, stops and deletes switchback tests', async () => {
    const seen = await drive('switchback_tests');
    const [generated] = seen.generated as [string, number];
    const { plan } = seen.made as { plan: { units: { index: number; instance_id: string }[] } };
    expect(plan.units.map((unit) => unit.index)).toEqual([0, 1, 2, 3]);
    expect(seen).toMatchObject({
      made: {
        switchback_test_id: 'turns',
        name: 'Turns',
        status: 'draft',
        comparison: { baseline_instance_id: 'baseline', candidate_instance_id: 'latest' },
      },
      generated: [generated, 1000],
      got: {
        status: 'started',
        plan: { start: expect.any(String), units: plan.units },
        runs: [
          {
            id: seen.run,
            application_instance_id: plan.units[0]?.instance_id,
            experiment_id: 'turns',
          },
        ],
      },
      stopped: 'completed',
      updated: { name: 'Renamed', status: 'completed' },
      listed: [generated, 'turns'],
      unpaged: [generated, 'turns'],
      left: ['turns'],
    });
  });
});
