/** The Job of a worker on Kubernetes: the manifest of the operator, completed, or a Job without a manifest. */
import type { V1Container, V1Job, V1PodTemplateSpec } from '@kubernetes/client-node';
import type { KubernetesSettings } from '../../../platform/settings/provisioner-settings.ts';
import { formatWorkerArguments, type JobRequest, type ListedJob, TOKEN_VARIABLE } from './adapter.ts';

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
export interface TokenSecret {
  name: string;
  key: string;
}

/** Returns the Job of the request. It keeps the fields of the manifest, except the name, the arguments and the token. */
export function buildJob(
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
