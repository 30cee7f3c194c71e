/**
 * Lists runs by a filter, in an order. It finds ended runs by their values, and active ones by their rows. A list sorted by a
 * field has two parts: the ended runs with the field, by its value, then all others by their creation time.
 *
 * Invariant: a list by time reads active runs first. So a run that ends in between appears twice, and the list has it once. In
 * a sorted list a run moves to the place of its value when it ends, which a reader who pages may have passed.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { type SqlBool, sql } from 'kysely';
import type { Clock } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { QUEUED, RUNNING } from '../store/schema.ts';
import { ANY_VALUE, encodeText, type ValueInterval } from '../values/encode-value.ts';
import {
  hashField,
  INDEXED_COLUMNS,
  type IndexedRun,
  indicatorField,
  TAG_FIELD,
} from '../values/run-values.ts';
import {
  compareBytes,
  comparePositions,
  type FoundRun,
  isBetween,
  isExact,
  type RunCondition,
  type RunFilter,
  type RunPosition,
  satisfiesAll,
} from './run-filter.ts';
import {
  countEntries,
  type EntryCondition,
  type EntryConditions,
  type EntryOrder,
  readEntries,
} from './value-entries.ts';
import { type Scan, type WalkRequest, walk } from './walk.ts';

/** A page takes about this time at most: the first page of a million runs is promised in 300 ms. */
const PAGE_MS_MAX = 150;
/**
 * A condition with at most this many entries decides what is read: they are read whole. The entries of more are so frequent
 * among a million runs that a page of them is found by time within a few chunks.
 */
const RARE_ENTRIES_MAX = 10_000;
const ACTIVE_STATUSES = [encodeText('queued'), encodeText('running')];

/** The queued runs of a chunk. Most queues are one chunk. */
const CHUNK_RUNS = 400;

/** The database of the runs, whose reads walk indexes in their order, and the clock that limits the time of a page. */
export interface RunSource {
  readInOrder: Reader;
  clock: Pick<Clock, 'elapsed'>;
}

/** The ids of a page, and the position after which the next one begins; null at the end of the list. */
export interface FilteredPage {
  ids: RunId[];
  next: RunPosition | null;
}

/** Lists a page of runs. It may have fewer than `limit` runs although others follow, because its time is limited. */
export async function listFilteredRuns(
  source: RunSource,
  applicationUid: string,
  filter: RunFilter,
  { after, limit }: { after: RunPosition | null; limit: number },
): Promise<FilteredPage> {
  const listing = new FilteredRuns(source, applicationUid, filter);
  const sorted: FoundRun[] = [];
  let position = after;
  // A position without a value is in the second part.
  if (filter.sort !== null && (after === null || after.value !== undefined)) {
    const { found, through } = await listing.scanSorted(filter.sort, { after, count: limit + 1 });
    if (found.length > limit) return formatPage(found.slice(0, limit), found[limit - 1] ?? null);
    if (through !== null) return formatPage(found, through);
    sorted.push(...found);
    position = null;
  }
  const rest = await listing.listByTime(position, limit - sorted.length);
  return formatPage([...sorted, ...rest.found], rest.next);
}

function formatPage(found: readonly FoundRun[], next: RunPosition | null): FilteredPage {
  return { ids: found.map(({ id }) => id), next };
}

class FilteredRuns {
  readonly #db: Reader;
  readonly #clock: RunSource['clock'];
  readonly #begin: number;
  readonly #applicationUid: string;
  readonly #filter: RunFilter;

  constructor({ readInOrder, clock }: RunSource, applicationUid: string, filter: RunFilter) {
    this.#db = readInOrder;
    this.#clock = clock;
    this.#begin = clock.elapsed();
    this.#applicationUid = applicationUid;
    this.#filter = filter;
  }

  /** Finds ended runs in the order of the field's values: those of one interval after those of another. */
  async scanSorted(field: string, { after, count }: WalkRequest): Promise<Scan> {
    const { conditions, isDescending } = this.#filter;
    const own = conditions.find((condition) => condition.field === field);
    const present = this.#hashAll(conditions.filter((condition) => condition !== own));
    const found: FoundRun[] = [];
    for (const interval of sortIntervals(own?.intervals ?? [ANY_VALUE], isDescending, after?.value)) {
      const order = { ...this.#formatOrder(field, 'value', interval), isDescending };
      const isInside = after?.value !== undefined && isBetween(after.value, interval);
      const request = { after: isInside ? after : null, count: count - found.length };
      const scan = await this.#walkEntries(order, { present, absent: null }, request, 1);
      found.push(...scan.found);
      if (scan.through !== null) return { found, through: scan.through };
    }
    return { found, through: null };
  }

  /** Lists runs in the order of their creation: all of them, or those without the field of the sort. */
  async listByTime(
    after: RunPosition | null,
    limit: number,
  ): Promise<{ found: FoundRun[]; next: RunPosition | null }> {
    const { sort } = this.#filter;
    const isDescending = sort !== null || this.#filter.isDescending;
    const filter = { ...this.#filter, isDescending };
    const request = { after, count: limit + 1 };
    const compare = (one: RunPosition, other: RunPosition): number =>
      comparePositions(one, other, isDescending);
    const active = this.#mayBeActive() ? [await this.#scanActive(filter, request)] : [];
    const scans = [...active, ...(this.#mayBeEnded() ? await this.#scanEnded(isDescending, request) : [])];
    const [through = null] = scans.flatMap((scan) => scan.through ?? []).sort(compare);
    const positions = new Map(scans.flatMap(({ found }): FoundRun[] => found).map((one) => [one.id, one]));
    const found = [...positions.values()]
      .map(({ id, at }) => ({ id, at }))
      .filter((one) => through === null || compare(one, through) <= 0)
      .sort(compare);
    const page = found.slice(0, limit);
    if (found.length > limit) return { found: page, next: page.at(-1) ?? after ?? firstPosition(filter) };
    return { found: page, next: through && { id: through.id, at: through.at } };
  }

  /** Scans the active runs, in half of the time of the page. */
  #scanActive(filter: RunFilter, request: WalkRequest): Promise<Scan> {
    const readChunk = (after: RunPosition | null) =>
      readActiveRuns(this.#db, this.#applicationUid, filter, after);
    return walk(readChunk, request, () => this.#isOver(1 / 2));
  }

  /** Scans the entries of one condition by time: each of its intervals in turn, in an equal part of the remaining time. */
  async #scanEnded(isDescending: boolean, request: WalkRequest): Promise<Scan[]> {
    const { conditions, sort } = this.#filter;
    const { driver, isRare } = await this.#findDriver();
    // Every ended run has a status.
    const { field, intervals } = driver ?? { field: 'status', intervals: [ANY_VALUE] };
    const present = this.#hashAll(conditions.filter((condition) => condition !== driver));
    const absent = sort === null ? null : this.#hash(sort);
    const scans: Scan[] = [];
    for (const interval of intervals) {
      const by = interval.from === interval.to ? 'value' : isRare ? 'sorted' : 'time';
      const order = { ...this.#formatOrder(field, by, interval), isDescending };
      const share = (intervals.length + scans.length + 1) / (2 * intervals.length);
      scans.push(await this.#walkEntries(order, { present, absent }, request, share));
    }
    return scans;
  }

  /** Finds the condition whose entries are read: the rarest, else one of single values, each of which is in the order of time. */
  async #findDriver(): Promise<{ driver: RunCondition | undefined; isRare: boolean }> {
    const { conditions } = this.#filter;
    const exact = conditions.findLast(isExact);
    if (exact && conditions.length === 1) return { driver: exact, isRare: false };
    let rarest: RunCondition | undefined;
    let fewest = RARE_ENTRIES_MAX + 1;
    for (const condition of conditions) {
      const count = await this.#countEntries(condition, fewest);
      if (count < fewest) [rarest, fewest] = [condition, count];
    }
    return { driver: rarest ?? exact ?? conditions.at(-1), isRare: rarest !== undefined };
  }

  /** Counts the entries that satisfy the condition, up to a maximum. */
  async #countEntries({ field, intervals }: RunCondition, countMax: number): Promise<number> {
    let count = 0;
    for (const interval of intervals)
      count += await countEntries(this.#db, { field: this.#hash(field), ...interval }, countMax - count);
    return count;
  }

  #walkEntries(
    order: EntryOrder,
    conditions: EntryConditions,
    { after, count }: WalkRequest,
    share: number,
  ): Promise<Scan> {
    const readChunk = (position: RunPosition | null) =>
      readEntries(this.#db, order, conditions, { after: position, count });
    return walk(readChunk, { after, count }, () => this.#isOver(share));
  }

  /** Returns true when this share of the time of the page has passed. */
  #isOver(share: number): boolean {
    return this.#clock.elapsed() - this.#begin >= PAGE_MS_MAX * share;
  }

  #formatOrder(field: string, by: EntryOrder['by'], { from, to }: ValueInterval) {
    const { start, end } = this.#filter;
    return { field: this.#hash(field), by, from, to, start, end };
  }

  #mayBeActive(): boolean {
    return this.#filter.conditions.every(
      ({ field, intervals }) =>
        !field.startsWith(indicatorField('')) &&
        (field !== 'status' || intervals.some(({ from }) => ACTIVE_STATUSES.includes(from))),
    );
  }

  #mayBeEnded(): boolean {
    return this.#filter.conditions.every(
      ({ field, intervals }) =>
        field !== 'status' || intervals.some(({ from }) => !ACTIVE_STATUSES.includes(from)),
    );
  }

  #hash(field: string): number {
    return hashField(this.#applicationUid, field);
  }

  #hashAll(conditions: readonly RunCondition[]): EntryCondition[] {
    return conditions.map(({ field, intervals }) => ({ field: this.#hash(field), intervals }));
  }
}

/** Sorts the intervals as the list does, without those before the value of a position. */
function sortIntervals(
  intervals: readonly ValueInterval[],
  isDescending: boolean,
  after: string | undefined,
): ValueInterval[] {
  const ascending = [...intervals].sort((one, other) => compareBytes(one.from, other.from));
  const sorted = isDescending ? ascending.reverse() : ascending;
  if (after === undefined) return sorted;
  return sorted.filter(({ from, to }) =>
    isDescending ? compareBytes(from, after) <= 0 : compareBytes(to, after) >= 0,
  );
}

function firstPosition({ isDescending, start, end }: RunFilter): RunPosition {
  return { at: isDescending ? end : start, id: '' };
}

/** Finds active runs of the next chunk that satisfy the filter, in the order of their creation. */
async function readActiveRuns(
  db: Reader,
  applicationUid: string,
  filter: RunFilter,
  after: RunPosition | null,
): Promise<Scan> {
  const { isDescending } = filter;
  const compare = (one: RunPosition, other: RunPosition): number =>
    comparePositions(one, other, isDescending);
  const position = after ?? { at: isDescending ? filter.end : filter.start, id: '' };
  const rows = await selectActive(db, applicationUid, filter, position).execute();
  const active = rows.map((run) => ({ ...run, at: run.created_at }));
  const queued = active.filter(({ status }) => status === 'queued').sort(compare);
  const through = queued[CHUNK_RUNS - 1] ?? null;
  const isInChunk = (one: RunPosition): boolean =>
    (after === null || compare(after, one) < 0) && (through === null || compare(one, through) <= 0);
  const tags = filter.conditions.find(({ field }) => field === TAG_FIELD);
  const others = filter.conditions.filter((condition) => condition !== tags);
  const matched = active.filter((run) => isInChunk(run) && satisfiesAll(run, others)).sort(compare);
  const found = tags ? await filterTagged(db, matched, tags) : matched;
  const toPosition = ({ id, at }: (typeof active)[number]) => ({ id, at });
  return { found: found.map(toPosition), through: through && toPosition(through) };
}

/** Returns the runs that have one of the tags. */
async function filterTagged<Run extends Pick<IndexedRun, 'id'>>(
  db: Reader,
  runs: readonly Run[],
  { intervals }: RunCondition,
): Promise<readonly Run[]> {
  if (runs.length === 0) return runs;
  const ids = runs.map(({ id }) => id);
  const rows = await db.selectFrom('run_tags').selectAll().where('run_id', 'in', ids).execute();
  const values = new Set(intervals.map(({ from }) => from));
  const tagged = new Set(rows.filter(({ tag }) => values.has(encodeText(tag))).map(({ run_id }) => run_id));
  return runs.filter(({ id }) => tagged.has(id));
}

/**
 * Selects the running runs of the application, and the queued ones of the next chunk after the position. It is one statement,
 * so that a run that starts or is requeued meanwhile is in one of both. Only the index runs_queued_of_application has its
 * expression. The index of running runs is partial: see findUnfinishedRunOfVersion.
 */
function selectActive(
  db: Reader,
  applicationUid: string,
  { isDescending, start, end }: RunFilter,
  { at, id }: RunPosition,
) {
  const direction = isDescending ? 'desc' : 'asc';
  const comparison = sql.raw(isDescending ? '<' : '>');
  const active = db
    .selectFrom('runs')
    .select(INDEXED_COLUMNS)
    .where('created_at', '>=', start)
    .where('created_at', '<', end)
    .where(sql<SqlBool>`application_uid || '' = ${applicationUid}`);
  const queued = active
    .where('status', '=', QUEUED)
    .where(sql<SqlBool>`(created_at, id) ${comparison} (${at}, ${id})`)
    .orderBy('created_at', direction)
    .orderBy('id', direction)
    .limit(sql.lit(CHUNK_RUNS));
  return active.where('status', '=', RUNNING).unionAll(db.selectFrom(queued.as('queued')).selectAll());
}
