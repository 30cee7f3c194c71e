/** What the curve of a run says in words: only what its own times and values show. Pure. */
import { formatDuration, formatPercent } from '../../presentation/format-quantity.ts';

export type Direction = 'minimize' | 'maximize';
type Point = readonly [seconds: number, value: number];

/** Of a shorter run, or of fewer points, numbers say more than a curve. */
const SECONDS_MIN = 1;
const POINTS_MIN = 4;

/** Returns true if a curve through the points says more than a few numbers. */
export function hasCurve(points: readonly (readonly number[])[]): boolean {
  const [first, last] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0];
  return (
    points.length >= POINTS_MIN && last - first > SECONDS_MIN && points.some(([, y]) => y !== points[0]?.[1])
  );
}

/** Returns the points that are better than all before them, with the first one. Without a direction, a curve that only falls or only rises has one. */
export function listImprovements(
  points: readonly (readonly number[])[],
  direction: Direction | null,
): Point[] {
  const known = direction ?? findDirection(points);
  if (known === null) return [];
  const improved: Point[] = [];
  for (const [x = 0, y = 0] of points) {
    const best = improved.at(-1)?.[1];
    if (best === undefined || (known === 'minimize' ? y < best : y > best)) improved.push([x, y]);
  }
  return improved;
}

function findDirection(points: readonly (readonly number[])[]): Direction | null {
  const steps = points.slice(1).map(([, y = 0], index) => y - (points[index]?.[1] ?? 0));
  const [falls, rises] = [steps.some((step) => step < 0), steps.some((step) => step > 0)];
  if (falls === rises) return null;
  return falls ? 'minimize' : 'maximize';
}

/** A curve with what is known beside it. */
export interface Progress {
  /** Of the objective; the x are seconds since the start of the app. */
  points: readonly (readonly number[])[];
  direction: Direction | null;
  /** Seconds until now, or until the app ended. */
  end: number;
  isLive?: boolean;
  /** The last bound that a solver has proven. */
  bound?: number | undefined;
  /** What the run achieved with which this one is compared. */
  baseline?: { value: number; seconds: number } | undefined;
}

/** The finding, and what follows from it; each is a sentence or empty. */
export interface ProgressText {
  lead: string;
  rest: string;
}

/** A finding that most of the gain came early needs this share of it. */
const MOST = 0.8;
/** A part of the run that is worth a word. */
const LONG_SHARE = 0.1;

/** Returns what the curve says; null for one that says nothing. */
export function describeProgress(progress: Progress): ProgressText | null {
  const { points, direction, end } = progress;
  if (!hasCurve(points)) return null;
  const improved = listImprovements(points, direction);
  const last = improved.at(-1);
  if (!last || end < last[0]) return null;
  const gap = measureGap(progress, last[1]);
  const rest =
    gap !== null && gap < PRECISION
      ? ['The bound proves that nothing is better.']
      : [
          improved.length > 1 && describeEnd(progress, last[0]),
          describeBaseline(progress, improved),
          describeGap(progress, gap),
        ];
  return { lead: describeGain(improved, progress), rest: rest.filter(Boolean).join(' ') };
}

function describeGain(improved: readonly Point[], { end, isLive }: Progress): string {
  const [first, last] = [improved[0]?.[1] ?? 0, improved.at(-1)?.[1] ?? 0];
  const gain = Math.abs(last - first);
  if (improved.length === 1)
    return `No value was better than the first, which came after ${writeTime(improved[0]?.[0] ?? 0)}.`;
  const [at, value] = improved.find(([, one]) => Math.abs(one - first) >= MOST * gain) ?? [0, last];
  if (at > end / 2) return '';
  const share = Math.floor((100 * Math.abs(value - first)) / gain);
  return `${share}\u00a0% of the gain${isLive ? ' so far' : ''} came in the first ${writeTime(at)}.`;
}

function describeEnd({ end, isLive }: Progress, last: number): string {
  const rest = end - last;
  if (isLive)
    return rest < LONG_SHARE * end
      ? ''
      : `Nothing has improved for ${formatDuration(1_000 * Math.floor(rest))}.`;
  if (rest < LONG_SHARE * end)
    return `It still improved ${writeTime(rest)} before its end, so more time may give a better value.`;
  const round = ROUND_SECONDS.find((seconds) => seconds > last);
  if (round === undefined || round > (1 - LONG_SHARE) * end)
    return `Nothing improved after ${writeTime(last)}.`;
  return `Nothing improved after ${writeTime(last)}, so a stop at ${writeTime(round)} would have kept the same value.`;
}

const ROUND_SECONDS = [
  1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 600, 900, 1200, 1800, 2700, 3600,
].concat([1.5, 2, 3, 4, 5, 6, 8, 10, 12].map((hours) => 3600 * hours));

function describeBaseline({ isLive, baseline }: Progress, improved: readonly Point[]): string {
  if (!isLive || !baseline || improved.length < 2) return '';
  const [first, last] = [improved[0]?.[1] ?? 0, improved.at(-1)?.[1] ?? 0];
  const beats = last < first ? last < baseline.value : last > baseline.value;
  return beats ? `It already beats the baseline, which took ${writeTime(baseline.seconds)}.` : '';
}

/** A difference of this share is an error of rounding. */
const PRECISION = 1e-9;

/** Returns what the bound leaves to gain, as a share of the best value; null without a bound that is valid for it. */
function measureGap({ bound, points, direction }: Progress, best: number): number | null {
  if (bound === undefined || best === 0) return null;
  const gap = (direction ?? findDirection(points)) === 'minimize' ? best - bound : bound - best;
  return gap < -PRECISION * Math.abs(best) ? null : Math.max(0, gap / Math.abs(best));
}

function describeGap({ isLive }: Progress, gap: number | null): string {
  return gap === null
    ? ''
    : `${isLive ? 'So far the' : 'The'} bound leaves at most ${formatPercent(gap)} to gain.`;
}

/** Returns the time in words, rounded up: what came "in the first 41 s" came before them. */
function writeTime(seconds: number): string {
  const step = seconds < 1 ? 0.01 : seconds < 10 ? 0.1 : 1;
  return formatDuration(Math.ceil(Number((seconds / step).toPrecision(12))) * step * 1_000);
}
