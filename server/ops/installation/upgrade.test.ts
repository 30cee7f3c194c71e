/** Upgrades: data from the first release on is the same in the responses of this one, and a start on older data is refused. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPath } from '@switchyard/contract/client.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';
import { isExperimentTerminal, isTerminal } from '@switchyard/contract/states.ts';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createDatabase, dropDatabase } from '../../testing/database/postgres-server.ts';
import { createRun, pushApp } from '../../testing/fixtures/apps.ts';
import { ARITHMETIC_APP, ARITHMETIC_APP_TYPE } from '../../testing/fixtures/batch-experiments.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { extractRelease, findAddingCommit, hasHistory } from '../../testing/servers/earlier-release.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';
import { BASELINE } from '../migrations.ts';
import { LAST_UNRELEASED_COMMIT } from './start-refusal.ts';
import { hashFolderTree } from './testing/data-folders.ts';

const commit = findAddingCommit(BASELINE);
const postgres = inject('postgres');
const name = `upgrade_over_many_${process.pid}`;
const application_id = 'app';
const path = `/v1/applications/${application_id}`;

const started: ServerProcess[] = [];
let data: string;
let address = '';
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'switchyard-upgrade-'));
  if (postgres) address = await createDatabase(postgres, name);
});
afterEach(async () => {
  for (const server of started.splice(0)) await server.kill();
  rmSync(data, { recursive: true, force: true });
  if (address) await dropDatabase(postgres, name);
});

async function start(main?: string): Promise<ServerProcess> {
  const server = await startServerProcess({
    dataFolder: data,
    ...(main === undefined ? {} : { main: { path: main, args: [] } }),
    env: {
      SWITCHYARD_CAPACITY: '1',
      SWITCHYARD_WEBHOOK_NETWORKS: 'loopback',
      ...(address ? { SWITCHYARD_DATABASE: address } : {}),
    },
  });
  started.push(server);
  return server;
}

/** Stores resources of each kind, and returns the path parameters that name them. */
async function storeResources(server: ServerProcess): Promise<Record<string, string>> {
  const create = async (at: string, body: object): Promise<void> => {
    const response = await server.request('POST', at, { body });
    expect([200, 201], response.text).toContain(response.status);
  };
  await pushApp(server, application_id, ARITHMETIC_APP, ARITHMETIC_APP_TYPE);
  await create(`${path}/versions`, { id: 'v1', name: 'Version one' });
  await create(`${path}/secrets`, {
    id: 'keys',
    name: 'Keys',
    secrets: [{ type: 'env', location: 'LICENSE', value: 'one' }],
  });
  for (const id of ['control', 'candidate'])
    await create(`${path}/instances`, {
      id,
      name: id,
      version_id: 'v1',
      configuration: { options: { note: id }, secrets_collection_id: 'keys' },
    });
  const run_ids = await Promise.all(
    [1, 2, 3].map((size) => createRun(server, application_id, { input: { size } })),
  );
  for (const run of run_ids) await waitForEnd(server, application_id, run);
  await create(`${path}/inputs`, { id: 'first', name: 'First', run_id: run_ids[0] });
  await create(`${path}/experiments/inputsets`, { id: 'sizes', name: 'Sizes', run_ids });
  await create(`${path}/experiments/batch`, {
    id: 'faster',
    name: 'Faster',
    input_set_id: 'sizes',
    instance_ids: ['control', 'candidate'],
  });
  await waitUntil('the experiment has ended', async () => {
    const { body } = await server.client.call('getBatchExperimentMetadata', {
      params: { application_id, batch_id: 'faster' },
    });
    return isExperimentTerminal(body.status);
  });
  await create('/v1/webhooks', {
    id: 'desk',
    event_types: ['run.status'],
    endpoint_url: 'http://127.0.0.1:9/hook',
    description: '',
  });
  await create('/v1/account/keys', { name: 'job', role: 'viewer' });
  return {
    application_id,
    version_id: 'v1',
    secrets_collection_id: 'keys',
    instance_id: 'control',
    run_id: run_ids[0] ?? '',
    input_id: 'first',
    input_set_id: 'sizes',
    batch_id: 'faster',
    webhook_id: 'desk',
  };
}

function waitForEnd(server: ServerProcess, application_id: string, run_id: string) {
  return waitUntil('the run has ended', async () => {
    const { body } = await server.client.call('getRun', { params: { application_id, run_id } });
    return isTerminal(body.status_v2) && body;
  });
}

/** Their responses describe the moment: the server, its load, a new upload, what all applications use. */
const OF_THE_MOMENT = new Set([
  'getApplicationQuotas',
  'getAuditHead',
  'getBackups',
  'getBinaryUpload',
  'getQueue',
  'getQuotas',
  'getStorage',
  'getUsage',
  'getWorkers',
  'listApplications',
  'listAuditEntries',
  'listWebhookConversations',
]);

/** Leaves out what changes with each request: the last use of a key, and address and signature of a download. */
function withoutUse(key: string, value: unknown): unknown {
  if (key === 'last_used_at') return undefined;
  return key === 'download_url' ? new URL(String(value)).pathname : value;
}

/** Returns the JSON responses of all operations that only read and whose path parameters are known. */
async function readEverything(server: ServerProcess, params: Record<string, string>) {
  const responses: Record<string, unknown> = {};
  for (const operation of Object.values<Operation>(operations)) {
    const { id, method } = operation;
    const names = Object.keys(operation.params?.properties ?? {});
    if (method !== 'GET' || OF_THE_MOMENT.has(id) || names.some((one) => params[one] === undefined)) continue;
    const { status, text, body } = await server.request('GET', buildPath(operation, params));
    if (status === 200 && body !== undefined) responses[id] = JSON.parse(text, withoutUse);
  }
  return responses;
}

async function listAuditIds(server: ServerProcess): Promise<string[]> {
  const { body } = await server.client.call('listAuditEntries', { query: { limit: 50 } });
  return body.items.map(({ id }) => id);
}

// Without the history of the repository there is no earlier commit, and the title of the skipped test says so.
test.runIf(commit !== null)(
  `an upgrade from the first commit with the baseline (${commit ?? 'none: the history is missing'}) loses nothing`,
  async () => {
    using earlier = extractRelease(commit ?? '');
    const before = await start(earlier.main);
    const params = await storeResources(before);
    await pushApp(before, 'other', ARITHMETIC_APP, ARITHMETIC_APP_TYPE);
    const stored = await readEverything(before, params);
    // Runs that are queued when the server stops are executed by the next release.
    const queued = await Promise.all(
      [1, 2, 3, 4].map((size) => createRun(before, 'other', { input: { size } })),
    );
    const audited = await listAuditIds(before);
    expect(await before.kill('SIGTERM')).toBe(0);

    const after = await start();
    const read = await readEverything(after, params);
    expect(Object.keys(stored).length).toBeGreaterThan(40);
    for (const [id, response] of Object.entries(stored))
      expect.soft({ [id]: read[id] }).toMatchObject({ [id]: response });
    expect(await listAuditIds(after)).toEqual(expect.arrayContaining(audited));
    for (const run of queued) expect((await waitForEnd(after, 'other', run)).status_v2).toBe('succeeded');
  },
);

// With the history, a missing commit fails the test: the sentence would name one that nobody can check out.
test.runIf(hasHistory())(
  `a start on the data of the last commit before release 0.2.0 (${LAST_UNRELEASED_COMMIT}) is refused`,
  async () => {
    using earlier = extractRelease(LAST_UNRELEASED_COMMIT);
    const before = await start(earlier.main);
    expect(await before.kill('SIGTERM')).toBe(0);
    const files = hashFolderTree(data);
    const place = postgres ? 'PostgreSQL database upgrade_over_many' : 'SQLite database /';
    await expect(start()).rejects.toThrow(
      new RegExp(
        `ended with 1 [\\s\\S]*The ${place}.* is from before release 0.2.0 and cannot be upgraded: use it with commit ${LAST_UNRELEASED_COMMIT}, download there what you want to keep, and start this release with an empty SWITCHYARD_DATA, SWITCHYARD_DATABASE and SWITCHYARD_BLOBS. Nothing was changed.`,
      ),
    );
    expect(hashFolderTree(data)).toEqual(files);
  },
);
