/**
 * The order of the queue. It goes by priority, the lowest number first. Runs of one priority take turns: the next one is of
 * the account that uses the fewest slots, and within the account of the application that uses the fewest. Of equal ones, the
 * one whose first run is older comes first. The runs of an application start in order of age. Pure.
 *
 * `FairOrder` is the order in which runs start if slots become free at the same moment: each run counts as one more slot for the
 * runs after it. Claims, places and backfill have this order. Predicted starts ask the same rule at each simulated start.
 */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { compareAge, type QueuePosition } from './queue-position.ts';
import { SlotUse } from './slot-use.ts';

/** A queued run, as far as its position depends on it. */
export interface QueuedPosition extends QueuePosition {
  account_id: AccountId;
  application_uid: string;
}

/** The queued runs of one priority of an application. */
export interface Turns {
  /** The oldest run. */
  first: QueuedPosition;
  /** The number of runs; infinite when there are more than anybody asks for. */
  size: number;
}

/** Returns the same text for runs that are in the same turns. */
export function formatTurnsKey({
  priority,
  account_id,
  application_uid,
}: Pick<QueuedPosition, 'priority' | 'account_id' | 'application_uid'>): string {
  return `${priority} ${account_id} ${application_uid}`;
}

/** How many more runs may start. Accounts and applications without a quota are absent. */
export interface FreeRuns {
  accounts: ReadonlyMap<AccountId, number>;
  /** By the uid of the application. */
  applications: ReadonlyMap<string, number>;
}

export const NO_QUOTAS: FreeRuns = { accounts: new Map(), applications: new Map() };

/** The facts on which the choice of the next run depends. */
export interface TurnsView<T> {
  /** The slots that the account of the turns uses; infinite when it may start none of their runs. */
  findAccountUse(turns: T): number;
  /** The slots that the application of the turns uses; infinite when it may start none of their runs. */
  findApplicationUse(turns: T): number;
  /** Compares the ages of the first runs. */
  compareFirst(one: T, other: T): number;
}

/**
 * Returns the turns whose run is next, of those with the same priority, by account; null when none may start. The rule of the
 * queue: claims, places and each start of a simulation ask it.
 */
export function chooseTurns<T>(level: readonly (readonly T[])[], view: TurnsView<T>): T | null {
  let next: T | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const ofAccount of level) {
    const [any] = ofAccount;
    const use = any === undefined ? Number.POSITIVE_INFINITY : view.findAccountUse(any);
    if (use === Number.POSITIVE_INFINITY || use > least) continue;
    const turns = chooseOfAccount(ofAccount, view);
    if (turns === null) continue;
    if (next === null || use < least || view.compareFirst(turns, next) < 0) next = turns;
    least = use;
  }
  return next;
}

function chooseOfAccount<T>(ofAccount: readonly T[], view: TurnsView<T>): T | null {
  let next: T | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const turns of ofAccount) {
    const use = view.findApplicationUse(turns);
    if (use === Number.POSITIVE_INFINITY || use > least) continue;
    if (next === null || use < least || view.compareFirst(turns, next) < 0) next = turns;
    least = use;
  }
  return next;
}

/** Walks through the order, without the runs that exceed a quota. */
export class FairOrder<T extends Turns> {
  readonly #use: SlotUse;
  readonly #freeOfAccounts: Map<AccountId, number>;
  readonly #freeOfApplications: Map<string, number>;
  /** The turns of each account, by priority, the lowest number first. */
  readonly #levels: T[][][];
  readonly #started = new Map<T, number>();
  readonly #view: TurnsView<T> = {
    findAccountUse: ({ first: { account_id } }) =>
      this.#freeOfAccounts.get(account_id) === 0
        ? Number.POSITIVE_INFINITY
        : this.#use.findAccount(account_id),
    findApplicationUse: ({ first: { application_uid } }) =>
      this.#freeOfApplications.get(application_uid) === 0
        ? Number.POSITIVE_INFINITY
        : this.#use.findApplication(application_uid),
    compareFirst: (one, other) => compareAge(one.first, other.first),
  };

  constructor(turns: readonly T[], use: SlotUse, free: FreeRuns = NO_QUOTAS) {
    this.#use = new SlotUse(use);
    this.#freeOfAccounts = new Map(free.accounts);
    this.#freeOfApplications = new Map(free.applications);
    const levels = Map.groupBy(
      turns.filter(({ size }) => size > 0),
      ({ first }) => first.priority,
    );
    this.#levels = [...levels]
      .sort(([one], [other]) => one - other)
      .map(([, level]) => [...Map.groupBy(level, ({ first }) => first.account_id).values()]);
  }

  /** Returns the turns whose next run is the next in the order; null after the last. */
  next(): T | null {
    for (let level = this.#levels[0]; level; level = this.#levels[0]) {
      const turns = chooseTurns(level, this.#view);
      if (turns) {
        this.#count(level, turns);
        return turns;
      }
      this.#levels.shift();
    }
    return null;
  }

  /** Counts the next run of the turns, and removes turns, accounts and priorities that have no further one. */
  #count(level: T[][], turns: T): void {
    const started = (this.#started.get(turns) ?? 0) + 1;
    this.#started.set(turns, started);
    this.#use.add(turns.first, 1);
    decrement(this.#freeOfAccounts, turns.first.account_id);
    decrement(this.#freeOfApplications, turns.first.application_uid);
    if (started < turns.size) return;
    const ofAccount = level.find((one) => one.includes(turns)) ?? [];
    ofAccount.splice(ofAccount.indexOf(turns), 1);
    if (ofAccount.length === 0) level.splice(level.indexOf(ofAccount), 1);
    if (level.length === 0) this.#levels.shift();
  }
}

function decrement<Key>(counts: Map<Key, number>, key: Key): void {
  const count = counts.get(key);
  if (count !== undefined) counts.set(key, count - 1);
}

/** Sorts runs into the order. For each application and priority they include the oldest ones. */
export function orderFairly<R extends QueuedPosition>(runs: readonly R[], use: SlotUse): R[] {
  const turns = [...Map.groupBy(runs, formatTurnsKey).values()].flatMap((group) => {
    const sorted = group.sort(compareAge);
    const [first] = sorted;
    return first ? [{ first, size: sorted.length, rest: sorted.values() }] : [];
  });
  const order = new FairOrder(turns, use);
  const ordered: R[] = [];
  for (let next = order.next(); next; next = order.next()) {
    const { value } = next.rest.next();
    if (value) ordered.push(value);
  }
  return ordered;
}
