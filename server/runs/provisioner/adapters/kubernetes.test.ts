/** The Kubernetes adapter against a double of the API server that validates by the schemas of Kubernetes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1ContainerStatus, V1PodStatus } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesSettings } from '../../../platform/settings/provisioner-settings.ts';
import { type KubernetesApi, startKubernetesApi } from '../../../testing/kubernetes/api-server.ts';
import type { PendingReason } from './adapter.ts';
import { createKubernetesAdapter, JOB_LABELS, parseJob } from './kubernetes.ts';

const PREFIX = 'switchyard-a1b2-';
const folder = mkdtempSync(join(tmpdir(), 'switchyard-kubernetes-'));
const KUBECONFIG = join(folder, 'kubeconfig');
let api: KubernetesApi;

beforeAll(async () => {
  api = await startKubernetesApi('solvers');
  writeFileSync(KUBECONFIG, api.kubeconfig);
});
afterEach(() => {
  api.jobs.clear();
  api.secrets.clear();
  api.pods.length = 0;
  api.events.length = 0;
  api.forbidden.clear();
  api.deletions.length = 0;
  api.proxied.length = 0;
});

test.each([{}, { kind: 'Status', status: 'Success' }, { kind: 'JobList', items: null }])(
  'W4: a list without items is an error: %j',
  async (response) => {
    await create().start(buildRequest('one'));
    api.proxied.push(response);
    await expect(create().list(PREFIX)).rejects.toThrow('answered without a list of items');
    expect((await create().list(PREFIX)).length).toBe(1);
  },
);
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

const create = (fields: Partial<KubernetesSettings> = {}) =>
  createKubernetesAdapter(
    {
      ...{ kind: 'kubernetes', namespace: 'solvers', image: 'registry.example/worker:1.7.0' },
      ...{ manifestPath: null, queue: null, size: { cores: 4, memoryBytes: 16e9 }, ...fields },
    },
    { KUBECONFIG },
  );
const buildRequest = (name: string, token = 'secret-1') => ({
  ...{ name: `${PREFIX}${name}`, server: 'https://yard.example', token, labels: ['gpu'], idleMs: 300_000 },
  size: { cores: 4, memoryBytes: 16e9 },
});
const writeManifest = (text: string): string => {
  const path = join(folder, 'job.yaml');
  writeFileSync(path, text);
  return path;
};

describe('a job', () => {
  test('is valid, names its worker, and refers to the token', async () => {
    expect(await create().start(buildRequest('one'))).toBe(`${PREFIX}one`);
    const job = api.jobs.get(`${PREFIX}one`);
    expect(job?.spec).toMatchObject({
      backoffLimit: 0,
      template: {
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          containers: [
            {
              image: 'registry.example/worker:1.7.0',
              args: [
                ...['--server', 'https://yard.example', '--job', `${PREFIX}one`],
                ...['--idle', '300', '--cores', '4', '--memory', '15258M', '--label', 'gpu'],
              ],
              resources: { requests: { cpu: '4', memory: '16000000000' } },
            },
          ],
        },
      },
    });
    expect(job?.spec).not.toHaveProperty('suspend');
    expect(JSON.stringify(job)).not.toContain('secret-1');
    expect(api.secrets.get(`${PREFIX}token`)?.stringData).toEqual({ token: 'secret-1' });
  });

  test('of a later server gets its new token', async () => {
    await create().start(buildRequest('one'));
    await create().start(buildRequest('two', 'secret-2'));
    expect(api.secrets.size).toBe(1);
    expect(api.secrets.get(`${PREFIX}token`)?.stringData).toEqual({ token: 'secret-2' });
  });

  test('with a queue of Kueue is suspended until the queue has free capacity', async () => {
    await create({ queue: 'team-a' }).start(buildRequest('one'));
    const job = api.jobs.get(`${PREFIX}one`);
    expect(job?.metadata.labels).toMatchObject({ 'kueue.x-k8s.io/queue-name': 'team-a' });
    expect(job?.spec?.suspend).toBe(true);
  });

  test('is submitted once a wrong manifest is corrected', async () => {
    const manifestPath = writeManifest('kind: Pod\n');
    const adapter = create({ manifestPath });
    await expect(adapter.start(buildRequest('one'))).rejects.toThrow('no Job');
    writeManifest('apiVersion: batch/v1\nkind: Job\n');
    expect(await adapter.start(buildRequest('one'))).toBe(`${PREFIX}one`);
  });

  test('keeps what the manifest sets', async () => {
    const manifestPath = writeManifest(`
apiVersion: batch/v1
kind: Job
metadata: { labels: { team: a } }
spec:
  activeDeadlineSeconds: 14400
  template:
    spec:
      nodeSelector: { pool: solvers }
      containers:
        - { name: proxy, image: "registry.example/proxy:2" }
        - name: worker
          image: registry.example/worker:9
          command: [node, worker/process.ts]
          args: [--data, /scratch]
          env: [{ name: LICENSE, value: "27000@licences" }]
          resources: { limits: { cpu: "8" } }
`);
    await create({ manifestPath, image: null }).start(buildRequest('one'));
    const job = api.jobs.get(`${PREFIX}one`);
    expect(job?.metadata.labels).toMatchObject({ team: 'a', 'app.kubernetes.io/managed-by': 'switchyard' });
    expect(job?.spec).toMatchObject({
      activeDeadlineSeconds: 14400,
      template: {
        spec: {
          nodeSelector: { pool: 'solvers' },
          containers: [
            { name: 'proxy' },
            {
              ...{ image: 'registry.example/worker:9', command: ['node', 'worker/process.ts'] },
              resources: { limits: { cpu: '8' } },
            },
          ],
        },
      },
    });
    const worker = job?.spec?.template.spec.containers[1];
    expect(worker?.args?.slice(0, 3)).toEqual(['--data', '/scratch', '--server']);
    expect(worker?.env?.map(({ name }) => name)).toEqual(['LICENSE', 'SWITCHYARD_WORKER_TOKEN']);
  });

  test('is listed page by page, and ends by a deletion', async () => {
    const adapter = create();
    for (const name of ['one', 'two', 'three']) await adapter.start(buildRequest(name));
    await create().start({ ...buildRequest('x'), name: 'switchyard-other-x' });
    const job = api.jobs.get(`${PREFIX}two`);
    if (job) job.status = { active: 1, ready: 1 };
    const listed = await adapter.list(PREFIX);
    expect(listed.map(({ name, state }) => [name, state])).toEqual([
      [`${PREFIX}one`, 'pending'],
      [`${PREFIX}two`, 'running'],
      [`${PREFIX}three`, 'pending'],
    ]);
    await adapter.stop(`${PREFIX}one`, { force: false });
    await adapter.stop(`${PREFIX}one`, { force: false });
    await adapter.stop(`${PREFIX}two`, { force: true });
    expect(api.deletions.map((query) => Object.fromEntries(query))).toEqual([
      { propagationPolicy: 'Foreground' },
      { propagationPolicy: 'Foreground', gracePeriodSeconds: '0' },
    ]);
    expect((await adapter.list(PREFIX)).map(({ name }) => name)).toEqual([`${PREFIX}three`]);
  });
});

describe('an error names the response of the API server', () => {
  test.each([
    ['of another namespace', { namespace: 'default' }, /answered 403: .*forbidden/],
    [
      'of a manifest with an unknown field',
      { manifest: 'apiVersion: batch/v1\nkind: Job\nspec: { replicas: 3 }\n' },
      /whose field spec\.replicas a Job does not have/,
    ],
    [
      'of a manifest with a value of another type',
      { manifest: 'apiVersion: batch/v1\nkind: Job\nspec: { parallelism: many }\n' },
      /answered 422: .*parallelism must be integer/,
    ],
    [
      'of a manifest without an image',
      { image: null, manifest: 'apiVersion: batch/v1\nkind: Job\n' },
      /answered 422: .*image/,
    ],
    [
      'of a manifest that is no Job',
      { manifest: 'kind: Pod\n' },
      /SWITCHYARD_KUBERNETES_MANIFEST is .*no Job/,
    ],
  ])(
    '%s',
    async (_, { manifest, ...fields }: Partial<KubernetesSettings> & { manifest?: string }, message) => {
      const manifestPath = manifest === undefined ? null : writeManifest(manifest);
      await expect(create({ ...fields, manifestPath }).start(buildRequest('one'))).rejects.toThrow(message);
    },
  );
});

describe('a job that waits', () => {
  const JOB = `${PREFIX}one`;
  const addPod = (status: V1PodStatus): void => {
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: JOB, uid: 'uid-1', controller: true };
    const metadata = { name: `${JOB}-x7k2p`, labels: { ...JOB_LABELS }, ownerReferences: [owner] };
    api.pods.push({ metadata, status });
  };
  const addEvent = (kind: string, reason: string, message: string, type = 'Warning'): void => {
    const name = kind === 'Job' ? JOB : `${JOB}-x7k2p`;
    const lastTimestamp = new Date(Date.UTC(2026, 10, 20) + api.events.length * 1000);
    api.events.push({
      ...{ metadata: {}, involvedObject: { kind, name }, reason, message, type, lastTimestamp },
    });
  };
  /** The states of containers that wait, as the kubelet reports them. */
  const wait = (reason: string, message?: string): V1ContainerStatus => ({
    ...{ name: 'worker', image: 'a', imageID: '', ready: false, restartCount: 0 },
    state: { waiting: { reason, ...(message === undefined ? {} : { message }) } },
  });
  const SCHEDULED = { type: 'PodScheduled', status: 'True' };

  test.each<[string, () => void, PendingReason | null]>([
    ['was just created', () => {}, null],
    [
      'is suspended',
      () => {
        const conditions = [{ type: 'Suspended', status: 'True', message: 'Job suspended' }];
        Object.assign(api.jobs.get(JOB) ?? {}, { status: { conditions } });
      },
      { text: 'Suspended: Job suspended', isBlocked: false },
    ],
    [
      'exceeds a quota',
      () =>
        addEvent('Job', 'FailedCreate', 'pods "a" is forbidden: exceeded quota: compute, requested: cpu=4'),
      {
        text: 'FailedCreate: pods "a" is forbidden: exceeded quota: compute, requested: cpu=4',
        isBlocked: false,
      },
    ],
    [
      'may have no pod, by the latest of its events',
      () => {
        addEvent('Job', 'FailedCreate', 'exceeded quota: compute');
        addEvent('Job', 'FailedCreate', 'violates PodSecurity "restricted"');
        addEvent('Job', 'SuccessfulCreate', 'Created pod', 'Normal');
      },
      { text: 'FailedCreate: violates PodSecurity "restricted"', isBlocked: true },
    ],
    [
      'fits no node',
      () =>
        addPod({
          conditions: [
            { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are free' },
          ],
        }),
      { text: 'Unschedulable: 0/3 nodes are free', isBlocked: false },
    ],
    [
      'has no image',
      () =>
        addPod({
          conditions: [SCHEDULED],
          containerStatuses: [wait('ContainerCreating'), wait('ImagePullBackOff', 'Back-off pulling "a"')],
        }),
      { text: 'ImagePullBackOff: Back-off pulling "a"', isBlocked: true },
    ],
    [
      'has a container for its start without its Secret',
      () =>
        addPod({
          initContainerStatuses: [wait('CreateContainerConfigError', 'secret "a" not found')],
          containerStatuses: [wait('PodInitializing')],
        }),
      { text: 'CreateContainerConfigError: secret "a" not found', isBlocked: true },
    ],
    [
      'has no volume',
      () => {
        addEvent('Pod', 'FailedMount', 'volume "scratch" is not attached');
        addPod({ conditions: [SCHEDULED], containerStatuses: [wait('ContainerCreating')] });
      },
      { text: 'FailedMount: volume "scratch" is not attached', isBlocked: false },
    ],
    [
      'is being set up',
      () => addPod({ conditions: [SCHEDULED], containerStatuses: [wait('ContainerCreating')] }),
      { text: 'ContainerCreating', isBlocked: false },
    ],
  ])('because it %s', async (_, prepare, pending) => {
    const adapter = create();
    await adapter.start(buildRequest('one'));
    prepare();
    expect(await adapter.list(PREFIX)).toMatchObject([{ name: JOB, state: 'pending', pending }]);
  });

  test('is listed by a role without the right to list pods', async () => {
    const adapter = create();
    await adapter.start(buildRequest('one'));
    api.forbidden.add('pods');
    const [listed] = await adapter.list(PREFIX);
    expect(listed?.pending?.text).toMatch(/pods is forbidden.* Allow the server to list pods and events/);
  });
});

describe('the status of a job', () => {
  test.each([
    ['suspended', { conditions: [{ type: 'Suspended', status: 'True' }] }, 'pending', null],
    ['whose pod waits', { active: 1, ready: 0 }, 'pending', null],
    ['whose pod runs', { active: 1, ready: 1 }, 'running', null],
    ['complete', { succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] }, 'ended', null],
    [
      'failed',
      {
        failed: 1,
        conditions: [
          {
            type: 'Failed',
            status: 'True',
            reason: 'BackoffLimitExceeded',
            message: 'Job has reached the limit',
          },
        ],
      },
      'ended',
      'Kubernetes says Failed, BackoffLimitExceeded: Job has reached the limit',
    ],
  ])('%s', (_, status, state, failure) => {
    const listed = { name: 'a', id: 'a', state, pending: null, failure };
    expect(parseJob({ metadata: { name: 'a' }, status })).toEqual(listed);
  });
});
