/** Prepares the app of a job on this machine: its access to the API, its limits, and the mask of its secrets. */
import { describeRuntimeMismatch, findRuntimeVersion, type Host, type RunSpec } from '@switchyard/runner';
import type { ApiAccess, ApiProxy } from '../access/api-proxy.ts';
import { Mask, NO_MASK } from '../log/mask.ts';
import { type Assignment, buildRunSpec, type Job } from './job.ts';

/** Cores and memory. */
type Resources = Pick<Host, 'cores' | 'memoryBytes'>;

/** The parts of the worker that prepare an app. */
export interface PrepareParts {
  host: Host;
  /** The cores and memory that all runs have together; null for those of the machine. */
  resources: Resources | null;
  /** By which apps reach the API. */
  apiProxy: ApiProxy;
}

/** A prepared app. */
export interface PreparedApp {
  spec: RunSpec;
  /** Hides the secrets of the app in the log and the errors of the run. */
  mask: Mask;
  /** Version of the runtime that will run the app; null for compiled programs. */
  runtimeVersion: string | null;
  /** A sentence, when the version differs from the one that the executable requires. */
  runtimeWarning: string | undefined;
  /** The access of the app to the API; null without. Close it after the end of the app. */
  access: ApiAccess | null;
}

/** Prepares the app of the job. */
export async function prepareApp(
  job: Job,
  assignment: Assignment,
  { host, resources, apiProxy }: PrepareParts,
): Promise<PreparedApp> {
  const isIsolated = host.containment === 'sandbox' && !job.network;
  const access =
    job.accessToken === null
      ? null
      : await apiProxy.open({
          token: job.accessToken,
          isIsolated,
          trace: job.trace,
          prove: (endpoint) => assignment.proveEndpoint(endpoint),
        });
  const { type } = job.executable;
  return {
    spec: buildRunSpec(job, {
      size: limitSize(host, resources),
      environment: access?.environment ?? {},
      ...(access?.forward ? { forward: access.forward } : {}),
      openExecutable: () => assignment.openExecutable(),
      openInput: () => assignment.openInput(),
    }),
    access,
    mask: createMask(job),
    runtimeVersion: findRuntimeVersion(type, host) ?? null,
    runtimeWarning: describeRuntimeMismatch(type, job.runtime, host),
  };
}

/** A run has no more than all runs together, and no more than the machine has. */
function limitSize(host: Host, resources: Resources | null): Resources {
  if (!resources) return host;
  return {
    cores: Math.min(host.cores, resources.cores),
    memoryBytes: Math.min(host.memoryBytes, resources.memoryBytes),
  };
}

/** The token can do less than a secret, and only during the run. In a log it would still look like one. */
function createMask({ secrets, accessToken }: Job): Mask {
  const values = [...secrets.map(({ value }) => value), ...(accessToken === null ? [] : [accessToken])];
  return values.length === 0 ? NO_MASK : new Mask(values);
}
