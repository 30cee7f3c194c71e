/**
 * A subscriber tries every operation of the contract against its publisher: with the ids of the publisher, and with those ids
 * in the application of the subscription. Then it uses its own resources there. None reveals or changes anything of the
 * publisher. The last table says which operations a subscriber may do on the application of a subscription.
 */
import { hash } from 'node:crypto';
import type { Operation } from '@switchyard/contract/operation.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait, pushApp } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { createExperiments } from '../../testing/http/experiments.ts';
import { publishApp } from '../../testing/http/marketplace.ts';
import { VALID_BODIES } from '../../testing/http/valid-bodies.ts';
import { type AccountServer, createAccountServer } from '../../testing/servers/account-server.ts';
import { countPendingJobs, listRowsAndBlobs } from '../../testing/servers/orphan-rows.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/servers/test-server.ts';

/** Every value of the publisher that no response to a subscriber may have contains this. */
const MARK = 'treasure';
const PUBLISHED = 'planner';
const HIDDEN_OPTION = `${MARK}.weight`;
const OPTIONS = {
  items: [
    { name: 'seed', option_type: 'int', default: 1 },
    {
      name: HIDDEN_OPTION,
      option_type: 'string',
      default: `${MARK}-default`,
      ui: { hidden_from: ['operator' as const] },
    },
  ],
};
/** Returns its input; the comment is in the archive alone. */
const APP = {
  'main.mjs': `// ${MARK}-source
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
process.stdout.write(Buffer.concat(chunks));
`,
};
const RESULT = { statistics: { result: { value: 3, custom: { late: 1 } } } };

let server: TestServer;
let publisher: AccountServer;
let subscriber: AccountServer;
/** Ids of the publisher, and those of the subscriber in the application of the subscription. */
let publisherIds: Ids;
let subscriberIds: Ids;
let bodies: Partial<Record<OperationId, unknown>>;
let rowsBefore: string[];

type Ids = Record<string, string>;

beforeAll(async () => {
  server = await startTestServer();
  publisher = await createAccountServer(server);
  subscriber = await createAccountServer(server);
  const partner = publisher.accountId;
  await publisher.client.call('updateAccount', { body: { name: 'Publisher' } });
  await pushApp(publisher, 'origin', APP, { options: OPTIONS });
  const params = { application_id: 'origin' };
  for (const id of ['v1', 'unused'])
    await publisher.client.call('createVersion', { params, body: { id, name: `Version ${id}` } });
  const subscription_id = await publishApp(publisher, {
    ...{ id: PUBLISHED, application: 'origin', title: 'Planner' },
    versions: ['v1', 'unused'],
  });
  const subscribed = { body: { subscription_id } };
  expectStatus(await subscriber.request('POST', '/v1/marketplace/subscriptions', subscribed), 201);

  const shared = { partner_id: partner, marketplace_app_id: PUBLISHED, marketplace_version_id: 'v1' };
  const own = await createResources(publisher, 'origin', MARK);
  publisherIds = { ...own.ids, ...shared, subscription_id: 'none' };
  const subscribers = await createResources(subscriber, PUBLISHED, 'own');
  subscriberIds = { ...subscribers.ids, ...shared, subscription_id };
  bodies = { ...VALID_BODIES, ...subscribers.bodies, createSubscription: { subscription_id: 'unknown' } };
  await waitUntil('no job is pending', async () => (await countPendingJobs(server)) === 0);
  // Last, so that no event of the runs above waits for a receiver that does not exist.
  await createWebhook();
  rowsBefore = await listPublisherRows();
});
afterAll(() => server.close());

/** Returns the rows of the publisher that only the publisher may change. */
async function listPublisherRows(): Promise<string[]> {
  const { read } = server.runningServer.database;
  const query = read.selectFrom('applications').select('uid').where('account_id', '=', publisher.accountId);
  const uids = (await query.execute()).map(({ uid }) => uid);
  const rows = await listRowsAndBlobs(server);
  const owners = [publisher.accountId, ...uids];
  const isOwned = (row: string): boolean => owners.some((owner) => row.includes(owner));
  // A subscription and its application name the publisher, and belong to the subscriber.
  const isSubscribed = (row: string): boolean =>
    row.startsWith('subscriptions ') || row.includes('"type":"subscription"');
  return rows
    .filter((row) => isOwned(row) && !isSubscribed(row))
    .map((row) => `${row.slice(0, 60)} ${hash('sha256', row)}`);
}

/** Creates a resource of every kind in the application, whose texts contain the mark. */
async function createResources(on: AccountServer, application_id: string, mark: string) {
  const params = { application_id };
  const instance = {
    id: 'i1',
    name: 'Instance one',
    version_id: 'v1',
    configuration: mark === MARK ? { options: { [HIDDEN_OPTION]: `${mark}-option` } } : {},
  };
  await on.client.call('createInstance', { params, body: instance });
  const assets = [{ name: 'map', content: [mark], visual: { schema: 'geojson', label: 'Map' } }];
  const run = await createRunAndWait(on, application_id, {
    instance: 'i1',
    input: { a: mark, assets, ...RESULT },
    body: { name: `Run of ${mark}` },
  });
  const created = await createExperiments(on, application_id, run.id);
  const at = { params: { ...params, run_id: run.id } };
  const share = (await on.client.call('createShare', { ...at, body: { parts: ['output'] } })).body;
  const version = (await on.client.call('getVersion', { params: { ...params, version_id: 'v1' } })).body;
  const ids: Ids = {
    ...{ application_id, run_id: run.id, version_id: 'unused', instance_id: 'i1', input_id: 'monday' },
    ...{ input_set_id: 'peaks', ensemble_id: 'best', shadow_id: 'shadow', switchback_id: 'switchback' },
    ...{ batch_id: 'faster', acceptance_id: 'accepted', bisect_id: 'dearer', share_id: share.id },
    ...{ executable_id: version.executable.id, organization_id: on.accountId },
    asset_id: (await on.client.call('listRunAssets', at)).body.items[0]?.id ?? '',
    view_id: (await on.client.call('createRunView', { params, body: { name: `View ${mark}`, table: {} } }))
      .body.id,
    ...(await createAccountResources(on, mark)),
  };
  if (mark === MARK) await createPublisherSecrets(on, application_id, ids);
  return { ids, bodies: created };
}

/** Creates a webhook of the publisher that receives nothing. */
async function createWebhook(): Promise<void> {
  const webhook = {
    id: 'hook',
    event_types: ['run.status' as const],
    endpoint_url: 'http://127.0.0.1:9/hook',
    description: `Hook of ${MARK}`,
  };
  await publisher.client.call('createWebhook', { body: webhook });
}

/** Creates a member and a key, which belong to the account and not to an application. */
async function createAccountResources(on: AccountServer, mark: string): Promise<Ids> {
  const person = { email: `${mark}@example.com`, role: 'viewer' } as const;
  const member = (await on.client.call('inviteMember', { body: person })).body;
  const key = (await on.client.call('createKey', { body: { name: `Key of ${mark}`, role: 'viewer' } })).body;
  return { ...(mark === MARK ? { webhook_id: 'hook' } : {}), member_id: member.id, key_id: key.id };
}

/** A subscriber cannot create a collection of secrets, nor see the files of the executable. */
async function createPublisherSecrets(on: AccountServer, application_id: string, ids: Ids): Promise<void> {
  const secrets = [{ type: 'env' as const, location: 'KEY', value: `${MARK}-secret` }];
  const params = { application_id };
  const collection = { id: 'keys', name: 'Keys', secrets };
  await on.client.call('createSecretsCollection', { params, body: collection });
  const at = { params: { ...params, executable_id: ids.executable_id ?? '' } };
  const { files } = (await on.client.call('listExecutableFiles', at)).body;
  Object.assign(ids, { collection_id: 'keys', sha256: files[0]?.sha256 ?? '' });
}

const declared: readonly Operation[] = Object.values(operations);
/** Operations with an id in the path that need a token. */
const withIds = declared.filter(({ path, right }) => path.includes('{') && right !== 'public');
const inApplication = withIds.filter(({ path }) => path.startsWith('/v1/applications/{application_id}'));

function send(operation: Operation, ids: Ids): Promise<TestResponse> {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'missing');
  const body = bodies[operation.id as OperationId];
  const query = operation.id === 'searchLogs' || operation.id === 'searchRunLog' ? '?text=a' : '';
  return subscriber.request(operation.method, path + query, body === undefined ? {} : { body });
}

/** Expects that the response has no value of the publisher. */
function expectNoMark(response: TestResponse): void {
  expect(response.text).not.toContain(MARK);
}

/** One comparison for each way: a row of the publisher that any request has changed fails it. */
const expectUnchanged = async () => expect(await listPublisherRows()).toEqual(rowsBefore);

/** Operations of the marketplace that show a released app to every account. */
const VISIBLE_TO_ALL = [
  'listPartnerApps',
  'getMarketplaceApp',
  'listMarketplaceVersions',
  'getMarketplaceVersion',
];

describe('with the ids of the publisher', () => {
  afterAll(expectUnchanged);

  test.each(withIds)('$id', async (operation) => {
    const response = await send(operation, publisherIds);
    // Workers belong to the server.
    const isOfServer = operation.right === 'server' || 'worker_id' in (operation.params?.properties ?? {});
    const expected = isOfServer ? [403] : [404];
    expect(VISIBLE_TO_ALL.includes(operation.id) ? [200] : expected, response.text).toContain(
      response.status,
    );
    expectNoMark(response);
  });
});

describe('with the ids of the publisher in the application of the subscription', () => {
  afterAll(expectUnchanged);

  test.each(inApplication.filter(({ path }) => /\{application_id\}.*\{/.test(path)))(
    '$id',
    async (operation) => {
      const onlyPublisher = Object.entries(publisherIds).filter(([name, id]) => subscriberIds[name] !== id);
      const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
      const foreign = Object.fromEntries(onlyPublisher.filter(([name]) => names.includes(name)));
      const ids = { ...publisherIds, ...foreign, application_id: PUBLISHED };
      // Ids that both have, such as that of an instance, name the resource of the subscriber.
      const isForeign = names.some((name) => name !== 'application_id' && name in foreign);
      if (!isForeign) return;
      const response = await send(operation, ids);
      const refused = operation.id in REFUSED ? [REFUSED[operation.id], 404] : [404];
      expect(refused, response.text).toContain(response.status);
      expectNoMark(response);
    },
  );
});

/** The statuses of operations that change or show the program, and every operation that needs a secrets collection. */
const REFUSED: Readonly<Record<string, number>> = {
  getBinaryUpload: 400,
  activateBinary: 400,
  listExecutableFiles: 404,
  getExecutableFile: 404,
  trustHtmlAssets: 400,
  createVersion: 400,
  updateVersion: 400,
  deleteVersion: 400,
  createSecretsCollection: 400,
  getSecretsCollection: 404,
  updateSecretsCollection: 404,
  patchSecretsCollection: 404,
  deleteSecretsCollection: 404,
};

/** Deletions run last, and containers after their contents. */
const LAST = [
  ...['deleteRunView', 'revokeShare', 'deleteAcceptanceTest', 'deleteBisectExperiment', 'deleteEnsemble'],
  ...['deleteShadowTest', 'deleteSwitchbackTest', 'deleteBatchExperiment', 'deleteInputSet', 'deleteInput'],
  ...['deleteRun', 'deleteInstance', 'deleteApplication'],
];

describe('on the application of the subscription', () => {
  afterAll(expectUnchanged);

  const ordered = [...inApplication].sort((a, b) => LAST.indexOf(a.id) - LAST.indexOf(b.id));

  test.each(ordered)('$id', async (operation) => {
    const ids = operation.id === 'getRunEnsemble' ? await createEnsembleRun() : subscriberIds;
    const response = await send(operation, ids);
    const refused = REFUSED[operation.id];
    if (refused === undefined) expect(response.status, response.text).toBeLessThan(400);
    else expectStatus(response, refused);
    expectNoMark(response);
  });

  async function createEnsembleRun(): Promise<Ids> {
    const configuration = { run_type: { type: 'ensemble', definition_id: 'best' } };
    const { id } = await createRunAndWait(subscriber, PUBLISHED, { input: {}, body: { configuration } });
    return { ...subscriberIds, run_id: id };
  }
});

describe('a subscriber cannot exchange files with the program:', () => {
  let own: AccountServer;
  beforeAll(async () => {
    own = await createAccountServer(server);
    const body = { subscription_id: `${publisher.accountId}-${PUBLISHED}` };
    expectStatus(await own.request('POST', '/v1/marketplace/subscriptions', { body }), 201);
  });

  test.each([
    ['the input', { input: { type: 'csv-archive' } }],
    ['the input', { input: { type: 'multi-file' } }],
    ['the output', { output: { type: 'csv-archive' } }],
    ['the output', { output: { type: 'multi-file' } }],
  ])('an archive as %s that the manifest does not name, %j', async (_, format) => {
    const path = `/v1/applications/${PUBLISHED}`;
    const body = { input: {}, configuration: { format } };
    expectError(await own.request('POST', `${path}/runs`, { body }), 400, 'does not use');
    // The same by an instance.
    const instance = { id: uniqueId('files'), name: 'Files', version_id: 'v1', configuration: { format } };
    expectStatus(await own.request('POST', `${path}/instances`, { body: instance }), 201);
    const run = await own.request('POST', `${path}/runs?instance_id=${instance.id}`, { body: { input: {} } });
    expectError(run, 400, 'does not use');
  });

  test.each(['env', 'file'])('secrets of the type %s are refused', async (type) => {
    const secrets = [{ type, location: type === 'env' ? 'NODE_OPTIONS' : 'main.mjs', value: 'any' }];
    const path = `/v1/applications/${PUBLISHED}/secrets`;
    const body = { name: 'Any name', secrets };
    expectError(await own.request('POST', path, { body }), 400, 'give it secrets');
  });
});

describe('without ids', () => {
  afterAll(expectUnchanged);

  const plain = declared.filter(
    ({ method, path, right }) => method === 'GET' && !path.includes('{') && right !== 'public',
  );
  test.each(plain)('$id', async (operation) => {
    const response = await send(operation, {});
    expectNoMark(response);
  });
});
