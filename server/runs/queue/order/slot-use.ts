/** The slots that accounts and applications use: those that their runs occupy now, and those of the last minutes. */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { listRecentMinutes, listRecentSlotTimes, RECENT_USE_MS } from '../../../accounts/usage/slot-times.ts';
import type { Reader } from '../../../platform/database/database.ts';
import { prepareStatement } from '../../../platform/database/prepared-statements.ts';
import { RUNNING, type RunsTable } from '../../store/schema.ts';

/** An account and one of its applications. */
export type Owner = Pick<RunsTable, 'account_id' | 'application_uid'>;

/** The slot use of accounts and applications, in slots. */
export class SlotUse {
  /** In milliseconds of the last minutes, so that equal uses are equal numbers. */
  readonly #accounts: Map<AccountId, number>;
  readonly #applications: Map<string, number>;

  constructor(other?: SlotUse) {
    this.#accounts = new Map(other ? other.#accounts : []);
    this.#applications = new Map(other ? other.#applications : []);
  }

  add(owner: Owner, slots: number): void {
    this.addTime(owner, slots * RECENT_USE_MS);
  }

  /** Adds slot time of the last minutes. */
  addTime({ account_id, application_uid }: Owner, ms: number): void {
    this.#accounts.set(account_id, (this.#accounts.get(account_id) ?? 0) + ms);
    this.#applications.set(application_uid, (this.#applications.get(application_uid) ?? 0) + ms);
  }

  findAccount(account: AccountId): number {
    return (this.#accounts.get(account) ?? 0) / RECENT_USE_MS;
  }

  findApplication(uid: string): number {
    return (this.#applications.get(uid) ?? 0) / RECENT_USE_MS;
  }
}

const countSlots = prepareStatement(
  (db) =>
    db
      .selectFrom('runs')
      .select((eb) => ['account_id', 'application_uid', eb.fn.countAll().as('count')])
      .where('status', '=', RUNNING)
      .where('worker_id', 'is not', null)
      .where('slot_released_at', 'is', null)
      .groupBy(['account_id', 'application_uid']),
  { isReusable: true },
);

/**
 * Reads the slot use of all accounts. It is the number of slots that runs occupy now, plus the average number of slots that
 * ended runs occupied in the last minutes.
 */
export async function readSlotUse(db: Reader, now: number): Promise<SlotUse> {
  const use = new SlotUse();
  for (const row of await countSlots(db, {})) use.add(row, Number(row.count));
  for (const { slot_ms, ...owner } of await listRecentSlotTimes(db, now)) use.addTime(owner, slot_ms);
  return use;
}

/** The slot use at a time, and what is needed to compute it for later times. */
export interface SlotUseDetails {
  /** The slots that are occupied now. */
  occupied: readonly (Owner & { slots: number })[];
  /** The slot time of ended runs in each of the last minutes. */
  minutes: readonly (Owner & { minute: number; slot_ms: number })[];
}

export async function readSlotUseDetails(db: Reader, now: number): Promise<SlotUseDetails> {
  const occupied = (await countSlots(db, {})).map(({ count, ...owner }) => ({
    ...owner,
    slots: Number(count),
  }));
  return { occupied, minutes: await listRecentMinutes(db, now) };
}
