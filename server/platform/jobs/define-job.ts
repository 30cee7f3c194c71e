/**
 * Background jobs. A job is work without a caller: it reads state and moves it one step. It wakes on notifications for speed and
 * runs at an interval for safety, so a lost notification costs one interval. A process may be killed between any two statements;
 * the next run, here or in another process, continues.
 *
 * A row that fails is logged and backs off; it never delays the other rows of its job.
 */
import type { Clock } from '../clock.ts';
import type { Database, Topic } from '../database/database.ts';
import { errorMessage, type Log } from '../log.ts';
import type { JobMetrics } from './job-metrics.ts';

/** No longer than the interval of the jobs whose rows others wait for, so that their next run tries a failed row again. */
const RETRY_DELAY_MS = 5000;
/** Above it, rows whose delay is over are dropped. */
const ROWS_MAX = 1000;

/** Remembers the failed rows of one job until their next attempt. */
class RowBackoff {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #waitsUntil = new Map<string, number>();

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** True for `RETRY_DELAY_MS` after the row failed. */
  isWaiting(key: string): boolean {
    return (this.#waitsUntil.get(key) ?? 0) > this.#clock.elapsed();
  }

  /** Makes the row wait. */
  add(key: string): void {
    const now = this.#clock.elapsed();
    if (this.#waitsUntil.size >= ROWS_MAX)
      for (const [other, until] of this.#waitsUntil) if (until <= now) this.#waitsUntil.delete(other);
    this.#waitsUntil.set(key, now + RETRY_DELAY_MS);
  }
}

export interface JobContext {
  database: Pick<Database, 'listen'>;
  clock: Clock;
  log: Log;
  metrics: { readonly jobs: JobMetrics };
}

interface JobSettings {
  /** Verb and object in kebab case, such as `remove-expired-uploads`; the label of its log lines and metrics. */
  name: string;
  /** Time from the end of a run to the start of the next. */
  intervalMs: number;
  /** Notifications that wake the job. */
  wakeOn?: readonly Topic[];
  /** Notifications within this time lead to one run; 0 by default. */
  debounceMs?: number;
  /** Rows of one batch. A full batch is followed by another one in the same run. */
  batchSize?: number;
  /** Ends what runs of the job began and did not wait for; called once no run is under way. */
  onStop?(): Promise<void>;
}

/** A job without rows of its own, or one whose single statement handles a whole batch. */
interface StatementJob extends JobSettings {
  /** Returns the number of rows it handled, of `limit` at most; undefined for work without rows. */
  handle(limit: number): Promise<number | undefined>;
}

interface RowJobSettings<Row> extends JobSettings {
  /**
   * Returns `limit` rows at most. `after` is the last row of the batch before, null for the first batch. A list whose rows
   * disappear once they are handled may ignore it.
   */
  listRows(limit: number, after: Row | null): Promise<Row[]>;
  /** Identifies the row for its back-off and in the log. */
  formatKey(row: Row): string;
}

/** Handles each row by itself. */
interface SingleRowJob<Row> extends RowJobSettings<Row> {
  handleRow(row: Row): Promise<unknown>;
  /** True: the rows of a batch at the same time. False by default: one after the other. */
  isParallel?: boolean;
}

/** Handles the rows of a batch together, in one transaction. After a failure it is called with each row alone. */
interface RowBatchJob<Row> extends RowJobSettings<Row> {
  handleRows(rows: readonly Row[]): Promise<unknown>;
}

export type JobDefinition<Row> = StatementJob | SingleRowJob<Row> | RowBatchJob<Row>;

export interface Job {
  readonly name: string;
  /** Runs at once, then on notifications and at its interval. */
  start(): void;
  /** Runs now, or once more after the current run. Does nothing before `start` and after `stop`. */
  wake(): void;
  /** Ends the current run after its current row or batch and begins no other. */
  stop(): Promise<void>;
  /** Runs once, also without `start`. Rejects with an error of the whole run; failures of single rows are logged. */
  runOnce(): Promise<void>;
}

/** Handles all rows that are due; returns early once `isStopping` is true. */
type RunJob = (isStopping: () => boolean) => Promise<void>;

/**
 * Creates a job from its definition; it does not run before `start`. A failed run is logged and repeated at the interval,
 * and a failed row after its back-off. Both are counted in the metrics.
 */
export function defineJob<Row>(context: JobContext, definition: JobDefinition<Row>): Job {
  const { name, intervalMs, wakeOn = [], debounceMs = 0 } = definition;
  const { database, clock, log, metrics } = context;
  const run =
    'handle' in definition ? repeatStatement(context, definition) : handleAllRows(context, definition);
  const unlisten: (() => void)[] = [];
  let isStopping = false;
  const schedule = new JobSchedule({
    intervalMs,
    clock,
    async run() {
      try {
        await run(() => isStopping);
        metrics.jobs.lastRun.set({ job: name }, clock.now() / 1000);
      } catch (error) {
        metrics.jobs.failures.inc({ job: name });
        throw error;
      }
    },
    onFailure: (error) =>
      log.error({ job: name, error: errorMessage(error), retryInMs: intervalMs }, 'Background job failed.'),
  });
  return {
    name,
    start() {
      if (schedule.isStarted) return;
      isStopping = false;
      // Prometheus sees no increase from nothing to 1.
      metrics.jobs.failures.inc({ job: name }, 0);
      const wake = debounceMs > 0 ? () => schedule.wakeWithin(debounceMs) : () => schedule.wake();
      for (const topic of wakeOn) unlisten.push(database.listen(topic, wake));
      schedule.start();
    },
    wake: () => schedule.wake(),
    async stop() {
      isStopping = true;
      for (const stopListening of unlisten.splice(0)) stopListening();
      await schedule.stop();
      await definition.onStop?.();
    },
    runOnce: () => schedule.runOnce(),
  };
}

function repeatStatement({ metrics }: JobContext, definition: StatementJob): RunJob {
  const { name, batchSize = Number.POSITIVE_INFINITY } = definition;
  return async (isStopping) => {
    for (;;) {
      const count = (await definition.handle(batchSize)) ?? 0;
      metrics.jobs.rows.inc({ job: name }, count);
      if (count < batchSize || isStopping()) return;
    }
  };
}

function handleAllRows<Row>(context: JobContext, definition: SingleRowJob<Row> | RowBatchJob<Row>): RunJob {
  const { batchSize = Number.POSITIVE_INFINITY } = definition;
  const handleBatch = createBatchHandler(context, definition);
  return async (isStopping) => {
    let last: Row | null = null;
    for (;;) {
      const rows: Row[] = await definition.listRows(batchSize, last);
      await handleBatch(rows, isStopping);
      const end = rows.at(-1);
      if (end === undefined || rows.length < batchSize || isStopping()) return;
      // A list that ignores `after` and has nothing but failed rows would repeat for ever.
      if (last !== null && definition.formatKey(last) === definition.formatKey(end)) return;
      last = end;
    }
  };
}

type HandleBatch<Row> = (rows: readonly Row[], isStopping: () => boolean) => Promise<void>;

function createBatchHandler<Row>(
  { clock, log, metrics }: JobContext,
  definition: SingleRowJob<Row> | RowBatchJob<Row>,
): HandleBatch<Row> {
  const { name } = definition;
  const backoff = new RowBackoff(clock);
  const handleRow = (row: Row): Promise<unknown> =>
    'handleRow' in definition ? definition.handleRow(row) : definition.handleRows([row]);

  const attempt = async (row: Row): Promise<void> => {
    try {
      await handleRow(row);
      metrics.jobs.rows.inc({ job: name });
    } catch (error) {
      const key = definition.formatKey(row);
      backoff.add(key);
      metrics.jobs.failures.inc({ job: name });
      log.error(
        { job: name, row: key, error: errorMessage(error), retryInMs: RETRY_DELAY_MS },
        'Background job failed on a row.',
      );
    }
  };
  const attemptEach: HandleBatch<Row> = async (rows, isStopping) => {
    for (const row of rows) {
      if (isStopping()) return;
      await attempt(row);
    }
  };

  return async (rows, isStopping) => {
    const due = rows.filter((row) => !backoff.isWaiting(definition.formatKey(row)));
    if ('handleRow' in definition) {
      if (definition.isParallel) await Promise.all(due.map(attempt));
      else await attemptEach(due, isStopping);
      return;
    }
    if (due.length === 0) return;
    try {
      await definition.handleRows(due);
      metrics.jobs.rows.inc({ job: name }, due.length);
    } catch {
      // The error of the row that failed the batch is logged when the row fails alone.
      await attemptEach(due, isStopping);
    }
  };
}

interface JobScheduleSettings {
  /** Time from the end of a run to the start of the next. */
  intervalMs: number;
  clock: Pick<Clock, 'after'>;
  /** One run. */
  run(): Promise<void>;
  /** Is called with the error of a run that nobody waits for. */
  onFailure(error: unknown): void;
}

/**
 * Runs one job: when it starts, when it is woken, and at an interval after each run.
 *
 * Invariants: a job never runs twice at once in a process; a wake during a run leads to exactly one more run; no run begins
 * after `stop`.
 */
class JobSchedule {
  readonly #settings: JobScheduleSettings;
  #running: Promise<void> | null = null;
  #isWoken = false;
  #isStarted = false;
  #hasPendingWake = false;
  #cancelTimer = (): void => {};

  constructor(settings: JobScheduleSettings) {
    this.#settings = settings;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** Runs now, or once more after the current run. Does nothing before `start` and after `stop`. */
  wake(): void {
    if (!this.#isStarted) return;
    if (this.#running) this.#isWoken = true;
    else this.#begin().catch(this.#settings.onFailure);
  }

  /** Runs in `ms`, once for all calls until then. */
  wakeWithin(ms: number): void {
    if (this.#hasPendingWake) return;
    this.#hasPendingWake = true;
    this.#settings.clock.after(ms, () => {
      this.#hasPendingWake = false;
      this.wake();
    });
  }

  /** Runs once, after the current run. Rejects with the error of the run. */
  async runOnce(): Promise<void> {
    while (this.#running) await this.#running;
    await this.#begin();
  }

  /** Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    this.#cancelTimer();
    await this.#running;
  }

  #begin(): Promise<void> {
    this.#cancelTimer();
    const run = this.#settings.run();
    const end = (): void => this.#end();
    this.#running = run.then(end, end);
    return run;
  }

  #end(): void {
    const isWoken = this.#isWoken;
    this.#running = null;
    this.#isWoken = false;
    if (!this.#isStarted) return;
    if (isWoken) this.wake();
    else this.#cancelTimer = this.#settings.clock.after(this.#settings.intervalMs, () => this.wake());
  }
}
