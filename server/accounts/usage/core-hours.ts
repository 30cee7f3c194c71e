/** The quota of core hours in a calendar month. */
import { formatUse } from '@switchyard/contract/presentation/format-quantity.ts';
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import { type Clock, formatRfc3339 } from '../../platform/clock.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { forbidden } from '../../platform/http/errors/problem.ts';
import { findCoreHourQuota } from './application-quotas-store.ts';
import { DAY_MS } from './count-usage.ts';
import { findQuotas } from './quotas-store.ts';
import { listUsageSums } from './store.ts';

const HOUR_MS = 60 * 60 * 1000;
/** Usage is counted some seconds after the end of a run, so a younger check would not be more exact. */
const CHECK_CACHE_MS = 1000;
const CACHED_CHECKS_MAX = 10_000;

/** Core hours of the current month. `resetsAt` is in milliseconds. */
interface CoreHours {
  used: number;
  resetsAt: number;
}

/** The runs whose core hours are counted: those of an account, or of one of its applications. */
export interface CountedRuns {
  account: AccountId;
  /** null: all applications. */
  application: ApplicationId | null;
}

/** Returns the core hours of the runs that ended in the calendar month, in UTC, of `now`. */
export async function readCoreHours(db: Reader, counted: CountedRuns, now: number): Promise<CoreHours> {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const resetsAt = Date.UTC(year, month + 1);
  const range = { firstDay: Date.UTC(year, month) / DAY_MS, lastDay: resetsAt / DAY_MS - 1 };
  const [sum] = await listUsageSums(db, { ...counted, ...range }, [], 1);
  return { used: (sum?.core_ms ?? 0) / HOUR_MS, resetsAt };
}

/**
 * Refuses new runs where the account or the application has used up its core hours. Checks each application at most once a
 * second.
 */
export class CoreHourLimiter {
  readonly #parts: { database: Database; clock: Clock };
  readonly #refusals = new Map<string, { at: number; refusal: Promise<string> }>();

  constructor(parts: { database: Database; clock: Clock }) {
    this.#parts = parts;
  }

  /** Throws a 403 when the account or the application has used the core hours of this month. */
  async requireHours(account: AccountId, application: ApplicationId): Promise<void> {
    const now = this.#parts.clock.elapsed();
    const key = `${account} ${application}`;
    let check = this.#refusals.get(key);
    if (!check || now - check.at >= CHECK_CACHE_MS) {
      if (this.#refusals.size >= CACHED_CHECKS_MAX) this.#refusals.clear();
      check = { at: now, refusal: this.#explainRefusal(account, application) };
      this.#refusals.set(key, check);
    }
    const refusal = await check.refusal;
    if (refusal !== '') throw forbidden(refusal);
  }

  /** Makes the next requests check again, after a change of quotas. */
  expire(): void {
    this.#refusals.clear();
  }

  async #explainRefusal(account: AccountId, application: ApplicationId): Promise<string> {
    const { read } = this.#parts.database;
    const limit = (await findQuotas(read, account))?.core_hours ?? null;
    const refusal = await this.#compareUse('account', limit, { account, application: null });
    if (refusal !== '') return refusal;
    const ownLimit = await findCoreHourQuota(read, account, application);
    return this.#compareUse('application', ownLimit, { account, application });
  }

  /** Returns the refusal where the counted runs have used up the limit; empty otherwise. */
  async #compareUse(
    owner: 'account' | 'application',
    limit: number | null,
    counted: CountedRuns,
  ): Promise<string> {
    if (limit === null) return '';
    const { database, clock } = this.#parts;
    const { used, resetsAt } = await readCoreHours(database.read, counted, clock.now());
    if (used < limit) return '';
    return `The ${owner} has used ${formatUse(used, limit)} core hours of this month, which is its quota. It accepts no run until ${formatRfc3339(resetsAt)}. Ask an administrator of the account to raise the quota.`;
  }
}
