/** An adapter is the part of the provisioner that knows one kind of cluster. */
import type { WorkerSize } from '../../../platform/settings/provisioner-settings.ts';

const MEBIBYTE = 2 ** 20;

/** The job of a worker that an adapter submits. The worker names the job when it registers. */
export interface JobRequest {
  /** Unique in the cluster; lowercase letters, digits and hyphens. */
  name: string;
  /** The address at which the worker reaches the server. */
  server: string;
  /** The worker token; it must not appear in a list of processes or of jobs. */
  token: string;
  labels: readonly string[];
  /** The cores and memory that the worker offers. */
  size: WorkerSize;
  idleMs: number;
}

/** Why a job does not run yet. */
export interface PendingReason {
  /** The reason in the words of the cluster: its code first, for example `ImagePullBackOff: …`. */
  text: string;
  /** true: the job cannot start until somebody changes it or the cluster. false: it waits for its turn. */
  isBlocked: boolean;
}

/** Returns the text of a pending reason from its code and its message, as far as the cluster names them. */
export const formatReason = (code: string | undefined, message: string | undefined): string =>
  [code, message].filter(Boolean).join(': ');

/** Returns the code of a pending reason: the text before the first colon. The rest may name one pod, or count nodes. */
export const readReasonCode = (text: string): string => text.split(':', 1)[0] ?? '';

/** A job of the provisioner as the cluster lists it. */
export interface ListedJob {
  name: string;
  id: string;
  state: 'pending' | 'running' | 'ended';
  /** null for a job that runs or has ended, and for one whose cluster names no reason. */
  pending: PendingReason | null;
  /** Why the job failed, in the words of the cluster; null for a job that succeeded or has not ended. */
  failure: string | null;
}

/** Starts, lists and stops the jobs of workers. Each method rejects with an error whose message an operator can act on. */
export interface WorkerAdapter {
  readonly kind: 'command' | 'slurm' | 'kubernetes';
  /** Submits one job and returns the id that the cluster gives it. */
  start(request: JobRequest): Promise<string>;
  /** Lists the jobs whose names begin with the prefix. Jobs that ended may be absent. */
  list(prefix: string): Promise<ListedJob[]>;
  /**
   * Ends a job: one that waits is removed, and the worker of one that runs gets SIGTERM, by which it drains. With `force`,
   * the job ends in any case. Does nothing for a job that has ended.
   */
  stop(id: string, options: { force: boolean }): Promise<void>;
}

/**
 * Returns the arguments of the worker program without the token, which it reads from its environment. With memory, a run
 * reserves the cores and memory of its class; without, each core is a slot.
 */
export function formatWorkerArguments({ name, server, labels, size, idleMs }: JobRequest): string[] {
  const { cores, memoryBytes } = size;
  const memory = memoryBytes === null ? null : `${Math.floor(memoryBytes / MEBIBYTE)}M`;
  return [
    ...['--server', server, '--job', name, '--idle', String(idleMs / 1000)],
    ...(memory === null ? ['--slots', String(cores)] : ['--cores', String(cores), '--memory', memory]),
    ...labels.flatMap((label) => ['--label', label]),
  ];
}

/** The variable in which the worker program finds its token. */
export const TOKEN_VARIABLE = 'SWITCHYARD_WORKER_TOKEN';
