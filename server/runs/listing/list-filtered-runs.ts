/**
 * Lists runs by a filter, in an order. It finds ended runs by their values, and active ones by their rows. A list sorted by a
 * field has two parts: the ended runs with the field, by its value, then all others by their creation time.
 *
 * Invariant: it reads active runs first. So a run that ends in between appears twice, and the list has it once.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { ANY_VALUE, encodeText, type ValueInterval } from '../values/encode-value.ts';
import { indicatorField } from '../values/list-run-values.ts';
import { hashField } from '../values/run-values.ts';
import {
  compareBytes,
  comparePositions,
  type FoundRun,
  isBetween,
  isExact,
  type RunCondition,
  type RunFilter,
  type RunPosition,
} from './run-filter.ts';
import { scanActiveRuns } from './scan-active-runs.ts';
import {
  type EntrySource,
  findEntriesOfValues,
  type Scan,
  type ScanRequest,
  scanEntries,
} from './scan-entries.ts';
import type { Entry, EntryCondition, EntryOrder } from './value-entries.ts';

/** Fields by the number of runs that usually have one value, few first: the first in a filter decides what is read. */
const SELECTIVE_FIELDS = ['tag', 'name', 'user_email', 'version_id', 'instance_id', 'run_type', 'status'];
const ACTIVE_STATUSES = [encodeText('queued'), encodeText('running')];

/** The ids of a page, and the position after which the next one begins; null at the end of the list. */
export interface FilteredPage {
  ids: RunId[];
  next: RunPosition | null;
}

/** Lists a page of runs. It may have fewer than `limit` runs although others follow, because a scan has a limit. */
export async function listFilteredRuns(
  source: EntrySource,
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
  readonly #source: EntrySource;
  readonly #applicationUid: string;
  readonly #filter: RunFilter;

  constructor(source: EntrySource, applicationUid: string, filter: RunFilter) {
    this.#source = source;
    this.#applicationUid = applicationUid;
    this.#filter = filter;
  }

  /** Finds ended runs in the order of the field's values: those of one interval after those of another. */
  async scanSorted(field: string, { after, count }: ScanRequest): Promise<Scan> {
    const { conditions, isDescending } = this.#filter;
    const own = conditions.find((condition) => condition.field === field);
    const present = this.#hashAll(conditions.filter((condition) => condition !== own));
    const intervals = sortIntervals(own?.intervals ?? [ANY_VALUE], isDescending, after?.value);
    const found: Entry[] = [];
    for (const interval of intervals) {
      const order = { ...this.#formatOrder(field, 'value', interval), isDescending };
      const isInside = after?.value !== undefined && isBetween(after.value, interval);
      const scan = await scanEntries(
        this.#source,
        order,
        { present, absent: null },
        {
          after: isInside ? after : null,
          count: count - found.length,
          share: 1 / intervals.length,
        },
      );
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
    const scans = [
      ...(this.#mayBeActive()
        ? [await scanActiveRuns(this.#source, this.#applicationUid, filter, request)]
        : []),
      ...(this.#mayBeEnded() ? await this.#scanEnded(isDescending, request) : []),
    ];
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

  /** Scans the entries of the most selective condition. Scans its values together if there is no other, else one by one. */
  async #scanEnded(isDescending: boolean, request: ScanRequest): Promise<Scan[]> {
    const { conditions, sort } = this.#filter;
    const absent = sort === null ? null : this.#hash(sort);
    const exact = conditions.filter(isExact).sort((one, other) => rank(one) - rank(other));
    const [driver = conditions[0]] = exact;
    // Every ended run has a status.
    const { field, intervals } = driver ?? { field: 'status', intervals: [ANY_VALUE] };
    const others = this.#hashAll(conditions.filter((condition) => condition !== driver));
    const by = driver && isExact(driver) ? 'value' : 'time';
    const orders = intervals.map((interval) => ({ ...this.#formatOrder(field, by, interval), isDescending }));
    const [first] = orders;
    if (by === 'value' && first && others.length === 0 && absent === null) {
      const values = intervals.map(({ from }) => from);
      return [await findEntriesOfValues(this.#source, first, values, request)];
    }
    const share = 1 / intervals.length;
    const scans: Scan[] = [];
    for (const order of orders) {
      const after = request.after && { ...request.after, ...(by === 'value' && { value: order.from }) };
      scans.push(
        await scanEntries(this.#source, order, { present: others, absent }, { ...request, after, share }),
      );
    }
    return scans;
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

/** Returns the rank of a condition: indicators and options first, then columns by SELECTIVE_FIELDS. */
function rank({ field }: RunCondition): number {
  return SELECTIVE_FIELDS.indexOf(field);
}

function firstPosition({ isDescending, start, end }: RunFilter): RunPosition {
  return { at: isDescending ? end : start, id: '' };
}
