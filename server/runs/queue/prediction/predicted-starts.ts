/** The predicted starts of the waiting runs of all accounts, from the queue and the workers as they are stored. */
import { CLASS_LIMITS, EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { PREDICTED_STARTS_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { createPools } from '@switchyard/worker/execute/slots.ts';
import type { Reader } from '../../../database/database.ts';
import { memoizeByObject } from '../../../memoize.ts';
import { type ActiveWorker, listActiveWorkers } from '../../../workers/workers.ts';
import type { RunsTable } from '../../store/schema.ts';
import {
  compareQueueOrder,
  listSlotHolders,
  type QueuePosition,
  type SlotHolder,
  selectQueued,
} from '../queue-order.ts';
import { loadPastDurations, type PastDurations, type RunOrigin } from './past-durations.ts';
import { type ExpectedRun, predictStarts, type SlotPool, type StartRange } from './predict-starts.ts';

type PredictedStarts = ReadonlyMap<RunId, StartRange | null>;
type WaitingRun = QueuePosition & RunOrigin & Pick<RunsTable, 'required_labels' | 'required_licenses'>;

/** Requests within this time share a prediction. */
const CACHE_MS = 1_000;

interface CachedPrediction {
  at: number;
  starts: Promise<PredictedStarts>;
}

/** By the adapter of a database, so that two servers share nothing. */
const getCache = memoizeByObject((_adapter: object): { latest: CachedPrediction | null } => ({
  latest: null,
}));

/**
 * Returns the predicted starts of the first PREDICTED_STARTS_MAX waiting runs of each class, of all accounts; null for a run
 * whose start cannot be predicted. A prediction of the last second is used again if it has all runs of `wanted`.
 */
export async function findPredictedStarts(
  db: Reader,
  wanted: readonly RunId[],
  now: number,
): Promise<PredictedStarts> {
  const cache = getCache(db.getExecutor().adapter);
  const { latest } = cache;
  if (latest && latest.at <= now && now < latest.at + CACHE_MS) {
    const starts = await latest.starts;
    if (wanted.every((id) => starts.has(id))) return starts;
  }
  const prediction = { at: now, starts: predictAll(db, now) };
  cache.latest = prediction;
  prediction.starts.catch(() => {
    if (cache.latest === prediction) cache.latest = null;
  });
  return prediction.starts;
}

async function predictAll(db: Reader, now: number): Promise<PredictedStarts> {
  const listed = await listWaitingRuns(db);
  const holders = await listSlotHolders(db);
  // A run that started between the two statements is in both.
  const started = new Set(holders.map(({ id }) => id));
  const waiting = listed.filter((run) => !started.has(run.id) && isPredictable(run));
  const past = await loadPastDurations(db, [...holders, ...waiting], now);
  const starts = new Map<RunId, StartRange | null>(listed.map(({ id }) => [id, null]));
  const workers = await listActiveWorkers(db, now);
  for (const pools of groupPools(listPools(workers, holders, past))) {
    if (workers.some((worker) => servesPools(worker, pools))) continue;
    const classes = new Set(pools.flatMap((pool) => pool.classes));
    const runs = waiting.filter((run) => classes.has(run.execution_class));
    const expected = runs.map((run) => describeRun(run, past));
    for (const [index, range] of predictStarts(expected, pools, now).entries()) {
      const run = runs[index];
      if (run) starts.set(run.id, range);
    }
  }
  return starts;
}

/** A run that requires labels or licences waits for more than a slot, so its start is not predicted. */
function isPredictable({ required_labels, required_licenses }: WaitingRun): boolean {
  return required_labels === null && required_licenses === null;
}

/**
 * Returns true if a worker has some of the pools whose slots are not all of its capacity. A worker with resources starts as
 * many runs as fit, and one with a scope only some.
 */
function servesPools({ capacity, offer }: ActiveWorker, pools: readonly SlotPool[]): boolean {
  if (offer.resources === null && offer.scope === null) return false;
  const own = createPools(capacity).filter(({ slots }) => slots > 0);
  return own.some(({ classes }) => pools.some((pool) => classes.some((name) => pool.classes.includes(name))));
}

/** Lists the first waiting runs of each class. So every run before the first PREDICTED_STARTS_MAX ones is among them. */
async function listWaitingRuns(db: Reader): Promise<WaitingRun[]> {
  const listed: WaitingRun[] = [];
  for (const name of EXECUTION_CLASSES) {
    const rows = await selectQueued(db, name)
      .select(['id', 'priority', 'created_at', 'execution_class'])
      .select(['account_id', 'application_uid', 'instance_id', 'executable_id'])
      .select(['required_labels', 'required_licenses'])
      .limit(PREDICTED_STARTS_MAX)
      .execute();
    listed.push(...rows);
  }
  return listed.sort(compareQueueOrder);
}

function describeRun(run: RunOrigin, past: PastDurations): ExpectedRun {
  return {
    executionClass: run.execution_class,
    past: past.find(run),
    limitMs: CLASS_LIMITS[run.execution_class].duration_ms,
  };
}

/** Lists the pools of the workers with the runs in them; pools of several workers that serve the same classes are one. */
function listPools(
  workers: readonly ActiveWorker[],
  holders: readonly SlotHolder[],
  past: PastDurations,
): SlotPool[] {
  const pools = new Map<string, SlotPool>();
  for (const { id, capacity } of workers) {
    for (const { classes, slots } of createPools(capacity)) {
      if (slots === 0) continue;
      const key = classes.join();
      const other = pools.get(key);
      const running = holders
        .filter((run) => run.worker_id === id && classes.includes(run.execution_class))
        .map((run) => ({ ...describeRun(run, past), startedAt: run.initiated_at ?? 0 }));
      pools.set(key, {
        classes,
        slots: slots + (other?.slots ?? 0),
        running: [...running, ...(other?.running ?? [])],
      });
    }
  }
  return [...pools.values()];
}

/** Groups the pools so that runs of different groups never compete for a slot. */
function groupPools(pools: readonly SlotPool[]): SlotPool[][] {
  let groups: SlotPool[][] = [];
  for (const pool of pools) {
    const isShared = (group: SlotPool[]): boolean =>
      group.some(({ classes }) => classes.some((name) => pool.classes.includes(name)));
    groups = [...groups.filter((group) => !isShared(group)), [pool, ...groups.filter(isShared).flat()]];
  }
  return groups;
}
