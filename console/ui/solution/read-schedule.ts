/** Reads assignments with a start and an end, as the bars of a Gantt chart. */
import { type DataItem, type Fact, listFacts, readField, readItemField, toName } from './data-items.ts';
import type { FieldNames } from './read-routes.ts';

const BARS_MAX = 5_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** Later times are no dates (ECMAScript), and larger numbers have no fractions. */
const INSTANT_MAX = 8e15;
const TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** The usual names of the fields. */
const SCHEDULE_FIELDS = {
  resource: ['resource', 'machine', 'employee', 'worker', 'vehicle', 'lane', 'room', 'assignee'],
  start: ['start', 'start_time', 'begin', 'from'],
  end: ['end', 'end_time', 'finish', 'to'],
  duration: ['duration'],
  label: ['label', 'name', 'task', 'job', 'activity', 'shift', 'operation', 'id'],
  group: ['group', 'job', 'type', 'skill'],
} as const;

/** An assignment. Times are milliseconds of the clock in which the app writes times, or numbers of any unit. */
export interface Bar {
  resource: string;
  label: string;
  /** Identifies the task among those of another plan. */
  key: string | undefined;
  /** Bars of one group have one colour. */
  group: string;
  start: number;
  end: number;
  facts: Fact[];
}

export interface Schedule {
  bars: Bar[];
  /** true: the times are those of a clock; false: they are plain numbers. */
  hasClock: boolean;
  /** Zone of the clock, such as `UTC+2`; empty when the app writes none. */
  zone: string;
  /** Assignments without a usable start and end. */
  dropped: number;
}

interface Instant {
  /** Milliseconds since 1970, or a plain number. */
  at: number;
  /** Milliseconds that the clock is ahead of UTC; undefined for a plain number. */
  offset: number | undefined;
  hasZone?: boolean;
}

/** Returns the schedule of the objects; without a bar if none has a resource, a start and an end. */
export function readSchedule(items: readonly DataItem[], fields: FieldNames = {}): Schedule {
  const schedule: Schedule = { bars: [], hasClock: false, zone: '', dropped: 0 };
  let clock: Instant | undefined;
  const read = (item: DataItem, name: keyof typeof SCHEDULE_FIELDS) =>
    readItemField(item, Object.hasOwn(fields, name) ? [fields[name] ?? ''] : SCHEDULE_FIELDS[name]);
  for (const item of items.slice(0, BARS_MAX)) {
    const start = parseInstant(read(item, 'start'));
    const end = readEnd(start, read(item, 'end'), read(item, 'duration'));
    const resource = toName(read(item, 'resource'));
    clock ??= start;
    const isUsable = start && end && (start.offset === undefined) === (clock?.offset === undefined);
    const isInRange = isUsable && end.at >= start.at && -start.at < INSTANT_MAX && end.at < INSTANT_MAX;
    if (!isInRange || resource === undefined) {
      schedule.dropped += 1;
      continue;
    }
    const shift = clock?.offset ?? 0;
    const label = toName(read(item, 'label'));
    schedule.bars.push({
      resource,
      label: label ?? resource,
      key:
        toName(readField(item.value, [fields.key ?? 'id'])) ?? (fields.key === undefined ? label : undefined),
      group: toName(read(item, 'group')) ?? resource,
      start: start.at + shift,
      end: end.at + shift,
      facts: listFacts(item.value),
    });
  }
  schedule.hasClock = clock?.offset !== undefined;
  if (clock?.hasZone) schedule.zone = formatZone(clock.offset ?? 0);
  return schedule;
}

/** Returns the end, or the start plus the duration, which is in seconds after a time of a clock. */
function readEnd(start: Instant | undefined, end: unknown, duration: unknown): Instant | undefined {
  const parsed = parseInstant(end);
  if (parsed && start)
    return (parsed.offset === undefined) === (start.offset === undefined) ? parsed : undefined;
  if (!start || typeof duration !== 'number') return undefined;
  return { ...start, at: start.at + duration * (start.offset === undefined ? 1 : SECOND_MS) };
}

/** Returns a number as it is, and an ISO 8601 time as milliseconds; undefined for anything else. */
function parseInstant(value: unknown): Instant | undefined {
  if (typeof value === 'number') return { at: value, offset: undefined };
  if (typeof value !== 'string') return undefined;
  const match = TIME.exec(value);
  if (!match) return undefined;
  const zone = match[1];
  // A time without a zone is taken as it is written, whatever the zone of the browser.
  const at = Date.parse(zone === undefined && value.length > 'YYYY-MM-DD'.length ? `${value}Z` : value);
  return Number.isNaN(at) ? undefined : { at, offset: parseOffset(zone), hasZone: zone !== undefined };
}

function parseOffset(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return (zone.startsWith('-') ? -1 : 1) * minutes * MINUTE_MS;
}

function formatZone(offset: number): string {
  const minutes = Math.abs(offset / MINUTE_MS);
  const rest = minutes % 60 === 0 ? '' : `:${String(minutes % 60).padStart(2, '0')}`;
  return `UTC${offset === 0 ? '' : `${offset < 0 ? '\u2212' : '+'}${Math.floor(minutes / 60)}${rest}`}`;
}
