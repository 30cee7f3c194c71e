/** Reads queued runs in the order in which they start. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { sql } from 'kysely';
import type { Reader } from '../../../platform/database/database.ts';
import { hashText } from '../../../platform/database/hash-text.ts';
import { prepareStatement } from '../../../platform/database/prepared-statements.ts';
import { QUEUED } from '../../store/schema.ts';
import {
  FairOrder,
  type FreeRuns,
  formatTurnsKey,
  NO_QUOTAS,
  type QueuedPosition,
  type Turns,
} from './fair-order.ts';
import { formatRequirementsColumn, formatRequirementsKey, type Lane, listLanes } from './lanes.ts';
import { compareAge, createQueuePosition, type QueuePosition } from './queue-position.ts';
import { readSlotUse, SlotUse } from './slot-use.ts';

/** A part of a lane: the runs after a position, at most `limit`. */
export interface LanePart {
  requirements: string;
  execution_class: ExecutionClass;
  priority: number;
  account_id: Lane['account_id'];
  application_uid: string;
  created_at: number;
  id: QueuePosition['id'];
  limit: number;
}

/** Selects a part of a lane, oldest first, from the index of lanes. */
export function selectLanePart(db: Reader, part: LanePart) {
  return db
    .selectFrom('runs')
    .where('status', '=', QUEUED)
    .where(formatRequirementsColumn(db), '=', hashText(db, sql`${part.requirements}`))
    .where('execution_class', '=', part.execution_class)
    .where('priority', '=', part.priority)
    .where('account_id', '=', part.account_id)
    .where('application_uid', '=', part.application_uid)
    .where(sql<boolean>`(created_at, id) > (${part.created_at}, ${part.id})`)
    .orderBy('created_at')
    .orderBy('id')
    .limit(part.limit);
}

type ReadLane<Run> = (part: LanePart) => Promise<Run[]> | Run[];

/** Reads the runs of a lane step by step. */
class LaneReader<Run extends QueuedPosition> {
  /** No run that is not read yet comes before this position. */
  #last: QueuePosition;
  #isComplete = false;
  readonly #unused: Run[] = [];
  readonly #lane: Lane;
  readonly #read: ReadLane<Run>;

  constructor(lane: Lane, read: ReadLane<Run>) {
    this.#lane = lane;
    this.#read = read;
    this.#last = lane;
  }

  /** The first run that is read and left. */
  get first(): Run | undefined {
    return this.#unused[0];
  }

  /** The position before which no run is left; null at the end of the lane. */
  get next(): QueuePosition | null {
    return this.first ?? (this.#isComplete ? null : this.#last);
  }

  /** The number of runs that are left; infinite until the last one is read. */
  get size(): number {
    return this.#isComplete ? this.#unused.length : Number.POSITIVE_INFINITY;
  }

  shift(): Run | undefined {
    return this.#unused.shift();
  }

  async read(limit: number): Promise<void> {
    const { execution_class, priority, account_id, application_uid } = this.#lane;
    // The run of the lane itself is not read yet.
    const { id, created_at } = this.#last === this.#lane ? BEFORE_ALL : this.#last;
    const runs = await this.#read({
      ...{ execution_class, priority, account_id, application_uid, created_at, id, limit },
      requirements: formatRequirementsKey(this.#lane),
    });
    this.#unused.push(...runs);
    this.#last = runs.at(-1) ?? this.#last;
    this.#isComplete = runs.length < limit;
  }
}

const BEFORE_ALL = createQueuePosition(0, Number.MIN_SAFE_INTEGER, '');

/** The runs that are read from one lane at once while others of the same turns are left. */
const PART_MAX = 64;

/** The runs of one priority of an application, as far as they are read. */
class TurnsReader<Run extends QueuedPosition> implements Turns {
  readonly first: Lane;
  /** Oldest first. */
  readonly runs: Run[] = [];
  readonly #partMax: number;
  #lanes: LaneReader<Run>[];

  constructor(first: Lane, lanes: LaneReader<Run>[], partMax: number) {
    this.first = first;
    this.#lanes = lanes;
    this.#partMax = partMax;
  }

  get size(): number {
    return this.#lanes.reduce((sum, lane) => sum + lane.size, this.runs.length);
  }

  has(count: number): boolean {
    return this.runs.length >= count || this.#lanes.length === 0;
  }

  /** Reads until `count` runs are known, or all of them. Always from the lane that may have the oldest one. */
  async read(count: number): Promise<void> {
    while (!this.has(count)) {
      const lane = this.#lanes.reduce((one, other) => (isOlder(other, one) ? other : one));
      const run = lane.shift();
      const missing = count - this.runs.length;
      if (run) this.runs.push(run);
      else if (lane.size === 0) this.#lanes = this.#lanes.filter((other) => other !== lane);
      else await lane.read(this.#lanes.length === 1 ? missing : Math.min(missing, this.#partMax));
    }
  }
}

/** True if the next run of the first lane may be older. A lane at its end is first, because it is removed. */
function isOlder({ next }: LaneReader<QueuedPosition>, other: LaneReader<QueuedPosition>): boolean {
  return other.next !== null && (next === null || compareAge(next, other.next) < 0);
}

/** Groups lanes into turns, with their oldest runs. */
function groupLanes(lanes: readonly Lane[]): { first: Lane; lanes: Lane[] }[] {
  return [...Map.groupBy(lanes, formatTurnsKey).values()].flatMap((group) => {
    const [first] = group.sort(compareAge);
    return first ? [{ first, lanes: group }] : [];
  });
}

/** Reads the slot use where the order depends on it: two applications wait with the same priority. */
function readNeededUse(db: Reader, turns: readonly Turns[], now: number): Promise<SlotUse> | SlotUse {
  const priorities = new Set(turns.map(({ first }) => first.priority));
  return priorities.size === turns.length ? new SlotUse() : readSlotUse(db, now);
}

interface OrderRequest<Run> {
  lanes: readonly Lane[];
  /** How the runs of a lane are read. It may omit some of them. */
  read: ReadLane<Run>;
  /** True if `read` locks the runs: then it gets only those that the result has. */
  isLocking?: boolean;
  limit: number;
  /** How many more runs may start; by default any number. */
  free?: FreeRuns;
  /** The slot use; by default that of `now`. */
  use?: SlotUse;
  now: number;
}

/** Reads the first runs of the lanes in the order, at most `limit`. */
export async function readInOrder<Run extends QueuedPosition>(
  db: Reader,
  { lanes, read, isLocking = false, limit, free = NO_QUOTAS, now, use: known }: OrderRequest<Run>,
): Promise<Run[]> {
  const turns = groupLanes(lanes).map(
    (group) =>
      new TurnsReader(
        group.first,
        group.lanes.map((lane) => new LaneReader(lane, read)),
        isLocking ? 1 : PART_MAX,
      ),
  );
  const use = known ?? (await readNeededUse(db, turns, now));
  while (true) {
    const order = new FairOrder(turns, use, free);
    const next: TurnsReader<Run>[] = [];
    const counts = new Map<TurnsReader<Run>, number>();
    for (let one = order.next(); one && next.length < limit; one = order.next()) {
      next.push(one);
      counts.set(one, (counts.get(one) ?? 0) + 1);
    }
    const missing = [...counts].filter(([one, count]) => !one.has(count));
    for (const [one, count] of missing) await one.read(count);
    if (missing.length > 0) continue;
    const runs = new Map([...counts.keys()].map((one) => [one, one.runs.values()]));
    return next.flatMap((one) => runs.get(one)?.next().value ?? []);
  }
}

const selectPositions = prepareStatement((db, part: LanePart) =>
  selectLanePart(db, part).select([
    'id',
    'priority',
    'created_at',
    'account_id',
    'application_uid',
    'execution_class',
  ]),
);

export type NextRun = Awaited<ReturnType<typeof selectPositions>>[number];

/** Lists the first queued runs of the classes, which compete for the same slots, in the order in which they start. */
export async function listNextQueued(
  db: Reader,
  { classes, limit }: { classes: readonly ExecutionClass[]; limit: number },
  now: number,
): Promise<NextRun[]> {
  const lanes = (await listLanes(db, { classes })).filter((lane) => classes.includes(lane.execution_class));
  return readInOrder(db, { lanes, read: (part) => selectPositions(db, part), limit, now });
}
