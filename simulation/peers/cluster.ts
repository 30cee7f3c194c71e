/**
 * A cluster that runs the jobs of the provisioner. It keeps its own truth: which jobs were submitted, wait, run and have ended.
 * Its answers can be late, lost or wrong. The front ends of this folder speak the languages of its kinds.
 */
import { readWorkerSettings } from '@switchyard/worker/remote/settings.ts';
import type { Draws } from '../kernel/draws.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';
import type { SimulatedWorker, WorkerSettings } from '../workers/simulated-worker.ts';
import { type ClusterFaults, NO_CLUSTER_FAULTS } from './cluster-faults.ts';
import { ClusterWatch } from './cluster-watch.ts';

/** What becomes of a job. */
type Fate = 'works' | 'held' | 'blocked' | 'fails' | 'hangs';

/** A job of the cluster. */
export interface ClusterJob {
  name: string;
  id: string;
  /** Another user of the cluster has submitted it. */
  isForeign: boolean;
  state: 'pending' | 'running' | 'ended';
  /** Why it waits; empty without a reason. */
  pendingReason: string;
  /** Why it failed; empty for a job that did not. */
  failure: string;
  endedAt: number;
  fate: Fate;
  isStubborn: boolean;
  worker: SimulatedWorker | null;
}

/** A job as somebody submits it. */
export interface Submission {
  name: string;
  /** The arguments of the worker program. */
  args: readonly string[];
  /** Returns the worker token when the job starts. */
  readToken(): string;
}

interface CallSettings<T> {
  limitMs: number;
  fail(reason: 'silent' | 'refused'): Error;
  heard?(result: T): void;
}

interface ClusterParts {
  hasJumped(): boolean;
  scheduler: Scheduler;
  draws: Draws;
  report(promise: string, detail: string): void;
  startWorker(settings: WorkerSettings, onEnd: () => void): SimulatedWorker;
}

/** Ended jobs stay in the lists for this time. */
const RETENTION_MS = 300_000;
const QUEUE_MS = 2000;
const START_MS = 1500;
const LATE_MS_MAX = 600_000;
const LATE_CALL_MS_MAX = 55_000;
const FAILING_MS_MAX = 20_000;
/** Older lists that a stale one repeats. */
const OLD_LISTS_MAX = 10;
/** Their names begin like those of another installation, and like anything else. */
const FOREIGN_JOBS = ['switchyard-0000000000-other', 'train-model'];

/** The jobs of one cluster. */
export class Cluster {
  readonly #parts: ClusterParts;
  readonly #jobs: ClusterJob[];
  readonly #oldLists: ClusterJob[][] = [];
  #lastId = 0;
  faults: ClusterFaults = NO_CLUSTER_FAULTS;
  readonly counts = new Map<string, number>();
  readonly watch: ClusterWatch;

  constructor(parts: ClusterParts) {
    this.#parts = parts;
    this.watch = new ClusterWatch({ ...parts, listJobs: () => this.live });
    this.#jobs = FOREIGN_JOBS.map((name) => ({
      ...this.#createJob(name),
      isForeign: true,
      state: 'running',
    }));
  }

  /** The jobs of the provisioner that have not ended. */
  get live(): ClusterJob[] {
    return this.#jobs.filter(({ isForeign, state }) => !isForeign && state !== 'ended');
  }

  #createJob(name: string): ClusterJob {
    this.#lastId += 1;
    return {
      ...{ name, id: String(this.#lastId), isForeign: false, state: 'pending', pendingReason: '' },
      ...{ failure: '', endedAt: 0, fate: this.#drawFate(), isStubborn: this.#happens('stubbornJobs') },
      worker: null,
    };
  }

  #drawFate(): Fate {
    if (this.#happens('heldJobs')) return 'held';
    if (this.#happens('blockedJobs')) return 'blocked';
    if (this.#happens('failingJobs')) return 'fails';
    return this.#happens('hangingJobs') ? 'hangs' : 'works';
  }

  /**
   * Lets a process call the cluster. It gives up after `limitMs`. `fail` returns the error of a call that the cluster does
   * not answer well. `heard` is called when the process has the answer.
   */
  call<T>(owner: SimulatedProcess, { limitMs, fail, heard }: CallSettings<T>, work: () => T): Promise<T> {
    const { scheduler, draws } = this.#parts;
    return new Promise((resolve, reject) => {
      let isOver = false;
      const finish = (end: () => void): void => {
        if (isOver) return;
        isOver = true;
        cancel();
        owner.deliver(end);
      };
      const cancel = scheduler.after(limitMs, '', () => finish(() => reject(fail('silent'))));
      const usual = draws.duration(50);
      const delay = this.#happens('lateCalls') ? draws.between(0, LATE_CALL_MS_MAX) : usual;
      scheduler.after(delay, '', () => {
        if (this.#happens('refusedCalls')) return finish(() => reject(fail('refused')));
        const isSilent = this.#happens('silentCalls');
        if (isSilent && draws.happens(0.5)) return;
        let end: () => void;
        try {
          const result = work();
          end = () => {
            heard?.(result);
            resolve(result);
          };
        } catch (error) {
          end = () => reject(error);
        }
        if (isSilent) return;
        if (this.#happens('failedAnswers')) return finish(() => reject(fail('refused')));
        scheduler.after(draws.duration(20), '', () => finish(end));
      });
    });
  }

  submit(submission: Submission): ClusterJob {
    const { scheduler, draws } = this.#parts;
    const job = this.#createJob(submission.name);
    this.watch.submitted(job);
    this.#jobs.push(job);
    scheduler.note(`the cluster gets ${job.name}, which ${job.fate}`);
    if (job.fate === 'blocked') job.pendingReason = 'blocked';
    if (job.fate === 'held') job.pendingReason = 'held';
    if (job.fate === 'held' || job.fate === 'blocked') return job;
    const wait = this.#happens('lateJobs') ? draws.between(0, LATE_MS_MAX) : draws.duration(QUEUE_MS);
    scheduler.after(wait, '', () => this.#begin(job, submission));
    return job;
  }

  #begin(job: ClusterJob, submission: Submission): void {
    const { scheduler, draws } = this.#parts;
    if (job.state !== 'pending') return;
    job.state = 'running';
    scheduler.note(`the cluster starts ${job.name}`);
    if (job.fate === 'fails')
      scheduler.after(draws.between(0, FAILING_MS_MAX), '', () => this.#end(job, 'exit code 1'));
    if (job.fate === 'works')
      scheduler.after(draws.duration(START_MS), '', () => this.#startWorker(job, submission));
  }

  #startWorker(job: ClusterJob, { args, readToken }: Submission): void {
    if (job.state !== 'running') return;
    const settings = readWorkerSettings(args, { SWITCHYARD_WORKER_TOKEN: readToken() });
    if (!settings) throw new Error('The job asks for the help of the worker.');
    this.watch.registered();
    const { token, slots, resources, labels, idleMs, jobId } = settings;
    job.worker = this.#parts.startWorker(
      {
        ...{ name: job.name, token, slots, resources, labels: [...labels], account: null },
        job: { id: jobId ?? '', idleMs: idleMs ?? 0 },
      },
      () => this.#end(job, ''),
    );
  }

  #end(job: ClusterJob, failure: string): void {
    if (job.state === 'ended') return;
    const { scheduler } = this.#parts;
    Object.assign(job, { state: 'ended', failure, endedAt: scheduler.now, pendingReason: '' });
    scheduler.note(`${job.name} ends on the cluster: ${failure}`);
    this.watch.ended(job);
  }

  /** Sends SIGTERM to a job, or ends it by force; `only` names the state that a job must have for it. */
  stop(id: string, { force, only }: { force: boolean; only?: ClusterJob['state'] }): boolean {
    const job = this.#jobs.find((one) => one.id === id || one.name === id);
    if (!job || job.state === 'ended') return false;
    if (job.isForeign) this.#parts.report('a foreign job is left alone', `${job.name} is stopped`);
    if (only !== undefined && job.state !== only) return true;
    this.#parts.scheduler.note(`the cluster stops ${job.name}${force ? ' by force' : ''}`);
    if (job.state === 'pending') this.#end(job, 'CANCELLED');
    else if (force) this.#kill(job, 'CANCELLED');
    else if (!job.isStubborn && job.fate !== 'hangs') this.#terminate(job);
    return true;
  }

  #terminate(job: ClusterJob): void {
    if (job.worker) job.worker.stop();
    else this.#end(job, 'CANCELLED');
  }

  #kill(job: ClusterJob, failure: string): void {
    this.#end(job, failure);
    job.worker?.crash();
  }

  /** A node goes down with one of the jobs. */
  failNode(index: number): void {
    const running = this.live.filter(({ state }) => state === 'running');
    const job = running[index % running.length];
    if (job) this.#kill(job, 'NODE_FAIL');
  }

  /** Returns the list as the cluster answers it now. */
  list(): ClusterJob[] {
    const { scheduler, draws } = this.#parts;
    const isListed = ({ state, endedAt }: ClusterJob): boolean =>
      state !== 'ended' || scheduler.now - endedAt < RETENTION_MS;
    const present = this.#jobs.filter(isListed).map((job) => ({ ...job }));
    this.#oldLists.push(present);
    if (this.#oldLists.length > OLD_LISTS_MAX) this.#oldLists.shift();
    let answer = present;
    if (this.#happens('staleLists')) answer = draws.pick(this.#oldLists);
    if (this.#happens('partialLists')) answer = answer.filter(() => draws.happens(0.5));
    if (this.#happens('emptyLists')) answer = [];
    if (this.#happens('doubledLists')) answer = [...answer, ...answer];
    return answer;
  }

  #happens(fault: keyof ClusterFaults): boolean {
    if (!this.#parts.draws.happens(this.faults[fault])) return false;
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    return true;
  }
}
