/**
 * The durations of past runs, from which the starts of waiting runs are predicted. They are those of the same instance. If there
 * are too few, they are those of the application, then of the execution class in the account, then of the class on the server.
 */
import type { Reader } from '../../../platform/database/database.ts';
import { prepareStatement } from '../../../platform/database/prepared-statements.ts';
import { memoizeByObject } from '../../../platform/memoize.ts';
import type { RunsTable } from '../../store/schema.ts';

/** The fields of a run that decide which past runs are like it. */
export type RunOrigin = Pick<
  RunsTable,
  'account_id' | 'application_uid' | 'instance_id' | 'executable_id' | 'execution_class'
>;

const PAST_COLUMNS = [
  'id',
  'account_id',
  'application_uid',
  'instance_id',
  'executable_id',
  'execution_class',
  'run_type',
  'initiated_at',
  'slot_released_at',
  'finished_at',
] as const;

export type PastRun = Pick<RunsTable, (typeof PAST_COLUMNS)[number]>;

/** The latest past runs of a group. More would follow a change of the app too slowly. */
const RUNS_MAX = 50;
/** The next of n runs is the shortest or the longest with a probability of 2 / (n + 1), which 80 % ranges allow from 9 on. */
const RUNS_MIN = 9;
const EXECUTABLE_ROWS_MAX = 2 * RUNS_MAX;
/** Rows of an application, queued runs included: its runs have no index of those that ended. */
const APPLICATION_ROWS_MAX = 500;
const CACHE_MS = 10_000;
const CACHE_ENTRIES_MAX = 1000;

/** Returns how long the run occupied its slot, in milliseconds; null for one that never had a slot. */
function computeSlotDuration({ run_type, initiated_at, slot_released_at, finished_at }: PastRun) {
  if (run_type !== 'standard' || initiated_at === null || finished_at === null) return null;
  return Math.max(0, Math.min(finished_at, slot_released_at ?? finished_at) - initiated_at);
}

/** Returns the keys of the groups of runs that are like a run, the most similar ones first. */
function listGroups({ account_id, application_uid, instance_id, execution_class }: RunOrigin): string[] {
  return [
    JSON.stringify(['instance', application_uid, instance_id, execution_class]),
    JSON.stringify(['application', application_uid, execution_class]),
    JSON.stringify(['account', account_id, execution_class]),
    JSON.stringify(['class', execution_class]),
  ];
}

/** The past durations of each group. */
export class PastDurations {
  readonly #groups = new Map<string, number[]>();

  /** Rows may repeat; an earlier row is not counted again. */
  constructor(rows: Iterable<PastRun>) {
    const runs = new Map([...rows].map((row) => [row.id, row]));
    const latestFirst = [...runs.values()].sort((a, b) => (b.finished_at ?? 0) - (a.finished_at ?? 0));
    for (const run of latestFirst) {
      const duration = computeSlotDuration(run);
      if (duration === null) continue;
      for (const group of listGroups(run)) {
        const durations = this.#groups.get(group) ?? [];
        if (durations.length < RUNS_MAX) durations.push(duration);
        this.#groups.set(group, durations);
      }
    }
  }

  /** Returns the durations of the most similar past runs in milliseconds; null if no group has enough. */
  find(run: RunOrigin): readonly number[] | null {
    for (const group of listGroups(run)) {
      const durations = this.#groups.get(group);
      if (durations && durations.length >= RUNS_MIN) return durations;
    }
    return null;
  }

  /** Returns true if the instance of the run has enough past runs. */
  hasInstance(run: RunOrigin): boolean {
    return (this.#groups.get(listGroups(run)[0] ?? '')?.length ?? 0) >= RUNS_MIN;
  }
}

const selectOfExecutable = prepareStatement(
  (db, { executable, limit }: { executable: RunsTable['executable_id']; limit: number }) =>
    db
      .selectFrom('runs')
      .select(PAST_COLUMNS)
      .where('executable_id', '=', executable)
      .where('finished_at', '>', 0)
      .orderBy('finished_at', 'desc')
      .limit(limit),
);

const selectOfApplication = prepareStatement((db, { uid, limit }: { uid: string; limit: number }) =>
  db
    .selectFrom('runs')
    .select(PAST_COLUMNS)
    .where('application_uid', '=', uid)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit),
);

interface CachedRows {
  at: number;
  rows: Promise<PastRun[]>;
}

/** The rows of each executable and application; by the adapter of a database, so that two servers share nothing. */
const getCache = memoizeByObject((_adapter: object) => new Map<string, CachedRows>());

/** Returns the cached rows with this key, otherwise those that `read` returns. */
function readCached(
  db: Reader,
  key: string,
  now: number,
  read: () => Promise<PastRun[]>,
): Promise<PastRun[]> {
  const cache = getCache(db.getExecutor().adapter);
  const cached = cache.get(key);
  if (cached && cached.at <= now && now < cached.at + CACHE_MS) return cached.rows;
  if (cache.size >= CACHE_ENTRIES_MAX) cache.clear();
  const rows = read();
  rows.catch(() => cache.delete(key));
  cache.set(key, { at: now, rows });
  return rows;
}

/** Reads the past runs that are like the given runs, from a cache of some seconds. */
export async function loadPastDurations(
  db: Reader,
  runs: readonly RunOrigin[],
  now: number,
): Promise<PastDurations> {
  const rows: PastRun[] = [];
  for (const executable of new Set(runs.map((run) => run.executable_id))) {
    const read = () => selectOfExecutable(db, { executable, limit: EXECUTABLE_ROWS_MAX });
    rows.push(...(await readCached(db, `executable ${executable}`, now, read)));
  }
  const ofExecutables = new PastDurations(rows);
  const incomplete = runs.filter((run) => !ofExecutables.hasInstance(run));
  if (incomplete.length === 0) return ofExecutables;
  for (const uid of new Set(incomplete.map((run) => run.application_uid))) {
    const read = () => selectOfApplication(db, { uid, limit: APPLICATION_ROWS_MAX });
    rows.push(...(await readCached(db, `application ${uid}`, now, read)));
  }
  return new PastDurations(rows);
}
