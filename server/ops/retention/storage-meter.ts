/**
 * Measures the storage of the applications of an account. It reads all runs in batches, about a second for a million, so
 * a measurement serves all requests of the account for some minutes.
 */
import type { AccountStorage, ApplicationStorage } from '@switchyard/contract/applications/retention.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { listApplications } from '../../apps/applications/store.ts';
import { type Clock, formatRfc3339 } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { findPolicy, listRunPositions, type RunPosition, sumOtherBytes, sumRunBytes } from './store.ts';

const BATCH_SIZE = 500;
const MAX_AGE_MS = 5 * 60 * 1000;

interface Measurement {
  at: number;
  storage: Promise<AccountStorage>;
}

/** The latest measurement of each account. */
export class StorageMeter {
  readonly #database: Pick<Database, 'read'>;
  readonly #clock: Clock;
  readonly #measurements = new Map<AccountId, Measurement>();

  constructor({ database, clock }: { database: Pick<Database, 'read'>; clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Returns the storage of the account; simultaneous requests share one measurement. */
  measure(account: AccountId): Promise<AccountStorage> {
    const now = this.#clock.now();
    for (const [other, { at }] of this.#measurements)
      if (now - at >= MAX_AGE_MS) this.#measurements.delete(other);
    const known = this.#measurements.get(account);
    if (known) return known.storage;
    const storage = this.#measureApplications(account, now);
    this.#measurements.set(account, { at: now, storage });
    storage.catch(() => this.#measurements.delete(account));
    return storage;
  }

  async #measureApplications(account: AccountId, now: number): Promise<AccountStorage> {
    const db = this.#database.read;
    const items: ApplicationStorage[] = [];
    for (const { id, uid, name } of await listApplications(db, account, { after: null, limit: null })) {
      const policy = await findPolicy(db, uid);
      items.push({
        application_id: id,
        application_name: name,
        ...(await this.#measureRuns(uid)),
        ...(await sumOtherBytes(db, uid)),
        keep_days: policy?.keep_days ?? null,
      });
    }
    return { measured_at: formatRfc3339(now), items };
  }

  async #measureRuns(applicationUid: string): Promise<{ runs: number; run_bytes: number }> {
    const db = this.#database.read;
    let [runs, run_bytes] = [0, 0];
    let last: RunPosition | null = null;
    for (;;) {
      const batch: Awaited<ReturnType<typeof listRunPositions>> = await listRunPositions(
        db,
        applicationUid,
        last,
        BATCH_SIZE,
      );
      runs += batch.length;
      run_bytes += await sumRunBytes(
        db,
        batch.map(({ id }) => id),
      );
      if (batch.length < BATCH_SIZE) return { runs, run_bytes };
      last = batch.at(-1) ?? null;
    }
  }
}
