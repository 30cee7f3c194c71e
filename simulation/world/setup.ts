/** The accounts of a simulated world, with their applications, instances, licences, webhooks and worker tokens. */
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import type { Answer, Client } from '../load/client.ts';

/** The applications and instances that every account has. */
export const APPLICATION = 'plan';
export const INSTANCES = ['main', 'licensed', 'greedy', 'gpu', 'urgent'] as const;
export const LICENSE = 'solver';
export const LICENSE_TOTAL = 3;
export const ACCOUNTS = 3;

/** An account of the world. */
export interface SimulatedAccount {
  name: string;
  id: string;
  token: string;
  workerToken: string;
}

/** Connects with a token. */
type Connect = (name: string, token: string) => Client;

async function succeed(client: Client, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await client.call(method, path, body === undefined ? {} : { body });
  if (!answer || answer.status >= 300)
    throw new Error(`${method} ${path} failed in the setup: ${JSON.stringify(answer?.body)}`);
  return answer;
}

/** Seconds after which an app that never ends is ended; no other app takes so long. */
const max_duration = 60;

const CONFIGURATIONS: Record<(typeof INSTANCES)[number], object> = {
  main: { max_duration },
  licensed: { max_duration, requirements: { licenses: { [LICENSE]: 1 } } },
  greedy: { max_duration, requirements: { licenses: { [LICENSE]: 2 } } },
  gpu: { max_duration, requirements: { labels: ['gpu'] } },
  urgent: { max_duration, queuing: { priority: 1 } },
};

/** Returns the archive of an app; simulated workers do not read it. */
export const packApp = (): Promise<Buffer> =>
  packFiles({ 'app.yaml': 'type: node\nruntime: node\nfiles: ["**"]\n', 'main.js': '' });

/** Creates everything. `rootToken` is the token of the first account. */
export async function setUp(connect: Connect, rootToken: string): Promise<SimulatedAccount[]> {
  const archive = await packApp();
  const root = connect('setup', rootToken);
  const accounts: SimulatedAccount[] = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const name = `account-${index}`;
    const { body } = await succeed(root, 'POST', '/v1/accounts', { name, email: `${name}@example.com` });
    const { token, account } = body as { token: string; account: { id: string } };
    const client = connect(name, token);
    accounts.push({ name, id: account.id, token, workerToken: await createWorkerToken(client, {}) });
    await createApplication(client, archive);
    await succeed(client, 'PUT', '/v1/account/licenses', {
      licenses: [{ name: LICENSE, total: LICENSE_TOTAL }],
    });
    await succeed(client, 'POST', '/v1/webhooks', {
      ...{ id: 'permanent', event_types: ['run.status'], description: '' },
      endpoint_url: `https://${name}.example.com/hook`,
    });
  }
  const shared = await createWorkerToken(root, { all_accounts: true });
  return accounts.map((account, index) => ({
    ...account,
    workerToken: index === 0 ? account.workerToken : shared,
  }));
}

async function createWorkerToken(client: Client, body: object): Promise<string> {
  const created = await succeed(client, 'POST', '/v1/account/worker-tokens', { name: 'Workers', ...body });
  return (created.body as { token: string }).token;
}

/** Pushes the archive as the executable of an application; returns false when the server did not take it. */
export async function pushApp(client: Client, application: string, archive: Buffer): Promise<boolean> {
  const path = `/v1/applications/${application}/binary`;
  const upload = await client.call('GET', path);
  if (upload?.status !== 200) return false;
  const { pathname, search } = new URL((upload.body as { upload_url: string }).upload_url);
  const put = await client.call('PUT', `${pathname}${search}`, { body: archive });
  if (put?.status !== 200) return false;
  const requirements = { executable_type: 'node', runtime: 'node' };
  const activated = await client.call('PUT', path, { body: { requirements } });
  return activated?.status === 200;
}

async function createApplication(client: Client, archive: Buffer): Promise<void> {
  await succeed(client, 'POST', '/v1/applications', { id: APPLICATION, name: 'Plan' });
  const path = `/v1/applications/${APPLICATION}`;
  await pushApp(client, APPLICATION, archive);
  for (const id of ['v1', 'v2', 'v3']) await succeed(client, 'POST', `${path}/versions`, { id, name: id });
  for (const id of INSTANCES)
    await succeed(client, 'POST', `${path}/instances`, {
      ...{ id, name: id, version_id: 'v1', configuration: CONFIGURATIONS[id] },
    });
  for (const id of ['first', 'second']) {
    const { body } = await succeed(client, 'POST', `${path}/runs/uploadurl`, {});
    const { upload_id, upload_url } = body as { upload_id: string; upload_url: string };
    const { pathname, search } = new URL(upload_url);
    const content = Buffer.from(JSON.stringify({ n: 0, ms: 500, end: 'success' }));
    await client.call('PUT', `${pathname}${search}`, { body: content });
    await succeed(client, 'POST', `${path}/inputs`, { id, name: id, upload_id });
  }
  const inputs = [{ id: 'first' }, { id: 'second' }];
  await succeed(client, 'POST', `${path}/experiments/inputsets`, { id: 'inputs', name: 'Inputs', inputs });
  await succeed(client, 'POST', `${path}/ensembles`, {
    ...{ id: 'three', name: 'Three', run_groups: [{ id: 'alike', instance_id: 'main', repetitions: 3 }] },
    rules: [{ id: 'value', statistics_path: 'result.value', objective: 'minimize', index: 0 }],
  });
}
