/** Publishing an app, subscribing to it, running it, and every way in which either side ends that. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, nodeApp, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { type AccountServer, createAccountServer } from '../../testing/servers/account-server.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const PATH = '/v1/marketplace';

const createAccount = () => createAccountServer(server);

/** Pushes a new executable, names it, and publishes it as a version of the app. */
async function publishVersion(partner: AccountServer, app: string, version: string): Promise<TestResponse> {
  await pushApp(partner, app, nodeApp(`() => ({ solution: '${version}' })`));
  const body = { id: `own-${version}`, name: `Own ${version}` };
  await partner.client.call('createVersion', { params: { application_id: app }, body });
  return partner.request('POST', `${PATH}/partners/${partner.accountId}/apps/${app}/versions`, {
    body: { id: version, ref_app_version_id: body.id, change_log: [`Change of ${version}`] },
  });
}

const setState = (partner: AccountServer, app: string, state: string) =>
  partner.request('PUT', `${PATH}/partners/${partner.accountId}/apps/${app}`, { body: { state } });

/** Publishes an application of a new account under a new id. */
async function publish(): Promise<{ partner: AccountServer; app: string; subscription: string }> {
  const partner = await createAccount();
  const app = uniqueId('quay');
  await partner.client.call('createApplication', { body: { id: app, name: 'Quay planning' } });
  const created = await partner.request('POST', `${PATH}/partners/${partner.accountId}/apps`, {
    body: { id: app, ref_app_id: app, title: 'Quay planning', categories: ['ports'] },
  });
  expectStatus(created, 201);
  expectStatus(await publishVersion(partner, app, 'v1'), 201);
  expectStatus(await setState(partner, app, 'released'), 200);
  return { partner, app, subscription: `${partner.accountId}-${app}` };
}

const subscribe = (account: AccountServer, subscription_id: string) =>
  account.request('POST', `${PATH}/subscriptions`, { body: { subscription_id } });

/** Publishes an app and subscribes to it. */
async function publishAndSubscribe() {
  const published = await publish();
  const subscriber = await createAccount();
  expectStatus(await subscribe(subscriber, published.subscription), 201);
  return { ...published, subscriber };
}

async function runApp(account: AccountServer, app: string, instance?: string): Promise<unknown> {
  const options = { input: {}, ...(instance === undefined ? {} : { instance }) };
  const run = await createRun(account, app, options);
  expect((await waitForRunEnd(account, app, run)).status_v2).toBe('succeeded');
  const { body } = await account.request('GET', `/v1/applications/${app}/runs/${run}`);
  return (body as { output: { solution: unknown } }).output.solution;
}

const tryRun = (account: AccountServer, app: string) =>
  account.request('POST', `/v1/applications/${app}/runs`, { body: { input: {} } });

/** Returns the entries about subscriptions that the server wrote into the audit log of the account, oldest first. */
async function listSubscriptionEntries(account: AccountServer): Promise<string[]> {
  const { body } = await account.request('GET', '/v1/account/audit');
  const { items } = body as { items: { operation: string }[] };
  return items
    .map((entry) => entry.operation)
    .filter((operation) => operation.startsWith('subscri'))
    .reverse();
}

describe('a published app', () => {
  test('is seen by its partner alone until it is released, and cannot be released without a version', async () => {
    const partner = await createAccount();
    const other = await createAccount();
    const app = uniqueId('quay');
    await partner.client.call('createApplication', { body: { id: app, name: 'Quay planning' } });
    const apps = `${PATH}/partners/${partner.accountId}/apps`;
    const body = { id: app, ref_app_id: app, title: 'Quay planning', description: 'Any' };
    expectStatus(await partner.request('POST', apps, { body }), 201);
    expectError(await setState(partner, app, 'released'), 400, 'no version');
    expectStatus(await publishVersion(partner, app, 'v1'), 201);
    expectError(await subscribe(other, `${partner.accountId}-${app}`), 400, 'released');
    expectError(await other.request('GET', `${apps}/${app}`), 404);
    expectError(await other.request('GET', apps), 404, partner.accountId);
    expect((await partner.request('GET', apps)).body).toMatchObject([{ id: app, state: 'pre-release' }]);

    expectStatus(await setState(partner, app, 'released'), 200);
    const seen = (await other.request('GET', `${apps}/${app}`)).body;
    expect(seen).toMatchObject({
      ...{ id: app, partner_id: partner.accountId, partner_name: 'Another account', title: 'Quay planning' },
      ...{ state: 'released', ref_app_id: null, latest_versions: ['v1'], categories: [], features: [] },
    });
    expect((await other.request('GET', apps)).body).toEqual([seen]);
    expect((await other.request('GET', `${PATH}/apps`)).body).toContainEqual(seen);
    expect((await partner.request('GET', `${apps}/${app}`)).body).toEqual({
      ...(seen as object),
      ...{ ref_app_id: app, worker_tokens: [] },
    });
    const versions = await other.request('GET', `${apps}/${app}/versions`);
    expect(versions.body).toMatchObject([
      { id: 'v1', ref_app_version_id: null, change_log: ['Change of v1'] },
    ]);
    expectError(await setState(partner, app, 'pre-release'), 400, 'Retract');
  });

  test('refuses wrong requests of its partner', async () => {
    const { partner, app, subscription } = await publish();
    const other = await createAccount();
    const apps = `${PATH}/partners/${partner.accountId}/apps`;
    const body = { id: app, ref_app_id: app, title: 'Quay planning' };
    expectError(await partner.request('POST', apps, { body }), 400, 'already');
    expectError(await partner.request('POST', apps, { body: { ...body, id: 'other' } }), 400, 'already');
    expectError(await other.request('POST', apps, { body }), 404, other.accountId);
    const versions = `${apps}/${app}/versions`;
    const unknown = { id: 'v2', ref_app_version_id: 'unknown' };
    expectError(await partner.request('POST', versions, { body: unknown }), 400, 'unknown');
    const again = { id: 'v1', ref_app_version_id: 'own-v1' };
    expectError(await partner.request('POST', versions, { body: again }), 400, 'v1');
    expectError(await subscribe(partner, subscription), 400, 'your own account');
    const version = `/v1/applications/${app}/versions/own-v1`;
    expectError(await partner.request('DELETE', version), 400, 'published in the marketplace');
    const changed = await partner.request('PUT', `${versions}/v1`, { body: { change_log: ['New words'] } });
    expect(changed.body).toMatchObject({ id: 'v1', change_log: ['New words'], ref_app_version_id: 'own-v1' });
  });
});

describe('a subscription', () => {
  test('gives an application that runs the newest version, or the version of an instance', async () => {
    const { partner, app, subscription, subscriber } = await publishAndSubscribe();
    const seen = (await subscriber.request('GET', `${PATH}/subscriptions/${subscription}`)).body;
    expect(seen).toMatchObject({
      ...{ subscription_id: subscription, partner_name: 'Another account', app_title: 'Quay planning' },
      ...{ application_id: app, application_name: 'Quay planning', state: 'active' },
    });
    expect((await subscriber.request('GET', `${PATH}/subscriptions`)).body).toEqual([seen]);
    const application = (await subscriber.request('GET', `/v1/applications/${app}`)).body;
    expect(application).toMatchObject({ type: 'subscription', subscription_id: subscription });
    expect(await runApp(subscriber, app)).toBe('v1');
    const params = { application_id: app };
    const instance = { id: 'stable', name: 'Stable', version_id: 'v1' };
    await subscriber.client.call('createInstance', { params, body: instance });

    expectStatus(await publishVersion(partner, app, 'v2'), 201);
    expect(await runApp(subscriber, app)).toBe('v2');
    expect(await runApp(subscriber, app, 'stable')).toBe('v1');
    const versions = (await subscriber.request('GET', `/v1/applications/${app}/versions`)).body;
    expect(versions).toMatchObject([
      { id: 'v2', description: 'Change of v2', executable: { user_email: '' } },
      { id: 'v1', description: 'Change of v1', executable: { user_email: '' } },
    ]);

    // The partner has neither the runs nor their usage.
    expect((await partner.client.call('listRuns', { params })).body.runs).toEqual([]);
    const runs = (await subscriber.client.call('listRuns', { params })).body.runs;
    expect(runs).toHaveLength(3);
    const countRuns = async (account: AccountServer) =>
      (await account.client.call('getUsage', { query: {} })).body.total.runs;
    await expect.poll(() => countRuns(subscriber)).toBe(3);
    expect(await countRuns(partner)).toBe(0);
    expect(await listSubscriptionEntries(subscriber)).toEqual(['subscribedVersionAdded']);
    expect(await listSubscriptionEntries(partner)).toEqual(['subscriberAdded']);
  });

  test('gets another id where the account has the application already, and exists once', async () => {
    const { app, subscription } = await publish();
    const subscriber = await createAccount();
    await subscriber.client.call('createApplication', { body: { id: app, name: 'Own application' } });
    const created = await subscribe(subscriber, subscription);
    expectStatus(created, 201);
    const { application_id } = created.body as { application_id: string };
    expect(application_id).toMatch(new RegExp(`^${app}-[a-z0-9]+$`));
    expect(await runApp(subscriber, application_id)).toBe('v1');
    expectError(await subscribe(subscriber, subscription), 400, application_id);
    const both = await createAccount();
    const responses = await Promise.all([subscribe(both, subscription), subscribe(both, subscription)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400]);
  });

  test('has a version that is published at the same moment', async () => {
    const { partner, app, subscription } = await publish();
    const subscribers = await Promise.all([createAccount(), createAccount(), createAccount()]);
    const [published, ...subscribed] = await Promise.all([
      publishVersion(partner, app, 'v2'),
      ...subscribers.map((subscriber) => subscribe(subscriber, subscription)),
    ]);
    for (const response of [published, ...subscribed]) expectStatus(response, 201);
    for (const subscriber of subscribers) {
      const versions = await subscriber.request('GET', `/v1/applications/${app}/versions`);
      expect(versions.body).toMatchObject([{ id: 'v2' }, { id: 'v1' }]);
      expect(await runApp(subscriber, app)).toBe('v2');
    }
  });

  test('counts the runs of the subscriber against the quota of the subscriber', async () => {
    const { app, subscriber, partner } = await publishAndSubscribe();
    const none = { concurrent_runs: null, core_hours_per_month: 0 };
    await partner.client.call('setQuotas', { body: none });
    expect(await runApp(subscriber, app)).toBe('v1');
    await subscriber.client.call('setQuotas', { body: none });
    expectError(await tryRun(subscriber, app), 403, 'quota');
  });
});

describe('runs of a subscriber are readable, and new ones are refused,', () => {
  /** Expects that the finished run is readable, and that no new one is created. */
  async function expectReadOnly(subscriber: AccountServer, app: string, words: string): Promise<void> {
    const params = { application_id: app };
    const { runs } = (await subscriber.client.call('listRuns', { params })).body;
    expect(runs).toHaveLength(1);
    const read = await subscriber.request('GET', `/v1/applications/${app}/runs/${runs[0]?.id}`);
    expect(read.body).toMatchObject({ output: { solution: 'v1' } });
    expectError(await tryRun(subscriber, app), 400, words);
    const replay = `/v1/applications/${app}/runs/${runs[0]?.id}/replay`;
    expectError(await subscriber.request('POST', replay, { body: {} }), 400, words);
  }

  test('after a retraction, which a new release ends', async () => {
    const { partner, app, subscription, subscriber } = await publishAndSubscribe();
    expect(await runApp(subscriber, app)).toBe('v1');
    expectStatus(await setState(partner, app, 'retracted'), 200);
    await expectReadOnly(subscriber, app, 'retracted');
    const seen = await subscriber.request('GET', `${PATH}/subscriptions/${subscription}`);
    expect(seen.body).toMatchObject({ state: 'retracted' });
    expectStatus(await subscriber.request('GET', `${PATH}/partners/${partner.accountId}/apps/${app}`), 200);
    expectError(await subscribe(await createAccount(), subscription), 400, 'released');
    expectStatus(await publishVersion(partner, app, 'v2'), 201);

    expectStatus(await setState(partner, app, 'released'), 200);
    expect(await runApp(subscriber, app)).toBe('v2');
    expect(await listSubscriptionEntries(subscriber)).toEqual([
      'subscriptionRetracted',
      'subscribedVersionAdded',
      'subscriptionReleased',
    ]);
  });

  test('after the end of the subscription, which a new subscription renews', async () => {
    const { partner, app, subscription, subscriber } = await publishAndSubscribe();
    expect(await runApp(subscriber, app)).toBe('v1');
    expectStatus(await subscriber.request('DELETE', `${PATH}/subscriptions/${subscription}`), 204);
    await expectReadOnly(subscriber, app, 'ended the subscription');
    expectError(await subscriber.request('GET', `${PATH}/subscriptions/${subscription}`), 404);
    expectError(await subscriber.request('DELETE', `${PATH}/subscriptions/${subscription}`), 404);
    expect((await subscriber.request('GET', `${PATH}/subscriptions`)).body).toEqual([]);
    expectStatus(await publishVersion(partner, app, 'v2'), 201);
    const versions = `/v1/applications/${app}/versions`;
    expect((await subscriber.request('GET', versions)).body).toMatchObject([{ id: 'v1' }]);

    const renewed = await subscribe(subscriber, subscription);
    expect(renewed.body).toMatchObject({ application_id: app, state: 'active' });
    expect(await runApp(subscriber, app)).toBe('v2');
    const entries = ['subscriberAdded', 'subscriberRemoved', 'subscriberAdded'];
    expect(await listSubscriptionEntries(partner)).toEqual(entries);
  });

  test('after the deletion of the published application', async () => {
    const { partner, app, subscription, subscriber } = await publishAndSubscribe();
    expect(await runApp(subscriber, app)).toBe('v1');
    expectStatus(await partner.request('DELETE', `/v1/applications/${app}`), 204);
    await expectReadOnly(subscriber, app, 'deleted the app');
    expectError(await subscriber.request('GET', `${PATH}/partners/${partner.accountId}/apps/${app}`), 404);
    const seen = await subscriber.request('GET', `${PATH}/subscriptions/${subscription}`);
    expect(seen.body).toMatchObject({ state: 'ended', app_title: 'Quay planning' });
    expect(await listSubscriptionEntries(subscriber)).toEqual(['subscriptionEnded']);
    expectStatus(await subscriber.request('DELETE', `${PATH}/subscriptions/${subscription}`), 204);
  });

  test('after the deletion of the account that published it', async () => {
    const { partner, app, subscription, subscriber } = await publishAndSubscribe();
    expect(await runApp(subscriber, app)).toBe('v1');
    expectStatus(await server.request('DELETE', `/v1/accounts/${partner.accountId}`), 204);
    await expectReadOnly(subscriber, app, 'deleted the app');
    const seen = await subscriber.request('GET', `${PATH}/subscriptions/${subscription}`);
    expect(seen.body).toMatchObject({ state: 'ended', partner_name: 'Another account' });
  });
});

test('the deletion of an application, or of the account of a subscriber, ends the subscription and removes its rows', async () => {
  const { partner, app, subscription, subscriber } = await publishAndSubscribe();
  const second = await createAccount();
  expectStatus(await subscribe(second, subscription), 201);
  expect(await runApp(second, app)).toBe('v1');
  expectStatus(await subscriber.request('DELETE', `/v1/applications/${app}`), 204);
  expect((await subscriber.request('GET', `${PATH}/subscriptions`)).body).toEqual([]);
  expectStatus(await server.request('DELETE', `/v1/accounts/${second.accountId}`), 204);
  const { read } = server.runningServer.database;
  const listRows = () =>
    read
      .selectFrom('subscriptions')
      .select('account_id')
      .where('subscription_id', '=', subscription)
      .execute();
  await expect.poll(listRows).toEqual([]);
  expect(await listSubscriptionEntries(partner)).toEqual([
    ...['subscriberAdded', 'subscriberAdded', 'subscriberRemoved', 'subscriberRemoved'],
  ]);
  // The archive is shared, and the partner still has it.
  expect(await runApp(partner, app)).toBe('v1');
  expectStatus(await subscribe(subscriber, subscription), 201);
  expect(await runApp(subscriber, app)).toBe('v1');
});
