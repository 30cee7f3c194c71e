/**
 * The life cycle of one application through the published Python client, in the order of the client's own integration
 * test. Unlike the other tests of the client, it runs on both databases.
 */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startTestServer } from '../../server/testing/servers/test-server.ts';
import { openPublishedClient } from './published-client.ts';

const client = await openPublishedClient();
const RENAMED = ['New name', 'A new description of it.'];
const VALUE = 2 * 6378;

// client.test.ts reports a missing client once.
describe.skipIf(typeof client === 'string')('the published client', () => {
  test('C1: runs its integration sequence, which deletes the version before its instances', async () => {
    if (typeof client === 'string') throw new Error(client);
    await using server = await startTestServer();
    await using session = client.startSession(server);
    const seen = await session.runDriver(join(import.meta.dirname, 'sequence-driver.py'), 'sequence');
    const run = { status: 'succeeded', input: true, log: 'greeting world\ndone\n', details: true };
    const live = { listed: true, updated: RENAMED, has_runs: true };
    expect(seen).toEqual({
      exists: true,
      app: RENAMED,
      apps: ['sequence'],
      versions: true,
      version: RENAMED,
      version_exists: [true, false],
      instances: true,
      instance: RENAMED,
      instance_exists: [true, false],
      runs: [run, run, run, run, { ...run, log: 'done\n', details: false }],
      listed_runs: true,
      canceled: 'canceled',
      input_sets: true,
      input_set: RENAMED,
      scenario_runs: 5,
      scenario_tests: true,
      scenario_test: RENAMED,
      shadow: { ...live, statuses: ['draft', 'started', 'completed'] },
      switchback: { ...live, statuses: ['draft', 'started', 'completed'] },
      acceptance: { passed: true, means: [VALUE, VALUE], listed: true, updated: RENAMED },
      secret: 'two lefts',
      collections: true,
      collection: RENAMED,
      ensembles: true,
      ensemble: RENAMED,
      delete_in_use: 400,
      after_delete: 404,
    });
  });
});
