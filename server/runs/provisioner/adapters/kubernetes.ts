/**
 * The adapter for Kubernetes: one Job for each worker, through the API of the cluster. The token is in a Secret, to which the
 * Job refers. The client of the cluster is loaded with the first call: it takes 80 MB of memory, which other servers need not
 * pay.
 */
import { readFile } from 'node:fs/promises';
import type { BatchV1Api, CoreV1Api, V1Container, V1Job, V1PodTemplateSpec } from '@kubernetes/client-node';
import type { KubernetesSettings } from '../../../platform/settings/provisioner-settings.ts';
import {
  formatWorkerArguments,
  type JobRequest,
  type ListedJob,
  type PendingReason,
  TOKEN_VARIABLE,
  type WorkerAdapter,
} from './adapter.ts';
import { explainJob, type JobObjects, needsEvents } from './kubernetes-pending.ts';

/** The container that becomes the worker; without it, the first one of the manifest. */
const CONTAINER = 'worker';
/** An ended Job stays this long, so that its failure can be read. */
const RETENTION_SECONDS = 600;
/** The worker drains within it after SIGTERM. */
const GRACE_SECONDS = 30;
const QUEUE_LABEL = 'kueue.x-k8s.io/queue-name';

/** The labels by which the Jobs of all provisioners are found. */
export const JOB_LABELS: Readonly<Record<string, string>> = {
  'app.kubernetes.io/name': 'switchyard-worker',
  'app.kubernetes.io/managed-by': 'switchyard',
};

/** The Secret with the worker token, which a Job would show to everybody who may read it. */
interface TokenSecret {
  name: string;
  key: string;
}

/** Returns the Job of the request. It keeps the fields of the manifest, except the name, the arguments and the token. */
function buildJob(
  manifest: V1Job | null,
  settings: KubernetesSettings,
  { request, secret }: { request: JobRequest; secret: TokenSecret },
): V1Job {
  const labels = { ...manifest?.metadata?.labels, ...JOB_LABELS };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      ...manifest?.metadata,
      name: request.name,
      namespace: settings.namespace,
      labels: { ...labels, ...(settings.queue === null ? {} : { [QUEUE_LABEL]: settings.queue }) },
    },
    spec: {
      ttlSecondsAfterFinished: RETENTION_SECONDS,
      // Kueue lets the Job start once its queue has free capacity.
      ...(settings.queue === null ? {} : { suspend: true }),
      ...manifest?.spec,
      // The provisioner decides about another attempt.
      backoffLimit: 0,
      template: buildPod(manifest?.spec?.template, settings, { request, secret }),
    },
  };
}

function buildPod(
  template: V1PodTemplateSpec | undefined,
  settings: KubernetesSettings,
  { request, secret }: { request: JobRequest; secret: TokenSecret },
): V1PodTemplateSpec {
  const containers = template?.spec?.containers ?? [];
  const worker = containers.find(({ name }) => name === CONTAINER) ?? containers[0];
  return {
    metadata: { ...template?.metadata, labels: { ...template?.metadata?.labels, ...JOB_LABELS } },
    spec: {
      terminationGracePeriodSeconds: GRACE_SECONDS,
      // Apps run in the container, and must not reach the API of the cluster with its credentials.
      automountServiceAccountToken: false,
      ...template?.spec,
      restartPolicy: 'Never',
      containers: [
        ...containers.filter((one) => one !== worker),
        completeContainer(worker, settings, { request, secret }),
      ],
    },
  };
}

function completeContainer(
  container: V1Container | undefined,
  { image, size: { cores, memoryBytes } }: KubernetesSettings,
  { request, secret }: { request: JobRequest; secret: TokenSecret },
): V1Container {
  const amounts = { cpu: String(cores), ...(memoryBytes === null ? {} : { memory: String(memoryBytes) }) };
  return {
    name: CONTAINER,
    resources: { requests: amounts, limits: amounts },
    ...container,
    ...(image === null ? {} : { image }),
    // After those of the manifest: `command` there names the program, and its own arguments come first.
    args: [...(container?.args ?? []), ...formatWorkerArguments(request)],
    env: [
      ...(container?.env ?? []).filter(({ name }) => name !== TOKEN_VARIABLE),
      { name: TOKEN_VARIABLE, valueFrom: { secretKeyRef: secret } },
    ],
  };
}

/** Returns the Job as the provisioner lists it, without the reason for which it waits; null for one without a name. */
export function parseJob({ metadata, status }: V1Job): ListedJob | null {
  const name = metadata?.name;
  if (name === undefined) return null;
  const job = { name, id: name, pending: null };
  const conditions = (status?.conditions ?? []).filter((one) => one.status === 'True');
  const failed = conditions.find(({ type }) => type === 'Failed');
  if (failed) {
    const reason = [failed.reason, failed.message].filter(Boolean).join(': ');
    return { ...job, state: 'ended', failure: `Kubernetes says Failed, ${reason || 'without a reason'}` };
  }
  if (conditions.some(({ type }) => type === 'Complete')) return { ...job, state: 'ended', failure: null };
  return { ...job, state: (status?.ready ?? 0) > 0 ? 'running' : 'pending', failure: null };
}

const SECRET_KEY = 'token';
const PAGE_SIZE = 500;
const FORBIDDEN = 403;
const NOT_FOUND = 404;
const CONFLICT = 409;
const LABEL_SELECTOR = Object.entries(JOB_LABELS)
  .map(([name, value]) => `${name}=${value}`)
  .join(',');

/** The requests to the API of the cluster. */
export interface KubernetesCluster {
  batch: Pick<BatchV1Api, 'createNamespacedJob' | 'listNamespacedJob' | 'deleteNamespacedJob'>;
  core: Pick<
    CoreV1Api,
    'createNamespacedSecret' | 'replaceNamespacedSecret' | 'listNamespacedPod' | 'listNamespacedEvent'
  >;
}

/** Opens the cluster that the environment names. */
export type OpenKubernetes = (env: NodeJS.ProcessEnv) => Promise<KubernetesCluster>;

/** Creates the adapter. `env` may name the file of the credentials in KUBECONFIG, else they are those of the pod or the user. */
export function createKubernetesAdapter(
  settings: KubernetesSettings,
  env: NodeJS.ProcessEnv,
  open: OpenKubernetes = openKubernetesCluster,
): WorkerAdapter {
  return new KubernetesAdapter(settings, () => open(env));
}

class KubernetesAdapter implements WorkerAdapter {
  readonly kind = 'kubernetes';
  readonly #settings: KubernetesSettings;
  readonly #connect: () => Promise<KubernetesCluster>;
  readonly #readManifest: () => Promise<V1Job | null>;
  /** The token in the Secret, as far as this process knows. */
  #storedToken: string | null = null;

  constructor(settings: KubernetesSettings, open: () => Promise<KubernetesCluster>) {
    this.#settings = settings;
    this.#connect = loadOnce(open);
    this.#readManifest = loadOnce(() => readManifest(settings.manifestPath));
  }

  async start(request: JobRequest): Promise<string> {
    const { batch, core } = await this.#connect();
    const manifest = await this.#readManifest();
    const { namespace } = this.#settings;
    // One Secret for each server: the name of a job without its last part.
    const secret: TokenSecret = { name: request.name.replace(/-[^-]*$/, '-token'), key: SECRET_KEY };
    await this.#storeToken(core, secret, request.token);
    const body = buildJob(manifest, this.#settings, { request, secret });
    await describeErrors(batch.createNamespacedJob({ namespace, body }));
    return request.name;
  }

  async list(prefix: string): Promise<ListedJob[]> {
    const { batch } = await this.#connect();
    const { namespace } = this.#settings;
    const jobs = await listPages((page) =>
      batch.listNamespacedJob({ namespace, labelSelector: LABEL_SELECTOR, ...page }),
    );
    const parsed = jobs.flatMap((job) => {
      const listed = parseJob(job);
      return listed?.name.startsWith(prefix) ? [{ job, listed }] : [];
    });
    const pending = parsed.filter(({ listed }) => listed.state === 'pending').map(({ job }) => job);
    if (pending.length === 0) return parsed.map(({ listed }) => listed);
    const explain = await this.#explainJobs(pending);
    return parsed.map(
      ({ job, listed }): ListedJob =>
        listed.state === 'pending' ? { ...listed, pending: explain(job) } : listed,
    );
  }

  /** Reads why the Jobs do not run yet, with two requests at most while all of them start. */
  async #explainJobs(jobs: readonly V1Job[]): Promise<(job: V1Job) => PendingReason | null> {
    const { core } = await this.#connect();
    const { namespace } = this.#settings;
    const objects: JobObjects = { pods: [], events: [] };
    try {
      objects.pods = await listPages((page) =>
        core.listNamespacedPod({ namespace, labelSelector: LABEL_SELECTOR, ...page }),
      );
      if (jobs.some((job) => needsEvents(job, objects.pods)))
        objects.events = await listPages((page) =>
          core.listNamespacedEvent({ namespace, fieldSelector: 'type=Warning', ...page }),
        );
    } catch (error) {
      // An installation from before this request has a role without these rights; its workers must still start.
      if (!(error instanceof ApiError && error.code === FORBIDDEN)) throw error;
      const text = `Unknown: ${error.message} Allow the server to list pods and events.`;
      return (job) => explainJob(job, objects) ?? { text, isBlocked: false };
    }
    return (job) => explainJob(job, objects);
  }

  async stop(id: string, { force }: { force: boolean }): Promise<void> {
    const { batch } = await this.#connect();
    // The Job stays until its pod has ended, so that it counts until then.
    const options = { propagationPolicy: 'Foreground', ...(force ? { gracePeriodSeconds: 0 } : {}) };
    const deletion = batch.deleteNamespacedJob({ name: id, namespace: this.#settings.namespace, ...options });
    await succeeds(deletion, NOT_FOUND);
  }

  async #storeToken(
    core: KubernetesCluster['core'],
    { name, key }: TokenSecret,
    token: string,
  ): Promise<void> {
    if (this.#storedToken === token) return;
    const { namespace } = this.#settings;
    const body = {
      ...{ apiVersion: 'v1', kind: 'Secret', type: 'Opaque' },
      metadata: { name, namespace, labels: { ...JOB_LABELS } },
      stringData: { [key]: token },
    };
    const isNew = await succeeds(core.createNamespacedSecret({ namespace, body }), CONFLICT);
    if (!isNew) await describeErrors(core.replaceNamespacedSecret({ name, namespace, body }));
    this.#storedToken = token;
  }
}

interface Page<T> {
  /** Absent when something else than the API server answered, such as a proxy before it. */
  items?: T[];
  metadata?: { _continue?: string } | undefined;
}

/** Requests all pages of a list. */
async function listPages<T>(
  request: (page: { limit: number; _continue?: string }) => Promise<Page<T>>,
): Promise<T[]> {
  const items: T[] = [];
  let next: string | undefined;
  do {
    const page = await describeErrors(
      request({ limit: PAGE_SIZE, ...(next === undefined ? {} : { _continue: next }) }),
    );
    if (!Array.isArray(page.items))
      throw new Error(
        'The API server of Kubernetes answered without a list of items. Look whether the address in the kubeconfig is that of the API server, and what a proxy before it answers.',
      );
    items.push(...page.items);
    next = page.metadata?._continue || undefined;
  } while (next !== undefined);
  return items;
}

/** Returns a function that loads a value with its first call and keeps it. After a failure the next call tries again. */
function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | null = null;
  return async () => {
    loaded ??= load();
    try {
      return await loaded;
    } catch (error) {
      loaded = null;
      throw error;
    }
  };
}

/** Opens the client of the cluster that the environment names. */
async function openKubernetesCluster(env: NodeJS.ProcessEnv): Promise<KubernetesCluster> {
  const { BatchV1Api, CoreV1Api, KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  if (env.KUBECONFIG) config.loadFromFile(env.KUBECONFIG);
  else config.loadFromDefault();
  return { batch: config.makeApiClient(BatchV1Api), core: config.makeApiClient(CoreV1Api) };
}

async function readManifest(path: string | null): Promise<V1Job | null> {
  if (path === null) return null;
  const { loadYaml } = await import('@kubernetes/client-node');
  const { parse } = await import('yaml');
  const text = await readFile(path, 'utf8');
  const job = loadYaml<V1Job | null>(text);
  if (job?.kind !== 'Job' || job.apiVersion !== 'batch/v1')
    throw new Error(
      `SWITCHYARD_KUBERNETES_MANIFEST is "${path}", which has no Job of batch/v1. Write a Job into it, or leave it out.`,
    );
  const unknown = findDroppedField(parse(text), job);
  if (unknown !== null)
    throw new Error(
      `SWITCHYARD_KUBERNETES_MANIFEST is "${path}", whose field ${unknown} a Job does not have. Correct or remove it.`,
    );
  return job;
}

/** Returns the path of a field that the client does not know, and would drop silently; null when it knows all. */
function findDroppedField(written: unknown, known: unknown, path: readonly string[] = []): string | null {
  if (typeof written !== 'object' || written === null || known instanceof Date) return null;
  const knownFields = typeof known === 'object' && known !== null ? new Map(Object.entries(known)) : null;
  for (const [name, value] of Object.entries(written)) {
    const place = [...path, name];
    if (value === null) continue;
    const dropped = knownFields?.get(name) === undefined;
    const found = dropped ? place.join('.') : findDroppedField(value, knownFields?.get(name), place);
    if (found !== null) return found;
  }
  return null;
}

/** An error response of the API server. */
class ApiError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Returns true for the errors of the client that have the response of the API server. */
const isResponse = (error: unknown): error is Error & { code: number; body: unknown } =>
  error instanceof Error && 'body' in error && 'code' in error && typeof error.code === 'number';

/** Rejects with the message of the API server, without the request, which the errors of the client repeat. */
async function describeErrors<T>(response: Promise<T>): Promise<T> {
  try {
    return await response;
  } catch (error) {
    if (!isResponse(error)) throw error;
    throw new ApiError(
      error.code,
      `The API server of Kubernetes answered ${error.code}: ${readMessage(error.body)}`,
    );
  }
}

/** Returns false for an error response with the code; rejects with any other error. */
async function succeeds(response: Promise<unknown>, code: number): Promise<boolean> {
  try {
    await describeErrors(response);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === code) return false;
    throw error;
  }
}

/** The body of an error is a Status object, as an object or as text. */
function readMessage(body: unknown): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  try {
    const status: unknown = JSON.parse(text);
    if (typeof status === 'object' && status !== null && 'message' in status) return String(status.message);
  } catch {
    // Not a Status object: a proxy before the API server answered.
  }
  return text.slice(0, 200);
}
