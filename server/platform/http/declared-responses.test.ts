/** Every operation responds as the published document declares: status, content type and schema of the body. */
import { readFileSync } from 'node:fs';
import { findFixedFields } from '@switchyard/contract/fixed-fields.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import { WORKER_PROTOCOL } from '@switchyard/contract/workers/worker-protocol.ts';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRunAndWait, packFiles } from '../../testing/fixtures/apps.ts';
import { startFakeAttempt } from '../../testing/fixtures/fake-worker.ts';
import { createInstance, createVersion, MANIFEST, uniqueId } from '../../testing/fixtures/resources.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { DeviceRequests } from '../../testing/http/device-authorizations.ts';
import { createExperiments } from '../../testing/http/experiments.ts';
import {
  ssoSettings,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../../testing/http/identity-provider.ts';
import { createMarketplaceResources, type MarketplaceResources } from '../../testing/http/marketplace.ts';
import { LAST } from '../../testing/http/operation-order.ts';
import { SECRET, VALID_BODIES } from '../../testing/http/valid-bodies.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../testing/http/webhook-receiver.ts';
import { createConsoleFolder } from '../../testing/servers/console-folder.ts';
import { countPendingJobs, listRowsAndBlobs } from '../../testing/servers/orphan-rows.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/servers/test-server.ts';
import { createWorkerToken } from '../../testing/servers/worker-process.ts';

interface Shape {
  $ref?: string;
  properties?: Record<string, Shape>;
  additionalProperties?: unknown;
  items?: Shape;
  anyOf?: Shape[];
}
type DocumentedResponses = Record<string, { $ref?: string; content?: Record<string, { schema: Shape }> }>;
const document = JSON.parse(
  readFileSync(new URL(import.meta.resolve('@switchyard/contract/openapi/cloud.json')), 'utf8'),
) as {
  paths: Record<string, Record<string, { responses: DocumentedResponses }>>;
  components: { schemas: Record<string, Shape>; responses: DocumentedResponses };
};
const ajv = addFormats.default(new Ajv({ strict: false })).addSchema({ $id: 'cloud', ...document });

let server: TestServer;
let receiver: WebhookReceiver;
let provider: TestIdentityProvider;
const WEBHOOK_FIELDS = {
  event_types: ['run.status' as const],
  endpoint_url: 'https://example.com/hook',
  description: 'Any text',
};
/** Values for the placeholders of paths. */
let ids: Record<string, string>;
let marketplace: MarketplaceResources;
let uploadUrl: string;
let downloadUrl: string;
/** Valid for one request. */
let invite: string;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  provider = await startIdentityProvider();
  using console = createConsoleFolder();
  server = await startTestServer({ env: ssoSettings(provider), console: console.path });
  const application_id = await createInstance(server);
  const run = await createRunAndWait(server, application_id, {
    instance: 'i1',
    // The app returns its input as its output, so the run has an asset.
    input: {
      a: 1,
      assets: [{ name: 'map', content: [], visual: { schema: 'geojson', label: 'Map' } }],
      statistics: { result: { value: 3, custom: { late: 'nan' } } },
    },
    body: { options: { b: 2 } },
  });
  const params = { application_id };
  await server.client.call('updateRunFlow', {
    params: { ...params, run_id: run.id },
    body: { pipeline_graph: { steps: [], nodes: [] } },
  });
  uploadUrl = (await server.client.call('createRunUpload', { params })).body.upload_url;
  const inputPath = `/v1/applications/${application_id}/runs/${run.id}/input?format=url`;
  const input = await server.request('GET', inputPath);
  downloadUrl = (input.body as { url: string }).url;
  const assets = await server.client.call('listRunAssets', { params: { ...params, run_id: run.id } });
  const { id: key_id } = await server.createKey('viewer');
  const person = { email: 'ada@example.com', role: 'viewer' } as const;
  const invited = (await server.client.call('inviteMember', { body: person })).body;
  invite = invited.invite;
  const body = { id: 'unused', name: 'Unused one' };
  const executable_id = (await server.client.call('createVersion', { params, body })).body.executable.id;
  const list = await server.client.call('listExecutableFiles', { params: { ...params, executable_id } });
  marketplace = await createMarketplaceResources(server, application_id);
  const collection = { id: 'keys', name: 'Any name', secrets: [SECRET] };
  await server.client.call('createSecretsCollection', { params, body: collection });
  Object.assign(BODIES, await createExperiments(server, application_id, run.id));
  ids = {
    application_id,
    run_id: run.id,
    asset_id: assets.body.items[0]?.id ?? '',
    version_id: 'unused',
    executable_id,
    sha256: list.body.files[0]?.sha256 ?? '',
    instance_id: 'i1',
    collection_id: 'keys',
    key_id,
    input_id: 'monday',
    input_set_id: 'peaks',
    ensemble_id: 'best',
    shadow_id: 'shadow',
    switchback_id: 'switchback',
    batch_id: 'faster',
    acceptance_id: 'accepted',
    bisect_id: 'dearer',
    member_id: invited.id,
    account_id: (await createOtherAccount(server)).id,
    organization_id: (await createOtherAccount(server)).id,
    webhook_id: 'hook',
    session_id: await createSession(),
    ...(await createShare(application_id, run.id)),
    ...marketplace.ids,
    view_id: (await server.client.call('createRunView', { params, body: { name: 'Saved', table: {} } })).body
      .id,
    conversation_id: await createConversation(),
    worker_id: (await server.client.call('getWorkers')).body.items[0]?.id ?? '',
    worker_token_id: (await createWorkerToken(server)).id,
  };
});

/** The headers of a request from the console. */
const fromConsole = () => ({ 'x-switchyard-console': '1', origin: server.url });

const devices = new DeviceRequests();
const createHeaders = (id: string): Record<string, string> => {
  if (id === 'appendUpload') return { 'upload-offset': '0' };
  return ['createSession', 'startSingleSignOn'].includes(id) ? fromConsole() : devices.headers;
};
/** They share a signed URL, of which the test of each requests its own. */
const UPLOAD_OPERATIONS = ['putUpload', 'getUpload', 'appendUpload'];

/** Returns the id of a session of the console. */
async function createSession(): Promise<string> {
  const response = await server.request('POST', '/v1/account/sessions', { body: {}, headers: fromConsole() });
  return (response.body as { id: string }).id;
}

/** Returns the id and the token of a share link of the run, and a part that it shows. */
async function createShare(application_id: string, run_id: string) {
  const request = { params: { application_id, run_id }, body: { parts: ['output' as const] } };
  const { id, url } = (await server.client.call('createShare', request)).body;
  return { share_id: id, share_token: url.split('/').at(-1) ?? '', part: 'output' };
}

/** Returns the id of a conversation with a webhook whose receiver responds. */
async function createConversation(): Promise<string> {
  const body = { id: 'hook', ...WEBHOOK_FIELDS, endpoint_url: receiver.url };
  await server.client.call('createWebhook', { body });
  await server.client.call('triggerEvent', { body: { event_type: 'run.status' } });
  return server.waitUntil('webhooks-told', async () => {
    const at = { params: { webhook_id: 'hook' } };
    return (await server.client.call('listWebhookConversations', at)).body.items[0]?.id;
  });
}

afterAll(async () => {
  await server.close();
  await receiver.close();
  await provider.close();
});

/** Returns the id of a finished run of the ensemble. */
async function createEnsembleRun(): Promise<string> {
  const configuration = { run_type: { type: 'ensemble', definition_id: 'best' } };
  const request = { input: {}, body: { configuration } };
  return (await createRunAndWait(server, ids.application_id ?? '', request)).id;
}

const resolve = (shape: Shape): Shape =>
  shape.$ref === undefined ? shape : (document.components.schemas[shape.$ref.split('/').at(-1) ?? ''] ?? {});

/** Returns the paths of the body's fields that the document does not declare. */
function findUndocumented(shape: Shape, value: unknown, where = ''): string[] {
  const { properties, additionalProperties, items, anyOf } = resolve(shape);
  if (Array.isArray(value)) {
    const each = items ?? anyOf?.map(resolve).find((one) => one.items)?.items;
    return each ? value.flatMap((one, index) => findUndocumented(each, one, `${where}[${index}]`)) : [];
  }
  const own = properties ?? anyOf?.map(resolve).find((one) => one.properties)?.properties;
  if (typeof value !== 'object' || value === null || !own || additionalProperties) return [];
  return Object.entries(value).flatMap(([name, one]) => {
    const inner = own[name];
    return inner ? findUndocumented(inner, one, `${where}.${name}`) : [`${where}.${name}`];
  });
}

/** Compares the response with the document. */
function expectAsDocumented(operation: Operation, response: TestResponse): void {
  const responses = document.paths[operation.path]?.[operation.method.toLowerCase()]?.responses ?? {};
  const reference = responses[String(response.status)];
  expect(reference, `${operation.id} responds ${response.status}: ${response.text}`).toBeDefined();
  const declared = reference?.$ref
    ? document.components.responses[reference.$ref.split('/').at(-1) ?? '']
    : reference;
  const [type, content] = Object.entries(declared?.content ?? {})[0] ?? [];
  if (type === undefined || content === undefined) {
    expect(response.text).toBe('');
    return;
  }
  const isContent = ['getDownload', 'getSharedContent'].includes(operation.id);
  if (!isContent) expect(response.headers.get('content-type')).toContain(type);
  if (type !== 'application/json') return;
  // B15: JSON of the server ends with a newline; content of callers is returned byte for byte.
  if (!['getRunInput', 'getDownload'].includes(operation.id)) expect(response.text).toMatch(/[}\]]\n$/);
  const validate = ajv.compile({
    ...(JSON.parse(JSON.stringify(content.schema).replaceAll('"#/', '"cloud#/')) as object),
  });
  expect(validate(response.body), `${response.text} ${JSON.stringify(validate.errors)}`).toBe(true);
  expect(findUndocumented(content.schema, response.body)).toEqual([]);
}

/** Deletes the bisect experiments that other tests of this file have created. */
async function endBisectExperiments(): Promise<void> {
  const params = { application_id: ids.application_id ?? '' };
  const { body } = await server.client.call('listBisectExperiments', { params });
  for (const { id } of Array.isArray(body) ? body : body.items)
    await server.client.call('deleteBisectExperiment', { params: { ...params, bisect_id: id } });
}

/** Uploads an archive for the next activation. */
async function uploadArchive(): Promise<void> {
  const params = { application_id: ids.application_id ?? '' };
  const { body } = await server.client.call('getBinaryUpload', { params });
  const archive = await packFiles({ 'app.yaml': MANIFEST, 'main.mjs': '' });
  await server.request('PUT', body.upload_url, { token: null, body: archive });
}

const BODIES = { ...VALID_BODIES };
const declared = (Object.values(operations) as Operation[]).sort(
  (a, b) => LAST.indexOf(a.id) - LAST.indexOf(b.id),
);

const formatUrl = (operation: Operation, values: Record<string, string>): string => {
  if (UPLOAD_OPERATIONS.includes(operation.id)) return uploadUrl;
  if (operation.id === 'getDownload') return downloadUrl;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'missing');
  if (operation.id === 'getCommunityFile') return `${path}?file=community-apps/manifest.yml`;
  if (operation.id === 'checkWorkerProtocol') return `${path}?protocol=${WORKER_PROTOCOL}`;
  if (operation.id === 'getDeviceAuthorization') return path + devices.query;
  if (operation.id === 'listApplicationSummaries') return `${path}?application_id=${values.application_id}`;
  if (operation.id === 'getSsoDomain') return `${path}?domain=example.com`;
  return operation.id === 'searchLogs' ? `${path}?text=a` : path;
};
const createBody = (id: string): unknown => {
  if (['putUpload', 'appendUpload', 'putAttemptFile'].includes(id)) return '{}';
  if (id === 'createSubscription') return { subscription_id: marketplace.subscriptions.pop() };
  if (id === 'createMarketplaceApp')
    return { id: 'another', title: 'Any title', ref_app_id: marketplace.unpublished };
  if (id === 'createWebhook') return { id: uniqueId('hook'), ...WEBHOOK_FIELDS };
  if (id === 'inviteMember') return { email: `${uniqueId('bob')}@example.com`, role: 'viewer' };
  return id === 'acceptInvite' ? { invite } : BODIES[id as OperationId];
};

describe('resources of others do not exist for a caller, and stay unchanged:', () => {
  const withIds = declared.filter(({ path, right }) => path.includes('{') && right !== 'public');
  let before: string[];
  let token: string;
  let otherApplication: string;
  beforeAll(async () => {
    token = (await createOtherAccount(server, 'admin')).token;
    otherApplication = await createVersion(server);
    // The runs of the acceptance test finish in the background and create webhook deliveries.
    await waitUntil('no job is pending', async () => (await countPendingJobs(server)) === 0);
    before = await listRowsAndBlobs(server);
  });
  afterAll(async () => expect(await listRowsAndBlobs(server)).toEqual(before));

  test.each(withIds)('another account, $id', async (operation) => {
    const request = { token, body: createBody(operation.id) };
    const response = await server.request(operation.method, formatUrl(operation, ids), request);
    // Workers belong to the server.
    const isOfServer = operation.right === 'server' || 'worker_id' in (operation.params?.properties ?? {});
    expect(response.status, response.text).toBe(isOfServer ? 403 : 404);
  });

  const inApplications = withIds.filter(({ path }) => /\{application_id\}.*\{/.test(path));
  test.each(inApplications)('another application, $id', async (operation) => {
    const there = { ...ids, application_id: otherApplication };
    const response = await server.request(operation.method, formatUrl(operation, there), {
      body: createBody(operation.id),
    });
    expect(response.status, response.text).toBe(404);
  });

  test.each<[string, string, (run: string, upload: string) => object]>([
    ['POST', 'runs', (_, upload_id) => ({ upload_id })],
    ['POST', 'runs', () => ({ input_id: 'monday' })],
    ['POST', 'runs', () => ({ input: {}, batch_experiment_id: 'faster' })],
    ['POST', 'runs', () => ({ input: {}, configuration: { secrets_collection_id: 'keys' } })],
    ['POST', 'runs', () => ({ configuration: { run_type: { type: 'ensemble', definition_id: 'best' } } })],
    ['POST', 'runs?instance_id=i1', () => ({ input: {} })],
    ['POST', 'runs', (_, output_upload_id) => ({ input: {}, result: { output_upload_id } })],
    ['POST', 'inputs', (run_id) => ({ run_id })],
    ['POST', 'inputs', (_, upload_id) => ({ upload_id })],
    ['POST', 'experiments/inputsets', (run) => ({ name: 'Any name', run_ids: [run] })],
    ['POST', 'instances', () => ({ name: 'Any name', version_id: 'unused' })],
    [
      'POST',
      'experiments/batch',
      () => ({ name: 'Any name', input_set_id: 'peaks', instance_ids: ['latest'] }),
    ],
    ['PUT', 'binary', (_, upload_id) => ({ upload_id, ...(BODIES.activateBinary as object) })],
    ['PUT', '', () => ({ default_instance: 'i1' })],
  ])('a body with the id of another application, %s %s (%#)', async (method, path, body) => {
    const upload = new URL(uploadUrl).pathname.split('/').at(-1) ?? '';
    const at = `/v1/applications/${otherApplication}${path === '' ? '' : `/${path}`}`;
    const response = await server.request(method, at, { body: body(ids.run_id ?? '', upload) });
    expect([400, 404], response.text).toContain(response.status);
  });
});

const updates = declared.filter((one) => findFixedFields(one, declared));
test.each(updates)('W16: $id accepts no other value of a field that it cannot change', async (operation) => {
  const fixed = findFixedFields(operation, declared);
  if (!fixed) return;
  const [url, readUrl] = [formatUrl(operation, ids), formatUrl(fixed.read, ids)];
  const before = await server.request('GET', readUrl);
  for (const name of [...fixed.inPath.keys(), ...fixed.visible, ...fixed.onlyCreated]) {
    const refused = await server.request(operation.method, url, { body: { [name]: 'another' } });
    expect(`${refused.status} ${refused.text}`).toContain(`${name} is \\"another\\"`);
  }
  const omitUrls = (body: unknown) => JSON.stringify(body).replaceAll(/"[^"]*\bexpires=[^"]*"/g, 'signed');
  expect(omitUrls((await server.request('GET', readUrl)).body)).toBe(omitUrls(before.body));
  if (['updateRun', 'patchSecretsCollection'].includes(operation.id)) return;
  expect((await server.request(operation.method, url, { body: before.body })).status).toBeLessThan(300);
});

describe.each(declared)('$id', (operation) => {
  // The runs that a worker executes are in the audit log by their creation.
  const isSilent = ['read', 'work'].includes(operation.right);
  const isEffect = operation.method === 'GET' ? operation.right === 'read-secrets' : !isSilent;
  /** Returns the audit entries of the operation. */
  const listEntries = () => {
    const entries = server.runningServer.database.read.selectFrom('audit_entries').select('id');
    return entries.where('operation', '=', operation.id).execute();
  };

  test('fails as documented, and writes no audit entry', async () => {
    const before = await listEntries();
    // A valid invite would succeed without a token.
    const body = operation.id === 'acceptInvite' ? { invite: 'any' } : createBody(operation.id);
    const responses = [
      await server.request(operation.method, formatUrl(operation, {}), {
        body: operation.body ? '{"name":1' : undefined,
        token: null,
      }),
      await server.request(operation.method, formatUrl(operation, {}), { body, token: 'rubbish' }),
      await server.request(operation.method, operation.path.replaceAll(/\{\w+\}/g, 'missing'), {
        body,
        headers: createHeaders(operation.id),
      }),
    ];
    if (UPLOAD_OPERATIONS.includes(operation.id)) return;
    for (const response of responses) expectAsDocumented(operation, response);
    // The last request may succeed when its path has no ids.
    const successes = isEffect ? responses.filter(({ status }) => status < 300) : [];
    expect(await listEntries()).toHaveLength(before.length + successes.length);
  });

  test('succeeds as documented, and writes one audit entry where it has an effect', async () => {
    if (operation.id === 'activateBinary') await uploadArchive();
    if (operation.tag === 'device-authorizations') await devices.prepare(server, operation.id, BODIES);
    // A bisect experiment of this file uses the version until it ends.
    if (operation.id === 'deleteVersion') await endBisectExperiments();
    if (UPLOAD_OPERATIONS.includes(operation.id)) {
      const params = { application_id: ids.application_id ?? '' };
      uploadUrl = (await server.client.call('createRunUpload', { params })).body.upload_url;
    }
    const shapes =
      operation.query && 'pagereturn' in operation.query.properties ? ['', '?pagereturn=true&limit=1'] : [''];
    const worker =
      operation.right === 'work' ? await startFakeAttempt(server, ids.application_id ?? '') : null;
    const before = await listEntries();
    const pathIds =
      operation.id === 'getRunEnsemble'
        ? { ...ids, run_id: await createEnsembleRun() }
        : { ...ids, ...worker?.ids };
    for (const query of shapes) {
      const response = await server.request(operation.method, formatUrl(operation, pathIds) + query, {
        body: createBody(operation.id),
        headers: createHeaders(operation.id),
        ...(worker ? { token: worker.token } : {}),
      });
      expect(response.status, response.text).toBeLessThan(300);
      expectAsDocumented(operation, response);
    }
    const entries = isEffect || operation.id === 'getSharedRun' ? 1 : 0;
    expect(await listEntries()).toHaveLength(before.length + entries);
  });
});
