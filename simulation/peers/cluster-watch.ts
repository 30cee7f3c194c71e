/**
 * What the provisioner may do to a cluster. The server knows a job from its submission, unless the answer was lost, and until all
 * lists of a minute lack it. Of the jobs that it knows, there are never more than its setting allows.
 */
import type { Scheduler } from '../kernel/scheduler.ts';
import type { ClusterJob } from './cluster.ts';

/** A job is forgotten when all lists of this time lack it, and no earlier; a second less for the way of the answers. */
const FORGOTTEN_MS = 58_000;
/** Failed starts in this time are as many as the back-off lets begin, at most. */
const FAILURES_MS = 600_000;
const FAILURES_MAX = 10;

interface WatchParts {
  scheduler: Scheduler;
  report(promise: string, detail: string): void;
  /** Returns true once the clock of a server has jumped, which then measures other times. */
  hasJumped(): boolean;
  /** Returns the jobs of the provisioner that have not ended. */
  listJobs(): ClusterJob[];
}

/** Watches the submissions of one world. */
export class ClusterWatch {
  readonly #parts: WatchParts;
  /** Since when the lists lack a job. */
  readonly #omittedSince = new Map<string, number>();
  readonly #forgotten = new Set<string>();
  readonly #failures: number[] = [];
  /** The most jobs at once; the setting of the server. */
  max = 0;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** A job arrives, before it is one of the cluster. */
  submitted({ name }: ClusterJob): void {
    const { listJobs, report, scheduler } = this.#parts;
    const known = listJobs().filter((job) => !this.#isForgotten(job.name));
    if (known.length >= this.max)
      report(
        'the cluster has no more workers than allowed',
        `${name} comes to ${known.length} of ${this.max}`,
      );
    const late = this.#failures.filter((at) => scheduler.now - at < FAILURES_MS);
    if (late.length > this.max + FAILURES_MAX)
      report('starts that fail become rare', `${late.length} starts failed before ${name}`);
  }

  /** The server did not hear that its job was accepted. */
  forget(name: string): void {
    this.#forgotten.add(name);
  }

  /** A forgotten job stays forgotten: once it is listed again, the server stops what is too much. */
  #isForgotten(name: string): boolean {
    const since = this.#omittedSince.get(name);
    const { now } = this.#parts.scheduler;
    if (since !== undefined && (this.#parts.hasJumped() || now - since >= FORGOTTEN_MS))
      this.#forgotten.add(name);
    return this.#forgotten.has(name);
  }

  /** A server has a list. */
  listed(answer: readonly ClusterJob[]): void {
    const names = new Set(answer.filter(({ state }) => state !== 'ended').map(({ name }) => name));
    for (const { name } of this.#parts.listJobs()) {
      const isKnown = !this.#isForgotten(name);
      if (isKnown && names.has(name)) this.#omittedSince.delete(name);
      else this.#omittedSince.set(name, this.#omittedSince.get(name) ?? this.#parts.scheduler.now);
    }
  }

  /** A worker starts, or the list was refused: the server tries again without a pause. */
  registered(): void {
    this.#failures.length = 0;
  }

  ended({ fate }: ClusterJob): void {
    if (fate === 'fails') this.#failures.push(this.#parts.scheduler.now);
  }
}
