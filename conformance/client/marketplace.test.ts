/** Accounts and the marketplace in the models of the published client, and by its command line. */
import { describe, expect, test } from 'vitest';
import { createVersion } from '../../server/testing/fixtures/resources.ts';
import { publishApp } from '../../server/testing/http/marketplace.ts';
import { createAccountServer } from '../../server/testing/servers/account-server.ts';
import { startClientDriver } from './client-driver.ts';
import { openPublishedClient } from './published-client.ts';

const client = await openPublishedClient();
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

// Skipped where the client cannot be installed.
describe.skipIf(typeof client === 'string')('the published client', () => {
  const driven = startClientDriver(client);

  test('creates, reads, renames and deletes accounts, and reads the queue', async () => {
    const seen = await driven.runPart('accounts');
    const made = {
      account_id: expect.any(String),
      name: 'Night shift',
      members: [{ email: 'sam@example.com', role: 'admin', pending_invite: true }],
    };
    expect(seen).toMatchObject({
      made,
      got: made,
      updated: { ...made, name: 'Day shift' },
      own: { name: 'Main account', members: [{ role: 'root', pending_invite: false }] },
      queue: [seen.run],
      get_after_delete: 404,
    });
  });

  test('publishes an app, and another account subscribes to it and runs it', async () => {
    const seen = await driven.runPart('marketplace');
    const { partner } = seen;
    const subscription = `${partner}-multiplier`;
    const offered = {
      ...{ app_id: 'multiplier', partner_id: partner, title: 'Multiplier', state: 'pre-release' },
      ...{ reference_app_id: 'py-offer', description: 'Multiplies numbers.', categories: ['numbers'] },
      ...{ features: ['fast'], latest_versions: [], created_at: TIME, updated_at: TIME },
    };
    const version = {
      version_id: 'v1',
      app_id: 'multiplier',
      partner_id: partner,
      change_log: ['First version'],
    };
    const solution = { numbers: [15] };
    expect(seen).toMatchObject({
      offered,
      version: { ...version, created_at: TIME, updated_at: TIME },
      released: { ...offered, state: 'released', latest_versions: ['v1'] },
      ...{ listed: ['multiplier'], of_partner: ['multiplier'] },
      seen: { title: 'Multiplier', state: 'released', latest_versions: ['v1'] },
      seen_versions: [{ ...version, change_log: ['Better words'] }],
      seen_version: { ...version, change_log: ['Better words'] },
      changed: ['Better words'],
      subscription: {
        subscription_id: subscription,
        partner_name: 'Main account',
        app_title: 'Multiplier',
        subscription_date: TIME,
      },
      ...{ type: 'subscription', app_subscription: subscription, output: { solution } },
      ...{ subscribed: [subscription], pushed: 400, left: [] },
      ...{ run_after_end: 400, output_after_end: { solution } },
    });
    expect(seen.seen).toHaveProperty('reference_app_id', null);
  });

  test('does the same by its command line', async () => {
    const partner = await createAccountServer(driven.server);
    const app = await createVersion(partner);
    const subscription = await publishApp(partner, {
      ...{ id: app, application: app, title: 'Echo' },
      versions: ['v1'],
    });
    const run = async (...args: string[]): Promise<string> => {
      const { exitCode, stdout, stderr } = await driven.session.runCommand(['cloud', ...args]);
      expect(exitCode, stdout + stderr).toBe(0);
      return stdout;
    };
    const { id } = (await driven.server.client.call('getAccount')).body;
    expect(JSON.parse(await run('account', 'get', '--account-id', id))).toMatchObject({ id });
    expect(await run('marketplace', 'app', 'list', '--partner-id', partner.accountId)).toContain('Echo');
    await run('marketplace', 'subscription', 'create', '--subscription-id', subscription);
    expect(await run('app', 'get', '--app-id', app)).toContain(subscription);
    await run('marketplace', 'subscription', 'delete', '--subscription-id', subscription, '--yes');
    expect(await run('marketplace', 'subscription', 'list')).not.toContain(subscription);
  });
});
