/** Runs one plan: the load with its faults, the end of all faults, and the time until nothing waits any more. */
import { Draws } from '../kernel/draws.ts';
import type { Plan } from '../load/plan.ts';
import { STEP_KINDS } from '../load/plan.ts';
import { changeSetting, defineSettings, LICENSES_MAX } from '../load/settings.ts';
import type { Step } from '../load/step.ts';
import { endDrains } from '../load/study-steps.ts';
import { checkAcknowledged, checkAtRest } from '../model/final-checks.ts';
import type { Violation } from '../model/ledger.ts';
import { Observer } from '../model/observer.ts';
import { readBack } from '../model/read-back.ts';
import { RunWatch } from '../model/run-watch.ts';
import { UNENDED_STUDIES } from '../model/study-checks.ts';
import type { OpenStorage } from './storage.ts';
import { type Template, World } from './world.ts';

/** Everything ends within this time after the last fault. */
const REST_MS = 3_600_000;
const REST_CHECK_MS = 5000;
/** The servers tell within this time what their jobs have done. */
const JOBS_MS = 60_000;

/** So many events of other transactions may have got their numbers before one of them commits. */
const LATE_EVENTS_MAX = 500;

/** What one simulation showed. */
export interface Outcome {
  plan: Plan;
  violations: Violation[];
  /** The hash of everything that happened. */
  trace: string;
  lastLines: string[];
  events: number;
  simulatedMs: number;
  transitions: ReadonlyMap<string, number>;
  faults: ReadonlyMap<string, number>;
  jobs: ReadonlyMap<string, number>;
  logs: ReadonlyMap<string, number>;
  answers: ReadonlyMap<string, number>;
}

const WAITING = [
  `select count(*) from runs where status in ('queued', 'running')`,
  'select count(*) from planned_runs',
  'select count(*) from run_events where pending = 1',
  'select count(*) from webhook_deliveries',
  'select count(*) from captured_runs',
  'select count(*) from audit_entries where number is null',
  'select count(*) from usage_records',
  'select count(*) from applications where deleted_at is not null',
  'select count(*) from experiments where deleted_at is not null',
  ...UNENDED_STUDIES,
];

const UNENDED = `select id, name, status, worker_id, fence, attempt, cancel_requested_at, retry_at, required_labels,
  required_licenses, (select count(*) from workers where workers.id = worker_id) as workers
  from runs where status in ('queued', 'running') limit 3`;

/** Creates the template of the worlds of this process in the folder. */
export async function createTemplate(folder: string, openStorage?: OpenStorage): Promise<Template> {
  const world = new World('template', { openStorage });
  try {
    return await world.createTemplate(folder);
  } finally {
    world.close();
  }
}

/** Simulates one plan. */
export async function simulate(
  plan: Plan,
  template: Template,
  { keepsTrace = false, openStorage }: { keepsTrace?: boolean; openStorage?: OpenStorage | undefined } = {},
): Promise<Outcome> {
  const world = new World(plan.seed, { keepsTrace, template, openStorage });
  try {
    return await new Simulation(world, plan).run();
  } finally {
    world.close();
  }
}

class Simulation {
  readonly #world: World;
  readonly #plan: Plan;
  readonly #observer: Observer;
  readonly #watch: RunWatch;
  #openSteps = 0;

  constructor(world: World, plan: Plan) {
    this.#world = world;
    this.#plan = plan;
    this.#observer = new Observer(() => world.observe());
    this.#watch = new RunWatch(this.#observer, world.ledger, {
      lateEventsMax: world.storage ? LATE_EVENTS_MAX : 0,
    });
    world.blobs.onRemove = (key) => {
      if (this.#observer.count('select count(*) from contents where blob_key = ?', key) > 0)
        world.ledger.report('a row names no missing blob', `${key} was removed before its row`);
    };
    world.onServerStart = () => {
      this.#watch.reset();
      checkAcknowledged(world, this.#observer);
    };
  }

  async run(): Promise<Outcome> {
    const { scheduler, ledger } = this.#world;
    for (const step of this.#plan.steps) STEP_KINDS[step.do]?.prepare?.(this.#world, step);
    await this.#world.begin();
    const begun = { events: scheduler.events, now: scheduler.now };
    this.#addWorkers();
    defineSettings(this.#world);
    for (const step of this.#plan.steps) scheduler.after(step.at, '', () => this.#start(step));
    const end = scheduler.now + (this.#plan.steps.at(-1)?.at ?? 0) + 1;
    await this.#advance({ time: end });
    this.#world.heal();
    await this.#rest();
    if (ledger.violations.length === 0) await this.#complete(readBack(this.#world));
    if (ledger.violations.length === 0) {
      this.#watch.checkEnds();
      await checkAtRest(this.#world, this.#plan, this.#observer);
    }
    const jobs = await this.#readJobs();
    return {
      plan: this.#plan,
      violations: ledger.violations,
      events: scheduler.events - begun.events,
      simulatedMs: scheduler.now - begun.now,
      trace: scheduler.finishTrace(),
      lastLines: scheduler.lastLines,
      transitions: this.#watch.transitions,
      faults: new Map([
        ...this.#world.faults,
        ...this.#world.network.counts,
        ...this.#world.receivers.counts,
        ...this.#world.peers.counts,
        ...(this.#world.storage?.counts ?? []),
      ]),
      jobs,
      logs: ledger.logCounts,
      answers: ledger.answers,
    };
  }

  /** Runs the scheduler until the work of clients has ended. */
  async #complete(work: Promise<void>): Promise<void> {
    let hasEnded = false;
    work.then(
      () => {
        hasEnded = true;
      },
      (error: unknown) => this.#world.ledger.report('a step ends without an error', String(error)),
    );
    await this.#advance({ time: this.#world.scheduler.now + REST_MS, isDone: () => hasEnded });
  }

  /** The servers answer on the scheduler, like everything that they do. */
  async #readJobs(): Promise<ReadonlyMap<string, number>> {
    const { scheduler, server } = this.#world;
    let jobs: ReadonlyMap<string, number> | null = null;
    void server.readJobs().then((read) => {
      jobs = read;
    });
    await scheduler.run({ time: scheduler.now + JOBS_MS, isDone: () => jobs !== null });
    return jobs ?? new Map();
  }

  /** The first worker can execute every run, so that everything can end. */
  #addWorkers(): void {
    const draws = new Draws(`${this.#plan.seed} workers`);
    const [, second] = this.#world.accounts;
    const count = 1 + draws.below(4);
    for (let index = 0; index < count; index += 1) {
      const ofFirst = index > 0 && draws.happens(0.2);
      const isSized = draws.happens(0.4);
      this.#world.addWorker({
        name: `worker-${index}`,
        account: ofFirst ? 0 : null,
        token: (ofFirst ? this.#world.accounts[0] : second)?.workerToken ?? '',
        slots: 1 + draws.below(4),
        resources: isSized ? { cores: 16, memoryBytes: 64 * 1024 ** 3 } : null,
        labels: index === 0 || draws.happens(0.3) ? ['gpu'] : [],
      });
    }
  }

  #start(step: Step): void {
    const { scheduler, ledger } = this.#world;
    scheduler.note(`step ${JSON.stringify(step)}`);
    const kind = STEP_KINDS[step.do];
    if (!kind) throw new Error(`There is no step ${step.do}.`);
    this.#openSteps += 1;
    Promise.resolve(kind.run(this.#world, step))
      .catch((error: unknown) =>
        ledger.report(
          'a step ends without an error',
          `${step.do} ${step.id}: ${error instanceof Error ? error.stack : error}`,
        ),
      )
      .finally(() => {
        this.#openSteps -= 1;
      });
  }

  async #advance(until: { time: number; isDone?(): boolean }): Promise<void> {
    const { scheduler, ledger, server, storage } = this.#world;
    const isDone = (): boolean => ledger.violations.length > 0 || (until.isDone?.() ?? false);
    await scheduler.run({ ...until, isDone }, () => {
      if (storage || server.isListening) this.#watch.check();
    });
  }

  /** Lets everything end, and reports what does not. */
  async #rest(): Promise<void> {
    const { scheduler, ledger, server } = this.#world;
    let isFree = false;
    void this.#freeLimits().then(() => {
      isFree = true;
    });
    const end = scheduler.now + REST_MS;
    let checkedAt = 0;
    let waiting: string[] = [];
    const isDone = (): boolean => {
      if (!isFree || this.#openSteps > 0 || !server.isListening) return false;
      if (scheduler.now - checkedAt < REST_CHECK_MS) return false;
      checkedAt = scheduler.now;
      waiting = [
        ...WAITING.filter((sql) => this.#observer.count(sql) > 0),
        ...this.#world.peers.listWaiting(),
      ];
      return waiting.length === 0;
    };
    await this.#advance({ time: end, isDone });
    const isOver = waiting.length === 0 && checkedAt > 0 && isFree && this.#openSteps === 0;
    if (ledger.violations.length > 0 || (isOver && server.isListening)) return;
    if (!server.isListening) waiting.push(`the server does not start: ${server.refusedStarts.at(-1)}`);
    const unended = server.isListening ? this.#observer.query(UNENDED) : [];
    const detail = [
      ...waiting,
      JSON.stringify(unended),
      `${this.#openSteps} steps are open`,
      `limits are free: ${isFree}`,
    ].join('; ');
    ledger.report('everything ends once the faults are over', detail);
  }

  /** Gives every account enough licences and no quotas, and ends every drain. */
  async #freeLimits(): Promise<void> {
    for (const account of this.#world.accounts.keys())
      await Promise.all([
        changeSetting(this.#world, { account, name: 'licenses', value: LICENSES_MAX }),
        changeSetting(this.#world, { account, name: 'quotas', value: 0 }),
        changeSetting(this.#world, { account, name: 'quotas of the application', value: 0 }),
      ]);
    await endDrains(this.#world);
  }
}
