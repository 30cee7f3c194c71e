/** A cluster of the provisioner in memory. */
import type { JobRequest, ListedJob, WorkerAdapter } from '../../runs/provisioner/adapters/adapter.ts';

/** Jobs that wait until a test lets them run. */
export class MemoryCluster implements WorkerAdapter {
  readonly kind = 'command';
  readonly jobs = new Map<string, ListedJob>();
  readonly requests: JobRequest[] = [];
  readonly stops: [string, boolean][] = [];
  /** The message of the error of the next calls; null for none. */
  startError: string | null = null;
  listError: string | null = null;
  /** true: a start that fails has submitted its job. */
  losesResponses = false;

  async start(request: JobRequest): Promise<string> {
    if (this.startError !== null && !this.losesResponses) throw new Error(this.startError);
    this.requests.push(request);
    const id = String(this.requests.length);
    this.jobs.set(id, { name: request.name, id, state: 'pending', pending: null, failure: null });
    if (this.startError !== null) throw new Error(this.startError);
    return id;
  }

  async list(prefix: string): Promise<ListedJob[]> {
    if (this.listError !== null) throw new Error(this.listError);
    return [...this.jobs.values()].filter(({ name }) => name.startsWith(prefix));
  }

  async stop(id: string, { force }: { force: boolean }): Promise<void> {
    this.stops.push([id, force]);
  }

  set(id: string, fields: Partial<ListedJob>): string {
    const job = this.jobs.get(id);
    if (!job) throw new Error(`There is no job ${id}.`);
    this.jobs.set(id, { ...job, ...fields });
    return job.name;
  }
}
