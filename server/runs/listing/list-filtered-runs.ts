/**
 * Lists runs by a filter, in an order. It finds ended runs by their values, and active ones by their rows. A list sorted by a
 * field has two parts: the ended runs with the field, by its value, then all others by their creation time.
 *
 * Invariant: it reads active runs first. So a run that ends in between appears twice, and the list has it once.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader } from '../../database/database.ts';
import { ANY_VALUE, encodeText } from '../values/encode-value.ts';
import { indicatorField } from '../values/list-run-values.ts';
import { hashField } from '../values/run-values.ts';
import {
  comparePositions,
  type FoundRun,
  isExact,
  type RunCondition,
  type RunFilter,
  type RunPosition,
} from './run-filter.ts';
import { type RunScope, scanActiveRuns } from './scan-active-runs.ts';
import { type Scan, type ScanRequest, scanEntries } from './scan-entries.ts';
import type { EntryCondition, EntryOrder } from './value-entries.ts';

/** Fields by the number of runs that usually have one value, few first: the first in a filter decides what is read. */
const SELECTIVE_FIELDS = ['name', 'user_email', 'version_id', 'instance_id', 'run_type', 'status'];
const ACTIVE_STATUSES = [encodeText('queued'), encodeText('running')];

/** The ids of a page, and the position after which the next one begins; null at the end of the list. */
export interface FilteredPage {
  ids: RunId[];
  next: RunPosition | null;
}

/** Lists a page of runs. It may have fewer than `limit` runs although others follow, because a scan has a limit. */
export async function listFilteredRuns(
  db: Reader,
  scope: RunScope,
  filter: RunFilter,
  { after, limit }: { after: RunPosition | null; limit: number },
): Promise<FilteredPage> {
  const listing = new FilteredRuns(db, scope, filter);
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
  readonly #scope: RunScope;
  readonly #filter: RunFilter;

  constructor(db: Reader, scope: RunScope, filter: RunFilter) {
    this.#db = db;
    this.#scope = scope;
    this.#filter = filter;
  }

  /** Finds ended runs in the order of the field's values. */
  scanSorted(field: string, request: ScanRequest): Promise<Scan> {
    const { conditions, isDescending, start, end } = this.#filter;
    const own = conditions.find((condition) => condition.field === field) ?? ANY_VALUE;
    const others = conditions.filter((condition) => condition !== own);
    const order = {
      field: this.#hash(field),
      by: 'value',
      isDescending,
      ...bounds(own),
      start,
      end,
    } as const;
    return scanEntries(this.#db, order, { present: this.#hashAll(others), absent: null }, request);
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
      ...(this.#mayBeActive() ? [await scanActiveRuns(this.#db, this.#scope, filter, request)] : []),
      ...(this.#mayBeEnded() ? [await this.#scanEnded(isDescending, request)] : []),
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

  #scanEnded(isDescending: boolean, request: ScanRequest): Promise<Scan> {
    const { conditions, sort } = this.#filter;
    const absent = sort === null ? null : this.#hash(sort);
    const exact = conditions.filter(isExact).sort((one, other) => rank(one) - rank(other));
    const [driver = conditions[0]] = exact;
    const others = conditions.filter((condition) => condition !== driver);
    const order: EntryOrder = {
      // Every ended run has a status.
      field: this.#hash(driver?.field ?? 'status'),
      by: driver && isExact(driver) ? 'value' : 'time',
      isDescending,
      ...bounds(driver ?? ANY_VALUE),
      start: this.#filter.start,
      end: this.#filter.end,
    };
    const values = order.from === order.to ? { value: order.from } : {};
    const after = request.after && { ...request.after, ...values };
    return scanEntries(this.#db, order, { present: this.#hashAll(others), absent }, { ...request, after });
  }

  #mayBeActive(): boolean {
    return this.#filter.conditions.every(
      ({ field, from }) =>
        !field.startsWith(indicatorField('')) && (field !== 'status' || ACTIVE_STATUSES.includes(from)),
    );
  }

  #mayBeEnded(): boolean {
    return this.#filter.conditions.every(
      ({ field, from }) => field !== 'status' || !ACTIVE_STATUSES.includes(from),
    );
  }

  #hash(field: string): number {
    return hashField(this.#scope.applicationUid, field);
  }

  #hashAll(conditions: readonly RunCondition[]): EntryCondition[] {
    return conditions.map(({ field, ...interval }) => ({ field: this.#hash(field), ...interval }));
  }
}

const bounds = ({ from, to }: { from: string; to: string }) => ({ from, to });

/** Returns the rank of a condition: indicators and options first, then columns by SELECTIVE_FIELDS. */
function rank({ field }: RunCondition): number {
  return SELECTIVE_FIELDS.indexOf(field);
}

function firstPosition({ isDescending, start, end }: RunFilter): RunPosition {
  return { at: isDescending ? end : start, id: '' };
}
