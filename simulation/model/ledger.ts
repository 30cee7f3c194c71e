/** What clients, workers and receivers know: the facts against which the checks hold the server. */
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Answer } from '../load/client.ts';
import type { Step } from '../load/step.ts';
import type { WireRequest, WireResponse } from '../machine/simulated-server.ts';
import type { AppInput } from '../workers/app-behavior.ts';
import type { AppStart } from '../workers/simulated-runner.ts';
import { AppWatch } from './app-watch.ts';
import { LeaseHistory } from './lease-history.ts';
import { Registers } from './registers.ts';

/** A run that the server acknowledged. */
export interface AcknowledgedRun {
  id: string;
  account: number;
  application: string;
  instance: string;
  /** The name that no other run has. */
  name: string;
  input: AppInput;
  /** A cancel was sent, whatever came of it. */
  isCancelRequested: boolean;
  /** A deletion was sent, whatever came of it. */
  isDeleteRequested: boolean;
  /** The server has answered a deletion as done. */
  isDeleted: boolean;
  /** The server has answered a cancel as done. */
  isCanceled: boolean;
}

/** A violation of a promise. */
export interface Violation {
  /** The name of the promise; a smaller plan that breaks the same one is the same failure. */
  promise: string;
  detail: string;
}

/** An experiment that the server acknowledged. */
interface AcknowledgedExperiment {
  kind: string;
  id: string;
  account: number;
  isDeleteRequested: boolean;
}

/** Names a resource by what was done to it. */
interface Acknowledgement {
  operation: string;
  resource: string;
}

/** The facts of one simulation. */
export class Ledger {
  readonly #scheduler: Scheduler;
  readonly runs = new Map<string, AcknowledgedRun>();
  /** Acknowledged runs by the step that created them. */
  readonly runsOfSteps = new Map<number, AcknowledgedRun>();
  /** Acknowledged experiments by the step that created them. */
  readonly experiments = new Map<number, AcknowledgedExperiment>();
  /** The account of each webhook of a step, and the times of deletions, by the host name of the receiver. */
  readonly webhooks = new Map<string, number>();
  readonly deletedWebhooks = new Map<string, number>();
  /** The workers that a step drains, until no late request of it can arrive any more. */
  readonly drained = new Set<string>();
  readonly violations: Violation[] = [];
  readonly logCounts = new Map<string, number>();
  /** Requests that the server answered as done. */
  readonly acknowledgements: Acknowledgement[] = [];
  /** Requests by their answer, for the report. */
  readonly answers = new Map<string, number>();
  /** The first terminal status that a client read, by run. */
  readonly readEnds = new Map<string, RunStatusV2>();
  readonly apps: AppWatch;
  readonly registers: Registers;
  /** The first successful answer to each request with a key, by its sender, which every copy gets too. */
  readonly #answersOfKeys = new Map<string, string>();
  /** True once a fault has begun: until then nothing may fail. */
  isDisturbed = false;
  readonly leases: LeaseHistory;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    const report = (promise: string, detail: string): void => this.report(promise, detail);
    this.leases = new LeaseHistory(scheduler, report);
    this.apps = new AppWatch(report);
    this.registers = new Registers(() => scheduler.now, report);
  }

  report(promise: string, detail: string): void {
    this.#scheduler.note(`VIOLATION ${promise}: ${detail}`);
    this.violations.push({ promise, detail });
  }

  /** A request got an answer that the plan does not explain. */
  reportRefusal(step: Step, { status, body }: Answer): void {
    this.report('a valid request succeeds', `${step.do} ${step.id} got ${status} ${JSON.stringify(body)}`);
  }

  acknowledge(operation: string, resource: string): void {
    this.acknowledgements.push({ operation, resource });
  }

  /** The server answered the operation of a step with a new run. */
  acknowledgeRun(step: Step, run: AcknowledgedRun, operation = 'createRun'): void {
    const earlier = this.runsOfSteps.get(step.id);
    if (earlier && earlier.id !== run.id)
      this.report(
        'an idempotency key creates one run',
        `the key of step ${step.id} has ${earlier.id} and ${run.id}`,
      );
    if (earlier) return;
    this.runsOfSteps.set(step.id, run);
    this.runs.set(run.id, run);
    this.acknowledge(operation, run.id);
  }

  acknowledgeExperiment(step: Step, kind: string, id: string): void {
    const account = Number(step.account);
    this.experiments.set(step.id, { kind, id, account, isDeleteRequested: false });
    this.acknowledge(`create ${kind}`, id);
  }

  /** A client read the run. */
  noteRead(run: AcknowledgedRun, body: unknown): void {
    const { metadata } = body as { metadata?: { status_v2?: RunStatusV2 } };
    const status = metadata?.status_v2;
    if (status !== undefined && isTerminal(status)) this.readEnds.set(run.id, status);
  }

  noteLog(level: 'warn' | 'error', message: string, fields: object): void {
    if (level === 'error' && !this.isDisturbed)
      this.report('nothing fails without a fault', `${message} ${JSON.stringify(fields)}`);
    if (message.startsWith('SQLite WAL damaged')) this.report('a power cut is no damage', message);
    const key = `${level}: ${message}`;
    this.logCounts.set(key, (this.logCounts.get(key) ?? 0) + 1);
  }

  /** The server answered a request that was sent at the time. */
  noteAnswer({ path, headers }: WireRequest, { status, body }: WireResponse, sentAt: number): void {
    if (status === 500) this.report('no request fails inside the server', path);
    const key = headers['idempotency-key'];
    if (key !== undefined && status < 300)
      this.#checkRepeated(`${headers.authorization} ${key}`, body.toString());
    // The end of an attempt without a lease is answered too, and not stored.
    if (status < 300 && !body.includes('"stored":false'))
      this.leases.checkAccepted(path.split('?')[0] ?? '', sentAt);
  }

  #checkRepeated(key: string, body: string): void {
    const first = this.#answersOfKeys.get(key) ?? body;
    this.#answersOfKeys.set(key, first);
    if (first !== body)
      this.report(
        'a repeated request gets the first answer',
        `${body.slice(0, 200)} after ${first.slice(0, 200)}`,
      );
  }

  noteApp(event: 'start' | 'end', app: AppStart): void {
    if (event === 'start') this.#scheduler.note(`${app.worker} starts ${app.key}`);
    this.apps.note(event, app);
  }
}
