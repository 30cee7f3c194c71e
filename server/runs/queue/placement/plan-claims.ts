/**
 * Decides which waiting runs a worker starts now, when slots are not all that runs need: also cores, memory and licence
 * tokens. Pure.
 *
 * Runs start in queue order. The first run that does not fit now gets a reservation: the earliest time at which it fits on a
 * worker, by the expected ends of the running runs. A later run may start before it only if it ends by that time, or if the
 * reserved run fits beside it then. This is EASY backfill (Lifka, Job Scheduling Strategies for Parallel Processing, LNCS
 * 949, 1995). The first run that waits for this very worker gets a reservation too, when it is another one.
 *
 * A run that no worker could ever start reserves nothing, and neither does one that its quota holds back. So neither blocks
 * the runs after it.
 */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Pool } from '@switchyard/worker/execute/slots.ts';
import { canEverServe, countFitting, type Demand, type WorkerOffer } from '../../workers/offers.ts';
import type { FreeRuns } from '../order/fair-order.ts';
import { formatLicenseKey } from '../run-requirements.ts';

/** The things that a run occupies while it is running. */
interface Needs {
  executionClass: ExecutionClass;
  account: AccountId;
  licenses: Readonly<Record<string, number>>;
}

export interface RunningNeeds extends Needs {
  workerId: string;
  /** False for a workflow that waits without a slot. It occupies only its licence tokens. */
  hasSlot: boolean;
  /** The expected end, in milliseconds since the epoch; it may have passed. */
  endsAt: number;
}

export interface WaitingNeeds extends Needs, Demand {
  id: RunId;
  createdAt: number;
  /** False for a run that waits for something else, such as a workflow beyond the bound of the worker. */
  isClaimable: boolean;
  /** The expected duration, in milliseconds. */
  durationMs: number;
}

/** A worker that claims runs. */
export interface Host {
  id: string;
  offer: WorkerOffer;
  pools: readonly Pool[];
}

export interface Situation {
  /** The worker that claims; it is one of the hosts. */
  self: Host;
  hosts: readonly Host[];
  /** The classes for which it claims, and how many runs. */
  classes: readonly ExecutionClass[];
  limit: number;
  running: readonly RunningNeeds[];
  /** In queue order. */
  waiting: readonly WaitingNeeds[];
  /** The total of each licence, by formatLicenseKey. */
  licenses: ReadonlyMap<string, number>;
  quotas: FreeRuns;
  now: number;
}

/**
 * A run that waits for so long has a reservation on every worker that could start it. The worker that should start it first may
 * be one that claims nothing, for example because its disk is full.
 */
const RESERVED_EVERYWHERE_AFTER_MS = 10 * 60 * 1000;

/** The waiting runs that the worker starts now, in queue order. */
interface ClaimPlan {
  started: RunId[];
  /** True when a run did not fit, so that the expected durations decided which later runs may start. */
  hasReserved: boolean;
}

export function planClaims(situation: Situation): ClaimPlan {
  const { self, waiting, classes, limit } = situation;
  const cluster = new Cluster(situation);
  const quotas = new QuotaCount(situation.quotas);
  const reservations: Reservation[] = [];
  const started: RunId[] = [];
  let reservesSelf = false;
  for (const run of waiting) {
    if (started.length === limit) break;
    if (!quotas.hasFree(run) || !cluster.hasLicenses(run)) continue;
    const isOwn = run.isClaimable && classes.includes(run.executionClass) && canServe(self, run);
    const startsNow =
      isOwn && cluster.fitsNow(run) && !reservations.some((reservation) => cluster.delays(reservation, run));
    if (startsNow) {
      cluster.start(run);
      quotas.count(run);
      started.push(run.id);
    } else if (reservations.length === 0 || (isOwn && !reservesSelf)) {
      reservations.push(...cluster.reserve(run));
      reservesSelf ||= isOwn;
    }
  }
  return { started, hasReserved: reservations.length > 0 };
}

/** Returns true if the worker could start the run if nothing else was running. */
function canServe({ offer, pools }: Host, run: WaitingNeeds): boolean {
  return (findPool(pools, run.executionClass)?.slots ?? 0) > 0 && canEverServe(offer, run);
}

/** A start that later runs must not delay. */
interface Reservation {
  host: Host;
  run: WaitingNeeds;
  start: number;
}

/** Of equal starts all workers choose the same one. If each chose itself, each would keep a slot from the runs after it. */
function isBetter(one: Reservation, other: Reservation): boolean {
  return one.start < other.start || (one.start === other.start && one.host.id < other.host.id);
}

/** The running runs by worker, those that this claim starts included, and the licences. */
class Cluster {
  readonly #situation: Situation;
  readonly #running = new Map<string, RunningNeeds[]>();
  readonly #holders = new Map<string, RunningNeeds[]>();

  constructor(situation: Situation) {
    this.#situation = situation;
    for (const run of situation.running) this.#add(run);
  }

  /**
   * The end of a run that has outlived its expected end can be any moment, but is not now. A run that starts now does not end
   * now either, although past runs lasted for no time when the clock was set back.
   */
  #add(added: RunningNeeds): void {
    const run = { ...added, endsAt: Math.max(added.endsAt, this.#situation.now + 1) };
    if (run.hasSlot) addTo(this.#running, run.workerId, run);
    for (const name of Object.keys(run.licenses))
      addTo(this.#holders, formatLicenseKey(run.account, name), run);
  }

  /** Counts a run that this claim starts. */
  start(run: WaitingNeeds): void {
    const { self, now } = this.#situation;
    this.#add({ ...run, workerId: self.id, hasSlot: true, endsAt: now + run.durationMs });
  }

  /** Returns true if the account has as many tokens as the run requires, used ones included. */
  hasLicenses(run: WaitingNeeds): boolean {
    return Object.entries(run.licenses).every(([name, tokens]) => this.#findTotal(run, name) >= tokens);
  }

  /** Returns true if the run fits on the claiming worker now. */
  fitsNow(run: WaitingNeeds): boolean {
    const { self, now } = this.#situation;
    return this.#hasTokens(run, now) && this.#hasCapacity(self, run, now);
  }

  #hasTokens(run: WaitingNeeds, at: number, other?: WaitingNeeds): boolean {
    return Object.entries(run.licenses).every(([name, tokens]) => {
      const used = (this.#holders.get(formatLicenseKey(run.account, name)) ?? [])
        .filter(({ endsAt }) => endsAt > at)
        .reduce((sum, holder) => sum + countTokens(holder, name), 0);
      const ofOther = other?.account === run.account ? countTokens(other, name) : 0;
      return used + ofOther + tokens <= this.#findTotal(run, name);
    });
  }

  /** The free slots of the claiming worker are the limit of the claim, not those that its rows show. */
  #hasCapacity(host: Host, { executionClass }: WaitingNeeds, at: number, other?: WaitingNeeds): boolean {
    const { self, now } = this.#situation;
    const running = this.#listClasses(host, at);
    if (other && host === self) running.push(other.executionClass);
    if (countFitting(host.offer, running, executionClass) <= 0) return false;
    if (host === self && at === now && !other) return true;
    const pool = findPool(host.pools, executionClass);
    return !!pool && running.filter((name) => pool.classes.includes(name)).length < pool.slots;
  }

  /** Lists the classes of the runs in the slots of the worker at the time. */
  #listClasses(host: Host, at: number): ExecutionClass[] {
    const running = this.#running.get(host.id) ?? [];
    return running.filter(({ endsAt }) => endsAt > at).map(({ executionClass }) => executionClass);
  }

  #findTotal({ account }: Needs, name: string): number {
    return this.#situation.licenses.get(formatLicenseKey(account, name)) ?? 0;
  }

  /** Returns true if the run, started now, would keep the reserved run from its start. */
  delays({ host, run, start }: Reservation, candidate: WaitingNeeds): boolean {
    if (this.#situation.now + candidate.durationMs <= start) return false;
    return !(this.#hasTokens(run, start, candidate) && this.#hasCapacity(host, run, start, candidate));
  }

  /**
   * Reserves the earliest start of the run: on every worker for a run that has waited for long, on none for a run that no
   * worker could start.
   */
  reserve(run: WaitingNeeds): Reservation[] {
    const hosts = this.#situation.hosts.filter((host) => canServe(host, run));
    const tokensAt = this.#findTokens(run);
    const starts = hosts.map((host) => ({
      host,
      run,
      start: Math.max(tokensAt, this.#findCapacity(host, run)),
    }));
    const [first] = starts;
    if (!first || this.#situation.now - run.createdAt >= RESERVED_EVERYWHERE_AFTER_MS) return starts;
    return [starts.reduce((best, one) => (isBetter(one, best) ? one : best), first)];
  }

  /** Returns the earliest time at which the tokens of the run are free. None is in use after the last end. */
  #findTokens(run: WaitingNeeds): number {
    const names = Object.keys(run.licenses);
    const holders = names.flatMap((name) => this.#holders.get(formatLicenseKey(run.account, name)) ?? []);
    return this.#findEnd(holders, (at) => this.#hasTokens(run, at));
  }

  /** Returns the earliest time at which the worker has the capacity for the run. It is idle after the last end. */
  #findCapacity(host: Host, run: WaitingNeeds): number {
    return this.#findEnd(this.#running.get(host.id) ?? [], (at) => this.#hasCapacity(host, run, at));
  }

  /** Returns now or the first end of the runs at which the condition is true. It stays true, because runs only end. */
  #findEnd(runs: readonly RunningNeeds[], isTrue: (at: number) => boolean): number {
    const { now } = this.#situation;
    if (isTrue(now)) return now;
    const ends = runs.map(({ endsAt }) => endsAt).sort((one, other) => one - other);
    return ends.find(isTrue) ?? now;
  }
}

/** Counts the runs that this claim starts against the quotas. */
class QuotaCount {
  readonly #accounts: Map<AccountId, number>;
  readonly #applications: Map<string, number>;

  constructor({ accounts, applications }: FreeRuns) {
    this.#accounts = new Map(accounts);
    this.#applications = new Map(applications);
  }

  hasFree({ account, applicationUid }: Demand): boolean {
    return (this.#accounts.get(account) ?? 1) > 0 && (this.#applications.get(applicationUid) ?? 1) > 0;
  }

  count({ account, applicationUid }: Demand): void {
    decrement(this.#accounts, account);
    decrement(this.#applications, applicationUid);
  }
}

function decrement<Key>(counts: Map<Key, number>, key: Key): void {
  const count = counts.get(key);
  if (count !== undefined) counts.set(key, count - 1);
}

function addTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function countTokens({ licenses }: Needs, name: string): number {
  return Object.hasOwn(licenses, name) ? (licenses[name] ?? 0) : 0;
}

function findPool(pools: readonly Pool[], name: ExecutionClass): Pool | undefined {
  return pools.find(({ classes }) => classes.includes(name));
}
