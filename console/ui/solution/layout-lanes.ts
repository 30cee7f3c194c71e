/** Places the bars of a schedule into lanes, and the marks on its time axis. */
import { formatNumber, formatValue } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Bar, Schedule } from './read-schedule.ts';

/** A bar with the row of its lane. Bars of one row do not overlap. */
export interface PlacedBar {
  bar: Bar;
  /** Index among the bars of the schedule. */
  index: number;
  row: number;
}

export interface Lane {
  resource: string;
  bars: PlacedBar[];
  rows: number;
}

/** Returns one lane for each resource, in the order of the data, with its bars by their start. */
export function layoutLanes(bars: readonly Bar[]): Lane[] {
  const lanes = new Map<string, Lane>();
  for (const [index, bar] of bars.entries()) {
    const lane = lanes.get(bar.resource) ?? { resource: bar.resource, bars: [], rows: 1 };
    lane.bars.push({ bar, index, row: 0 });
    lanes.set(bar.resource, lane);
  }
  for (const lane of lanes.values()) placeRows(lane);
  return [...lanes.values()];
}

function placeRows(lane: Lane): void {
  lane.bars.sort((one, other) => one.bar.start - other.bar.start || one.bar.end - other.bar.end);
  const ends: number[] = [];
  for (const placed of lane.bars) {
    const free = ends.findIndex((end) => end <= placed.bar.start);
    placed.row = free === -1 ? ends.length : free;
    ends[placed.row] = placed.bar.end;
  }
  lane.rows = Math.max(1, ends.length);
}

/** A mark on the time axis. */
export interface Tick {
  at: number;
  text: string;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const CLOCK_STEPS_MS = [
  1_000,
  5_000,
  15_000,
  30_000,
  ...[1, 5, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 28, 91, 365].map((days) => days * DAY_MS),
];

// The clock of the app was added to the times already, so they are written as those of UTC.
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const seconds = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });

/** Returns at most `ticksMax` marks at round times or numbers between start and end. */
export function listTicks(start: number, end: number, axis: { hasClock: boolean; ticksMax: number }): Tick[] {
  const span = end - start || 1;
  const step = axis.hasClock ? chooseClockStep(span / axis.ticksMax) : chooseStep(span / axis.ticksMax);
  const ticks: Tick[] = [];
  for (let at = Math.ceil(start / step) * step; at <= end && ticks.length < axis.ticksMax; at += step)
    ticks.push({ at, text: axis.hasClock ? formatTick(at, step) : formatValue(at, 0, 9) });
  const [first] = ticks;
  // A clock without a date says too little.
  if (first && axis.hasClock && step < DAY_MS && first.at % DAY_MS !== 0)
    first.text = `${days.format(first.at)}, ${first.text}`;
  return ticks;
}

function chooseClockStep(least: number): number {
  return CLOCK_STEPS_MS.find((step) => step >= least) ?? Math.ceil(least / (365 * DAY_MS)) * 365 * DAY_MS;
}

function chooseStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}

function formatTick(at: number, step: number): string {
  if (step >= DAY_MS || at % DAY_MS === 0) return days.format(at);
  return step < MINUTE_MS ? seconds.format(at) : clock.format(at);
}

/** Returns the times of a bar, such as `4 May, 08:22 to 09:59`. */
export function formatSpan({ start, end }: Bar, hasClock: Schedule['hasClock']): string {
  if (!hasClock) return `${formatNumber(start)} to ${formatNumber(end)}`;
  const day = days.format(start);
  const lastDay = days.format(end);
  return `${day}, ${clock.format(start)} to ${lastDay === day ? '' : `${lastDay}, `}${clock.format(end)}`;
}
