/** The API of Kubernetes before a simulated cluster: Jobs, their pods, and the Secret of their token. */
import type { KubernetesCluster } from '../../server/runs/provisioner/adapters/kubernetes.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';
import type { Cluster, ClusterJob } from './cluster.ts';

/** The client gives up on a response after this time. */
const LIMIT_MS = 300_000;
/** The node ends a pod by force so long after SIGTERM. */
const GRACE_MS = 30_000;
const CONFLICT = 409;
const NOT_FOUND = 404;
const UNAVAILABLE = 503;

/** An error response as the client throws it. */
class ResponseError extends Error {
  readonly code: number;
  readonly body: string;

  constructor(code: number, message: string) {
    super(`HTTP-Code: ${code}`);
    this.code = code;
    this.body = JSON.stringify({ kind: 'Status', message });
  }
}

type Batch = KubernetesCluster['batch'];
type Core = KubernetesCluster['core'];

/** The Secrets of one cluster, by their names. */
export type Secrets = Map<string, string>;

/** Lets the process call the cluster; `lost` is called when it hears no good answer. */
type Call = <T>(work: () => T, lost: () => void, heard?: (result: T) => void) => Promise<T>;

/** The API as a process reaches it. */
export class KubernetesApi implements KubernetesCluster {
  readonly batch: Batch;
  readonly core: Core;

  constructor(
    cluster: Cluster,
    secrets: Secrets,
    { owner, after }: { owner: SimulatedProcess; after(ms: number, run: () => void): void },
  ) {
    const call: Call = (work, lost, heard) => {
      const fail = (reason: 'silent' | 'refused'): Error => {
        lost();
        return reason === 'silent'
          ? new TypeError('fetch failed')
          : new ResponseError(UNAVAILABLE, 'the server is currently unable to handle the request');
      };
      return cluster.call(owner, { limitMs: LIMIT_MS, fail, ...(heard ? { heard } : {}) }, work);
    };
    const retries = (): void => cluster.watch.registered();
    this.batch = {
      createNamespacedJob: ({ body }) => {
        const name = body.metadata?.name ?? '';
        const container = body.spec?.template.spec?.containers[0];
        const secret =
          container?.env?.find(({ valueFrom }) => valueFrom)?.valueFrom?.secretKeyRef?.name ?? '';
        const submission = {
          name,
          args: container?.args ?? [],
          readToken: () => secrets.get(secret) ?? '',
        };
        return call(
          () => {
            cluster.submit(submission);
            return body;
          },
          () => cluster.watch.forget(name),
        );
      },
      listNamespacedJob: () => {
        let listed: ClusterJob[] = [];
        return call(
          () => {
            listed = cluster.list();
            return { items: listed.map(formatJob) };
          },
          retries,
          () => cluster.watch.listed(listed),
        );
      },
      deleteNamespacedJob: ({ name, gracePeriodSeconds }) =>
        call(() => {
          if (!cluster.stop(name, { force: gracePeriodSeconds === 0 }))
            throw new ResponseError(NOT_FOUND, `jobs.batch "${name}" not found`);
          after(GRACE_MS, () => cluster.stop(name, { force: true }));
          return {};
        }, retries),
    };
    this.core = createCoreApi(cluster, secrets, { call, retries });
  }
}

/** The Secrets, pods and events. */
function createCoreApi(
  cluster: Cluster,
  secrets: Secrets,
  { call, retries }: { call: Call; retries(): void },
): Core {
  const storeSecret = (name: string, token: string): Promise<object> =>
    call(() => {
      secrets.set(name, token);
      return {};
    }, retries);
  return {
    createNamespacedSecret: ({ body }) => {
      const name = body.metadata?.name ?? '';
      if (secrets.has(name))
        return call(() => {
          throw new ResponseError(CONFLICT, `secrets "${name}" already exists`);
        }, retries);
      return storeSecret(name, body.stringData?.token ?? '');
    },
    replaceNamespacedSecret: ({ name, body }) => storeSecret(name, body.stringData?.token ?? ''),
    listNamespacedPod: () => call(() => ({ items: cluster.list().flatMap(formatPod) }), retries),
    listNamespacedEvent: () => call(() => ({ items: [] }), retries),
  };
}

function formatJob({ name, state, failure }: ClusterJob): object {
  const type = failure === '' ? 'Complete' : 'Failed';
  return {
    metadata: { name },
    status:
      state === 'ended'
        ? { conditions: [{ type, status: 'True', message: failure }] }
        : { active: 1, ready: state === 'running' ? 1 : 0 },
  };
}

/** A job that waits has a pod which says why. */
function formatPod({ name, state, pendingReason }: ClusterJob): object[] {
  if (state !== 'pending') return [];
  const ownerReferences = [{ kind: 'Job', name, controller: true }];
  const waiting = { reason: pendingReason === 'blocked' ? 'ImagePullBackOff' : 'ContainerCreating' };
  const unscheduled = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }];
  return [
    {
      metadata: { name: `${name}-pod`, ownerReferences },
      status: {
        conditions: pendingReason === 'held' ? unscheduled : [],
        containerStatuses: [{ name: 'worker', state: { waiting } }],
      },
    },
  ];
}
