/**
 * Watches the runs after every event: their transitions, fences, licences and quotas. It reads the rows as they are
 * committed, so it sees also what a power cut takes back later.
 */
import { ATTEMPTS_MAX } from '@switchyard/contract/limits.ts';
import { canTransition, isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import type { Ledger } from './ledger.ts';
import type { Observer, Row } from './observer.ts';

interface WatchedRun {
  status: RunStatusV2;
  fence: number;
  /** The columns that stay after the end, as text; null before. */
  end: string | null;
}

/** What nothing changes after the end of a run. */
const END = `select status, error, attempt, fence, worker_id, cancel_requested_at, finished_at, output_content_id
  from runs where id = ?`;

const RUNNING = `select id, account_id, application_uid, fence, attempt, worker_id, required_licenses, run_type, slot_released_at
  from runs where status = 'running'`;
const NEW_EVENTS = 'select seq, run_id, status from run_events where seq > ? order by seq';

const LIMITS = `select 'licence ' || name || ' of ' || account_id as key, total as amount from account_licenses
  union all select 'quota of ' || account_id, concurrent_runs from account_quotas where concurrent_runs is not null
  union all select 'quota of ' || application_uid, concurrent_runs from application_quotas where concurrent_runs is not null`;

/** Watches the runs of one world. */
export class RunWatch {
  readonly #observer: Observer;
  readonly #ledger: Ledger;
  #version = -1;
  /** The next check reads the events of the past again. */
  #isPast = true;
  #lastEvent = 0;
  readonly #lateEventsMax: number;
  readonly #seen = new Set<number>();
  readonly #runs = new Map<string, WatchedRun>();
  #limits = new Map<string, number>();
  /** How often each transition was seen. */
  readonly transitions = new Map<string, number>();

  /** The events of several servers are committed in another order than their numbers, at most `lateEventsMax` apart. */
  constructor(observer: Observer, ledger: Ledger, { lateEventsMax }: { lateEventsMax: number }) {
    this.#observer = observer;
    this.#ledger = ledger;
    this.#lateEventsMax = lateEventsMax;
  }

  /** Forgets the rows: a crash may have taken some back. */
  reset(): void {
    this.#version = -1;
    this.#isPast = true;
    this.#lastEvent = 0;
    this.#seen.clear();
    this.#runs.clear();
    this.#limits.clear();
  }

  /** Checks the commits since the last call. */
  check(): void {
    const version = this.#observer.readVersion();
    if (version === this.#version) return;
    this.#version = version;
    const before = this.#limits;
    this.#limits = this.#readLimits();
    const events = this.#observer
      .query(NEW_EVENTS, this.#lastEvent - this.#lateEventsMax)
      .filter(({ seq }) => !this.#seen.has(Number(seq)));
    if (events.length === 0) return;
    const started = new Set<string>();
    for (const row of events) {
      this.#lastEvent = Math.max(this.#lastEvent, Number(row.seq));
      this.#seen.add(Number(row.seq));
      const id = String(row.run_id);
      this.#applyEvent(id, row.status as RunStatusV2);
      if (row.status === 'running') started.add(id);
    }
    const running = this.#observer.query(RUNNING);
    for (const row of running) this.#checkFence(row);
    this.#ledger.leases.update(
      running.flatMap(({ id, fence, worker_id }) =>
        worker_id === null ? [] : [{ run: String(id), fence: Number(fence), worker: String(worker_id) }],
      ),
    );
    this.#checkLimits(running, started, before);
    this.#isPast = false;
  }

  #applyEvent(id: string, status: RunStatusV2): void {
    const known = this.#runs.get(id);
    const from = known?.status ?? 'new';
    const name = `${from} → ${status}`;
    this.transitions.set(name, (this.transitions.get(name) ?? 0) + 1);
    if (known && !canTransition(known.status, status))
      this.#ledger.report(
        isTerminal(known.status) ? 'a run ends once' : 'a run follows the transitions',
        `${id} went from ${known.status} to ${status}`,
      );
    if (known?.status === 'running' && status === 'queued' && !this.#mayBeRequeued(id))
      this.#ledger.report('a run is queued again only after a fault', id);
    if (!this.#isPast && this.#ledger.runs.get(id)?.isCanceled && !isTerminal(status))
      this.#ledger.report('a canceled run is not executed again', `${id} became ${status} after its cancel`);
    const end = isTerminal(status) ? this.#readEnd(id) : null;
    if (known) Object.assign(known, { status, end });
    else this.#runs.set(id, { status, fence: 0, end });
  }

  #readEnd(id: string): string | null {
    const [row] = this.#observer.query(END, id);
    return row ? JSON.stringify(row) : null;
  }

  /** Compares each run that has ended with what it was then. */
  checkEnds(): void {
    for (const [id, { end }] of this.#runs) {
      const now = end === null ? null : this.#readEnd(id);
      if (now !== null && now !== end)
        this.#ledger.report('a run that has ended does not change', `${id} was ${end} and is ${now}`);
    }
  }

  /** The app of some runs ends by a fault of its host, and nothing else may fail yet. */
  #mayBeRequeued(id: string): boolean {
    const { isDisturbed, runs } = this.#ledger;
    const end = runs.get(id)?.input.end;
    return isDisturbed || end === 'host' || end === 'host-memory' || end === undefined;
  }

  #checkFence({ id, fence, attempt, worker_id, run_type }: Row): void {
    if (run_type === 'ensemble') return;
    const known = this.#runs.get(String(id));
    if (!known) return;
    if (Number(fence) < known.fence)
      this.#ledger.report('a fencing token never falls', `${id} has ${fence} after ${known.fence}`);
    known.fence = Number(fence);
    if (Number(attempt) > ATTEMPTS_MAX)
      this.#ledger.report('a run has five attempts at most', `${id} has attempt ${attempt}`);
    if (worker_id === null) this.#ledger.report('a running run has a worker', `${id} runs without one`);
  }

  /**
   * Compares the use with the limits when a run has started since. A limit that fell in the same moment counts as before:
   * the order of the two is unknown.
   */
  #checkLimits(
    running: readonly Row[],
    started: ReadonlySet<string>,
    before: ReadonlyMap<string, number>,
  ): void {
    const use = new Map<string, number>();
    const grown = new Set<string>();
    const add = (key: string, amount: number, id: string): void => {
      use.set(key, (use.get(key) ?? 0) + amount);
      if (started.has(id)) grown.add(key);
    };
    for (const row of running) {
      const id = String(row.id);
      if (row.run_type === 'ensemble') continue;
      const licenses: Record<string, number> = JSON.parse(String(row.required_licenses ?? '{}'));
      for (const [name, tokens] of Object.entries(licenses))
        add(`licence ${name} of ${row.account_id}`, tokens, id);
      if (row.slot_released_at !== null) continue;
      add(`quota of ${row.account_id}`, 1, id);
      add(`quota of ${row.application_uid}`, 1, id);
    }
    for (const key of grown) {
      const limit = Math.max(this.#limits.get(key) ?? -1, before.get(key) ?? -1);
      const used = use.get(key) ?? 0;
      const isLimited = this.#limits.has(key) && before.has(key);
      if (isLimited && used > limit)
        this.#ledger.report('no limit is exceeded', `${key}: ${used} of ${limit}`);
    }
  }

  #readLimits(): Map<string, number> {
    return new Map(this.#observer.query(LIMITS).map(({ key, amount }) => [String(key), Number(amount)]));
  }
}
