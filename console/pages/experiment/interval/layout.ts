/** The rows of a picture of intervals, and where their parts stand. */
import type { Effect } from '@switchyard/contract/experiments/presentation/effects.ts';
import { findDomain } from '@switchyard/contract/experiments/presentation/interval-domain.ts';
import { buildScale, findExtent, type Scale } from '@switchyard/contract/presentation/scales.ts';
import type { VerdictTone } from '../../../ui/experiments/verdict-badge.tsx';

/** An indicator, a candidate, or a group of inputs. */
export interface IntervalRow {
  key: string;
  label: string;
  /** What stands below the label. */
  note?: string | undefined;
  effect: Effect;
  /** Why an interval beside 0 does not decide, which stands below the word. */
  why?: string | undefined;
  /** The word beside the interval, such as the verdict. */
  word: string;
  /** The default is the tone of the word as a verdict. */
  tone?: VerdictTone;
  objective?: 'minimize' | 'maximize' | 'none';
  /** The change on each input, for the row that decides. */
  dots?: readonly number[];
  /** How far a candidate came in a race. */
  race?: { inputs: number; total: number; isStopped: boolean } | undefined;
}

/** Other rows, and inputs, widen the axis of the first row by at most this factor. */
const REACH_FACTOR = 2.5;
/** Each side of 0 has this share of the axis, so that both sides can be named. */
const SIDE_SHARE_MIN = 0.22;

/** Returns the range of the axis: the first row decides, so what reaches much further is cut off. */
function findAxis(rows: readonly IntervalRow[]): [low: number, high: number] {
  const [first] = rows;
  const measure = first?.effect.measure;
  const shown = rows.filter(({ effect }) => effect.measure === measure);
  const [low, high] = findDomain(first?.effect.value == null ? shown.map(readEffect) : [first.effect]);
  const limit = Math.max(-low, high) * REACH_FACTOR;
  const ends = shown.flatMap(({ effect, dots = [] }) =>
    [effect.low, effect.high, effect.value, ...dots].filter((one) => one !== null),
  );
  const [start, end] = findExtent([low, high, ...ends.map((one) => Math.min(Math.max(one, -limit), limit))]);
  const span = end - start;
  return [Math.min(start, -SIDE_SHARE_MIN * span), Math.max(end, SIDE_SHARE_MIN * span)];
}

function readEffect({ effect }: IntervalRow): Effect {
  return effect;
}

/** Height of the names of the sides. */
export const HEAD = 24;
export const TICKS_WIDTH = 64;
const AXIS = 24;
const LABEL_WIDTH = 168;
const TEXT_WIDTH = 252;
const RACE_WIDTH = 116;
const GAP = 24;
const NARROW_WIDTH = 600;

/** Heights of a row: of the first with dots, of one with a note, and of any other. */
const WIDE = { dots: 104, note: 48, plain: 36 };
const NARROW = { dots: 100, note: 72, plain: 56 };

export interface Layout {
  rows: readonly IntervalRow[];
  isNarrow: boolean;
  width: number;
  height: number;
  /** End of the last row. */
  bottom: number;
  /** Start and end of the axis. */
  plot: readonly [number, number];
  domain: readonly [number, number];
  scale: Scale;
  /** Start of each row. */
  tops: readonly number[];
  heights: readonly number[];
  race: { start: number; inputs: number; scale: Scale } | null;
}

export function computeLayout(rows: readonly IntervalRow[], width: number): Layout {
  const isNarrow = width < NARROW_WIDTH;
  const inputs = isNarrow ? 0 : Math.max(0, ...rows.map(({ race }) => race?.total ?? 0));
  const start = LABEL_WIDTH + (inputs > 0 ? RACE_WIDTH + GAP : 0);
  const plot = isNarrow ? ([0, width] as const) : ([start, width - TEXT_WIDTH - GAP] as const);
  const domain = findAxis(rows);
  const heights = listHeights(rows, isNarrow);
  const tops = heights.map((_, index) => HEAD + sum(heights.slice(0, index)));
  return {
    ...{ rows, isNarrow, width, plot, domain, heights, tops },
    height: measureHeight(rows, isNarrow),
    bottom: HEAD + sum(heights),
    scale: buildScale(domain, plot),
    race:
      inputs === 0
        ? null
        : {
            ...{ start: LABEL_WIDTH, inputs },
            scale: buildScale([0, inputs], [LABEL_WIDTH, LABEL_WIDTH + RACE_WIDTH]),
          },
  };
}

/** Returns the height of the whole picture. */
export function measureHeight(rows: readonly IntervalRow[], isNarrow: boolean): number {
  return HEAD + sum(listHeights(rows, isNarrow)) + AXIS;
}

function listHeights(rows: readonly IntervalRow[], isNarrow: boolean): number[] {
  const heights = isNarrow ? NARROW : WIDE;
  return rows.map(({ dots, note, why }) => heights[dots?.length ? 'dots' : note || why ? 'note' : 'plain']);
}

/** Returns the scale of a row. One in another unit than the first shares its 0 and has an axis of its own. */
export function buildRowScale(row: IntervalRow, first: IntervalRow | undefined, layout: Layout): Scale {
  if (row.effect.measure === first?.effect.measure) return layout.scale;
  const [low, high] = findDomain([row.effect]);
  const zero = layout.scale(0);
  const room = Math.min(zero - layout.plot[0], layout.plot[1] - zero);
  return (value) => zero + (value / Math.max(-low, high)) * room;
}

function sum(heights: readonly number[]): number {
  return heights.reduce((total, one) => total + one, 0);
}
