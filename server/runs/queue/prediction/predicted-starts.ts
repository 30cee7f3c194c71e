/** The predicted starts of the waiting runs of all accounts, from the queue and the workers as they are stored. */
import {
  computeDurationLimit,
  EXECUTION_CLASSES,
  type ExecutionClass,
} from '@switchyard/contract/execution-classes.ts';
import { PREDICTED_STARTS_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { createPools } from '@switchyard/worker/execute/slots.ts';
import { listLicenses } from '../../../accounts/usage/licenses-store.ts';
import type { Reader } from '../../../platform/database/database.ts';
import { prepareStatement } from '../../../platform/database/prepared-statements.ts';
import { memoizeByObject } from '../../../platform/memoize.ts';
import type { RunsTable } from '../../store/schema.ts';
import type { WorkerOffer } from '../../workers/offers.ts';
import { type ActiveWorker, listActiveWorkers } from '../../workers/workers.ts';
import { listTokenHolders, type TokenHolder } from '../license-use.ts';
import { type FreeRuns, orderFairly, type QueuedPosition } from '../order/fair-order.ts';
import { formatRequirementsKey, listLanes } from '../order/lanes.ts';
import { type LanePart, readInOrder, selectLanePart } from '../order/read-queue.ts';
import { isRetryDue, type RetryTimes } from '../order/retry-times.ts';
import { readSlotUse, readSlotUseDetails } from '../order/slot-use.ts';
import { listSlotHolders, type SlotHolder } from '../queue-order.ts';
import { describeDemand, formatLicenseKey, readLicenses } from '../run-requirements.ts';
import { findStartable } from '../startable.ts';
import { loadPastDurations, type PastDurations, type RunOrigin } from './past-durations.ts';
import {
  type ExpectedRun,
  predictStarts,
  type QueueSituation,
  type RunningRun,
  type SlotPool,
  type StartAbsence,
  type StartRange,
} from './predict-starts.ts';

/** The range of a start, or why there is none. With `shared_resources`, workers give runs cores and memory, not only slots. */
type StartPrediction = StartRange | StartAbsence | 'shared_resources';
type PredictedStarts = ReadonlyMap<RunId, StartPrediction>;
type NeedColumns = Pick<RunsTable, 'required_labels' | 'required_licenses' | 'max_duration'>;
type WaitingRow = QueuedPosition & RunOrigin & NeedColumns;

/** The runs that are read, and those of their lanes after which more wait. */
interface ListedRuns {
  waiting: WaitingRow[];
  beforeMore: ReadonlySet<RunId>;
  free: FreeRuns;
}

/** Requests within this time share a prediction. */
const CACHE_MS = 1_000;

/** The predicted starts, and the priorities of the waiting runs for which they hold. */
interface Prediction {
  starts: PredictedStarts;
  priorities: ReadonlyMap<RunId, number>;
}

interface CachedPrediction {
  at: number;
  prediction: Promise<Prediction>;
}

/** By the adapter of a database, so that two servers share nothing. */
const getCache = memoizeByObject((_adapter: object): { latest: CachedPrediction | null } => ({
  latest: null,
}));

/**
 * Returns the predicted starts of the first PREDICTED_STARTS_MAX waiting runs of each class, of all accounts, or why a
 * start cannot be predicted. A prediction of the last second is used again if it has all runs of `wanted` with their
 * priorities. Otherwise a run that has moved would have the start of its former place. Predicts nothing without wanted runs.
 */
export async function findPredictedStarts(
  db: Reader,
  wanted: readonly Pick<RunsTable, 'id' | 'priority'>[],
  now: number,
): Promise<PredictedStarts> {
  if (wanted.length === 0) return new Map();
  const cache = getCache(db.getExecutor().adapter);
  const { latest } = cache;
  if (latest && latest.at <= now && now < latest.at + CACHE_MS) {
    const { starts, priorities } = await latest.prediction;
    if (wanted.every(({ id, priority }) => priorities.get(id) === priority)) return starts;
  }
  const renewed = { at: now, prediction: predictAll(db, now) };
  cache.latest = renewed;
  renewed.prediction.catch(() => {
    if (cache.latest === renewed) cache.latest = null;
  });
  return (await renewed.prediction).starts;
}

async function predictAll(db: Reader, now: number): Promise<Prediction> {
  const workers = await listActiveWorkers(db, now);
  const { waiting: listed, beforeMore, free } = await listWaitingRuns(db, workers, now);
  const use = await readSlotUseDetails(db, now);
  const slotHolders = await listSlotHolders(db);
  const hasLicenses = listed.some((run) => run.required_licenses !== null);
  const tokenHolders = hasLicenses ? await listTokenHolders(db) : [];
  const licenses = hasLicenses ? await listLicenses(db) : [];
  // A run that started between the statements is in several of them.
  const started = new Set([...slotHolders, ...tokenHolders].map(({ id }) => id));
  const waiting = listed.filter((run) => !started.has(run.id));
  const past = await loadPastDurations(db, [...slotHolders, ...tokenHolders, ...waiting], now);
  const starts = new Map<RunId, StartPrediction>(listed.map(({ id }) => [id, 'unservable']));
  const cluster = describeCluster(workers, { slotHolders, tokenHolders, past });
  const totals = new Map(licenses.map((one) => [formatLicenseKey(one.account_id, one.name), one.total]));
  for (const pools of groupPools(cluster.pools, waiting)) {
    const classes = new Set(pools.flatMap((pool) => pool.classes));
    const runs = waiting.filter((run) => classes.has(run.execution_class));
    const predictions = pools.some(({ offer }) => offer.resources !== null)
      ? runs.map((): StartPrediction => 'shared_resources')
      : predictStarts({
          waiting: runs.map((run) => ({
            ...describeRun(run, past),
            ...{ demand: describeDemand(run), position: run, hasMore: beforeMore.has(run.id) },
          })),
          ...{ pools, holders: cluster.holders, totals, use, free, now },
        });
    for (const [index, run] of runs.entries()) starts.set(run.id, predictions[index] ?? 'unservable');
  }
  return { starts, priorities: new Map(listed.map(({ id, priority }) => [id, priority])) };
}

const selectWaiting = prepareStatement((db, part: LanePart & RetryTimes) =>
  selectLanePart(db, part)
    .where(isRetryDue(part))
    .select(['id', 'priority', 'created_at', 'execution_class'])
    .select(['account_id', 'application_uid', 'instance_id', 'executable_id'])
    .select(['required_labels', 'required_licenses', 'max_duration']),
);

/**
 * Runs of a quota that are read beyond those that may start now. They may start while the others wait; all of them would leave
 * no place for those.
 */
const QUOTA_LOOKAHEAD = 20;

/**
 * Lists the first PREDICTED_STARTS_MAX waiting runs of the classes that share slots, as far as they could start. The
 * simulation chooses who is next.
 */
async function listWaitingRuns(
  db: Reader,
  workers: readonly ActiveWorker[],
  now: number,
): Promise<ListedRuns> {
  const use = await readSlotUse(db, now);
  const { lanes, free, times } = await findStartable(db, { lanes: await listLanes(db), workers, now });
  const listed: WaitingRow[] = [];
  const beforeMore = new Set<RunId>();
  for (const classes of groupClasses(workers)) {
    const ends = new Map<string, LaneEnd>();
    const waiting = await readInOrder(db, {
      lanes: lanes.filter((lane) => classes.has(lane.execution_class)),
      read: async (part) => {
        const runs = await selectWaiting(db, { ...part, ...times });
        const key = formatLaneKey(part);
        const last = runs.at(-1)?.id ?? ends.get(key)?.last ?? null;
        ends.set(key, { last, isLast: runs.length < part.limit });
        return runs;
      },
      ...{ limit: PREDICTED_STARTS_MAX, free: addLookahead(free), use, now },
    });
    const keys = Map.groupBy(waiting, (run) =>
      formatLaneKey({ ...run, requirements: formatRequirementsKey(run) }),
    );
    for (const [key, runs] of keys) {
      const end = ends.get(key);
      const last = runs.at(-1)?.id;
      if (last && !(end?.isLast && end.last === last)) beforeMore.add(last);
    }
    listed.push(...waiting);
  }
  return { waiting: orderFairly(listed, use), beforeMore, free };
}

/** The last run of a lane that was read, and whether it is the last one of the lane. */
interface LaneEnd {
  last: RunId | null;
  isLast: boolean;
}

type LaneKey = Pick<
  LanePart,
  'requirements' | 'execution_class' | 'priority' | 'account_id' | 'application_uid'
>;

const formatLaneKey = (lane: LaneKey): string =>
  JSON.stringify([
    ...[lane.priority, lane.account_id, lane.application_uid],
    ...[lane.execution_class, lane.requirements],
  ]);

function addLookahead({ accounts, applications }: FreeRuns): FreeRuns {
  const add = <Key>(free: ReadonlyMap<Key, number>) =>
    new Map([...free].map(([key, count]) => [key, count + QUOTA_LOOKAHEAD]));
  return { accounts: add(accounts), applications: add(applications) };
}

/** Groups the classes so that those with slots in one pool of a worker are together. */
function groupClasses(workers: readonly ActiveWorker[]): Set<ExecutionClass>[] {
  let groups = EXECUTION_CLASSES.map((name) => new Set([name]));
  for (const { classes } of workers.flatMap(({ capacity }) => createPools(capacity))) {
    const isShared = (group: Set<ExecutionClass>): boolean => classes.some((name) => group.has(name));
    const shared = groups.filter(isShared).flatMap((group) => [...group]);
    groups = [...groups.filter((group) => !isShared(group)), new Set(shared)];
  }
  return groups.filter(({ size }) => size > 0);
}

/** Returns the duration of a run as far as it is known, and its licence tokens. */
function describeRun(run: RunOrigin & NeedColumns & { id: RunId }, past: PastDurations): ExpectedRun {
  return {
    past: past.find(run),
    limitMs: computeDurationLimit(run),
    licenses: Object.fromEntries(
      Object.entries(readLicenses(run)).map(([name, tokens]) => [
        formatLicenseKey(run.account_id, name),
        tokens,
      ]),
    ),
  };
}

interface RunningRows {
  slotHolders: readonly SlotHolder[];
  tokenHolders: readonly TokenHolder[];
  past: PastDurations;
}

/**
 * Returns the pools of the workers with the runs in them, and the runs that hold tokens without a slot in these pools. Pools of
 * several workers that serve the same runs are one.
 */
function describeCluster(
  workers: readonly ActiveWorker[],
  { slotHolders, tokenHolders, past }: RunningRows,
): Pick<QueueSituation, 'pools' | 'holders'> {
  const placed = new Set<RunId>();
  const pools = new Map<string, SlotPool>();
  const describeRunning = (run: SlotHolder | TokenHolder): RunningRun => ({
    ...describeRun(run, past),
    owner: run,
    startedAt: run.initiated_at ?? 0,
  });
  for (const { id, capacity, offer } of workers) {
    const ofWorker = slotHolders.filter((run) => run.worker_id === id);
    for (const { classes, slots } of createPools(capacity)) {
      if (slots === 0) continue;
      const key = `${classes.join()} ${formatOfferKey(offer)}`;
      const other = pools.get(key);
      const own = ofWorker.filter((run) => classes.includes(run.execution_class));
      for (const run of own) placed.add(run.id);
      pools.set(key, {
        ...{ classes, offer, slots: slots + (other?.slots ?? 0) },
        running: [...own.map(describeRunning), ...(other?.running ?? [])],
      });
    }
  }
  const holders = tokenHolders.filter(({ id }) => !placed.has(id)).map(describeRunning);
  return { pools: [...pools.values()], holders };
}

/** Returns the same text for offers that serve the same runs. */
function formatOfferKey({ labels, scope, resources }: WorkerOffer): string {
  return JSON.stringify([labels.toSorted(), scope, resources !== null]);
}

/** Groups the pools so that runs of different groups never compete for a slot or for licence tokens. */
function groupPools(pools: readonly SlotPool[], waiting: readonly WaitingRow[]): SlotPool[][] {
  const classesOfLicenses = new Map<string, Set<ExecutionClass>>();
  for (const run of waiting)
    for (const name of Object.keys(readLicenses(run))) {
      const key = formatLicenseKey(run.account_id, name);
      classesOfLicenses.set(key, (classesOfLicenses.get(key) ?? new Set()).add(run.execution_class));
    }
  const shareLicense = (one: ExecutionClass, other: ExecutionClass): boolean =>
    [...classesOfLicenses.values()].some((classes) => classes.has(one) && classes.has(other));
  let groups: SlotPool[][] = [];
  for (const pool of pools) {
    const isShared = (group: SlotPool[]): boolean =>
      group.some(({ classes }) =>
        classes.some((one) => pool.classes.some((other) => one === other || shareLicense(one, other))),
      );
    groups = [...groups.filter((group) => !isShared(group)), [pool, ...groups.filter(isShared).flat()]];
  }
  return groups;
}
