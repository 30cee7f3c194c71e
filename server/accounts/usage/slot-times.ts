/**
 * The slot time of ended runs in the last minutes, by account and application. The order of the queue depends on it. Runs
 * that have just ended are in the usage records. `count-usage.ts` adds them to the minutes in which they occupied their slots.
 */
import { RECENT_USE_MINUTES } from '@switchyard/contract/limits.ts';
import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import type { SlotMinutesTable, UsageRecordsTable } from './schema.ts';

export const MINUTE_MS = 60_000;
export const RECENT_USE_MS = RECENT_USE_MINUTES * MINUTE_MS;
/** The newest records that a reader adds up. More can only wait after an outage of the job that counts them. */
const RECORDS_MAX = 1000;

type Owner = Pick<SlotMinutesTable, 'account_id' | 'application_uid'>;
type RecordColumns = Pick<UsageRecordsTable, 'account_id' | 'application_uid' | 'slot_ms' | 'ended_at'>;

/** Returns the slot time of each minute, account and application, in the order of their keys. */
export function sumSlotTimes(records: readonly Selectable<UsageRecordsTable>[]): SlotMinutesTable[] {
  const sums = new Map<string, SlotMinutesTable>();
  for (const { slot_ms, ...minute } of records.flatMap(listMinutes)) {
    const key = JSON.stringify([minute.minute, minute.account_id, minute.application_uid]);
    sums.set(key, { ...minute, slot_ms: slot_ms + (sums.get(key)?.slot_ms ?? 0) });
  }
  // In one order for all processes, as the totals of the days.
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

/** Returns the minutes in which the run occupied its slot, as far as they count when it ends. */
function listMinutes({ account_id, application_uid, slot_ms, ended_at }: RecordColumns): SlotMinutesTable[] {
  if (slot_ms === null || slot_ms <= 0) return [];
  return sliceByMinute(ended_at - slot_ms, ended_at).map((slice) => ({
    ...slice,
    account_id,
    application_uid,
  }));
}

/** Returns the parts of a slot time by minute, without the minutes that no longer count at its end. */
export function sliceByMinute(from: number, until: number): Pick<SlotMinutesTable, 'minute' | 'slot_ms'>[] {
  const slices: Pick<SlotMinutesTable, 'minute' | 'slot_ms'>[] = [];
  for (let start = Math.max(from, findWindow(until).first * MINUTE_MS); start < until; ) {
    const minute = Math.floor(start / MINUTE_MS);
    const end = Math.min(until, (minute + 1) * MINUTE_MS);
    slices.push({ minute, slot_ms: end - start });
    start = end;
  }
  return slices;
}

/** Adds to the slot time of a minute, account and application. */
export async function addSlotTime(tx: Writer, added: SlotMinutesTable): Promise<void> {
  await tx
    .insertInto('slot_minutes')
    .values(added)
    .onConflict((conflict) =>
      conflict
        .columns(['minute', 'account_id', 'application_uid'])
        .doUpdateSet({ slot_ms: sql`slot_minutes.slot_ms + excluded.slot_ms` }),
    )
    .execute();
}

/** Removes the minutes that no longer count. */
export async function removeOldSlotTimes(tx: Writer, now: number): Promise<void> {
  await tx
    .deleteFrom('slot_minutes')
    .where('minute', '<', Math.floor((now - RECENT_USE_MS) / MINUTE_MS))
    .execute();
}

/** The minutes that count. */
interface Window {
  first: number;
  last: number;
  /** The share of the first minute that counts. */
  share: number;
}

/** Returns the minutes of the recent use. Those of a wrong clock that are in the future count when their time has come. */
function findWindow(now: number): Window {
  const from = now - RECENT_USE_MS;
  const first = Math.floor(from / MINUTE_MS);
  return { first, last: Math.floor(now / MINUTE_MS), share: first + 1 - from / MINUTE_MS };
}

/** Returns the part of the slot time that counts. Whole milliseconds: sums of them are equal in every order. */
function weighSlotTime(slotMs: number, minute: number, { first, last, share }: Window): number {
  if (minute < first || minute > last) return 0;
  return minute === first ? Math.round(slotMs * share) : slotMs;
}

const selectMinutes = prepareStatement(
  (db, { first, last }: Pick<Window, 'first' | 'last'>) =>
    db
      .selectFrom('slot_minutes')
      .select(['account_id', 'application_uid'])
      // The sum is that of two minutes: of the first, and of all others.
      .select((eb) => [eb.fn.max('minute').as('minute'), eb.fn.sum<number>('slot_ms').as('slot_ms')])
      .where('minute', '>=', first)
      .where('minute', '<=', last)
      .groupBy(['account_id', 'application_uid', sql`case when minute = ${first} then 0 else 1 end`]),
  { isReusable: true },
);

const selectRecords = prepareStatement(
  (db, { from, limit }: { from: number; limit: number }) => {
    const newest = db
      .selectFrom('usage_records')
      .select(['account_id', 'application_uid', 'slot_ms', 'ended_at'])
      .orderBy('seq', 'desc')
      .limit(limit);
    return db
      .selectFrom(newest.as('newest'))
      .select(['account_id', 'application_uid', 'slot_ms', 'ended_at'])
      .where('ended_at', '>', from);
  },
  { isReusable: true },
);

/** The slot time of ended runs of an application in the last minutes. */
export interface RecentTime extends Owner {
  slot_ms: number;
}

/** Lists the recent slot times; an application may be there several times. */
export async function listRecentSlotTimes(db: Reader, now: number): Promise<RecentTime[]> {
  const window = findWindow(now);
  const counted = await selectMinutes(db, window);
  return [...counted.map(parseMinute), ...(await listRecordMinutes(db, now))].map(
    ({ minute, slot_ms, ...owner }) => ({ ...owner, slot_ms: weighSlotTime(slot_ms, minute, window) }),
  );
}

const selectEachMinute = prepareStatement(
  (db, { first, last }: Pick<Window, 'first' | 'last'>) =>
    db
      .selectFrom('slot_minutes')
      .select(['account_id', 'application_uid', 'minute', 'slot_ms'])
      .where('minute', '>=', first)
      .where('minute', '<=', last),
  { isReusable: true },
);

/** Lists the slot time of each of the last minutes; an application may be there several times for a minute. */
export async function listRecentMinutes(db: Reader, now: number): Promise<SlotMinutesTable[]> {
  const counted = await selectEachMinute(db, findWindow(now));
  return [...counted.map(parseMinute), ...(await listRecordMinutes(db, now))];
}

const parseMinute = (row: SlotMinutesTable): SlotMinutesTable => ({
  ...row,
  ...{ minute: Number(row.minute), slot_ms: Number(row.slot_ms) },
});

/** Lists the minutes of the records that are not added yet. */
async function listRecordMinutes(db: Reader, now: number): Promise<SlotMinutesTable[]> {
  const records = await selectRecords(db, { from: now - RECENT_USE_MS, limit: RECORDS_MAX });
  return records.flatMap(listMinutes);
}
