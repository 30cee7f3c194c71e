/** The rows of a picture of intervals, and the axis that shows them. */
import type { Effect } from '@switchyard/contract/experiments/presentation/effects.ts';
import { findDomain } from '@switchyard/contract/experiments/presentation/interval-domain.ts';
import { findExtent } from '@switchyard/contract/presentation/scales.ts';
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
export function findAxis(rows: readonly IntervalRow[]): [low: number, high: number] {
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
