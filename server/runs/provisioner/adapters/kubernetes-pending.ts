/**
 * Why a Job of Kubernetes does not run yet. The Job itself says only that it is suspended. Its pod says why it is not scheduled
 * and why a container does not start. Events say why there is no pod, and why a volume is not mounted.
 */
import type { CoreV1Event, V1Job, V1Pod } from '@kubernetes/client-node';
import { formatReason, type PendingReason } from './adapter.ts';

/** Reasons of a waiting container that stay until somebody corrects the image, the manifest or an object that it names. */
const BLOCKING_REASONS = new Set([
  ...['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull', 'InvalidImageName', 'ImageInspectError'],
  ...['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError', 'CrashLoopBackOff'],
  ...['SignatureValidationFailed', 'RegistryUnavailable'],
]);
/** Reasons of a container whose pod is being set up. Only events say why it takes long. */
const SETUP_REASONS = new Set(['ContainerCreating', 'PodInitializing']);
/** The controller of Jobs creates the pod later, once others have left the quota. */
const QUOTA_MESSAGE = /exceeded quota/;

/** The pods of the Jobs, and the warnings about them. */
export interface JobObjects {
  pods: readonly V1Pod[];
  events: readonly CoreV1Event[];
}

/** Returns why the Job does not run yet; null when nothing says it, as in the moment after its creation. */
export function explainJob({ metadata, status }: V1Job, { pods, events }: JobObjects): PendingReason | null {
  const suspended = status?.conditions?.find(({ type, status: is }) => type === 'Suspended' && is === 'True');
  if (suspended) return { text: formatReason('Suspended', suspended.message), isBlocked: false };
  const pod = pods.find((one) => findJobName(one) === metadata?.name);
  if (pod) return explainPod(pod, events);
  const message = findLatestMessage(events, { kind: 'Job', name: metadata?.name, reason: 'FailedCreate' });
  if (message === null) return null;
  return { text: formatReason('FailedCreate', message), isBlocked: !QUOTA_MESSAGE.test(message) };
}

/** Returns true if only events can say why the Job does not run yet. */
export function needsEvents(job: V1Job, pods: readonly V1Pod[]): boolean {
  const reason = explainJob(job, { pods, events: [] });
  return reason === null || SETUP_REASONS.has(reason.text);
}

function explainPod({ metadata, status }: V1Pod, events: readonly CoreV1Event[]): PendingReason | null {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const waiting = containers.flatMap(({ state }) => (state?.waiting?.reason ? [state.waiting] : []));
  const blocked = waiting.find(({ reason = '' }) => BLOCKING_REASONS.has(reason));
  if (blocked) return { text: formatReason(blocked.reason, blocked.message), isBlocked: true };
  const unscheduled = status?.conditions?.find(
    ({ type, status: is }) => type === 'PodScheduled' && is === 'False',
  );
  // A cluster may add a node for the pod, so it waits.
  if (unscheduled)
    return {
      text: formatReason(unscheduled.reason ?? 'Unschedulable', unscheduled.message),
      isBlocked: false,
    };
  const [first] = waiting;
  if (first === undefined) return null;
  const warning = findLatest(events, { kind: 'Pod', name: metadata?.name });
  if (SETUP_REASONS.has(first.reason ?? '') && warning)
    return { text: formatReason(warning.reason, warning.message), isBlocked: false };
  return { text: formatReason(first.reason, first.message), isBlocked: false };
}

const findJobName = ({ metadata }: V1Pod): string | undefined =>
  metadata?.ownerReferences?.find(({ kind, controller }) => kind === 'Job' && controller)?.name;

interface EventFilter {
  kind: string;
  name: string | undefined;
  reason?: string;
}

function findLatest(
  events: readonly CoreV1Event[],
  { kind, name, reason }: EventFilter,
): CoreV1Event | undefined {
  return events
    .filter(({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name)
    .filter((event) => reason === undefined || event.reason === reason)
    .sort((one, other) => readTime(other) - readTime(one))[0];
}

const findLatestMessage = (events: readonly CoreV1Event[], filter: EventFilter): string | null =>
  findLatest(events, filter)?.message ?? null;

const readTime = ({ lastTimestamp, eventTime, metadata }: CoreV1Event): number =>
  (lastTimestamp ?? eventTime ?? metadata.creationTimestamp)?.getTime() ?? 0;
