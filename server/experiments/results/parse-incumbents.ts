/** Parses the solutions that a run found over time from its statistics block, `series_data.value`. Pure. */
import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Incumbent } from '../statistics/observations.ts';

/** Ten thousand runs with so many points take 40 MB. */
const INCUMBENTS_MAX = 100;

const Block = Type.Object({
  series_data: Type.Object({
    value: Type.Object({ data_points: Type.Array(Type.Object({ x: Type.Unknown(), y: Type.Unknown() })) }),
  }),
});

/** Returns at most `INCUMBENTS_MAX` incumbents in the order of time, with the first and the last; null without a usable point. */
export function parseIncumbents(statistics: string): Incumbent[] | null {
  const block: unknown = JSON.parse(statistics);
  if (!Value.Check(Block, block)) return null;
  const incumbents = block.series_data.value.data_points.flatMap(({ x, y }) =>
    isFiniteNumber(x) && x >= 0 && isFiniteNumber(y) ? [{ seconds: x, value: y }] : [],
  );
  if (incumbents.length === 0) return null;
  incumbents.sort((a, b) => a.seconds - b.seconds);
  const stride = (incumbents.length - 1) / (INCUMBENTS_MAX - 1);
  return incumbents.length <= INCUMBENTS_MAX
    ? incumbents
    : Array.from({ length: INCUMBENTS_MAX }, (_, index) => incumbents[Math.round(index * stride)]).filter(
        (incumbent) => incumbent !== undefined,
      );
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
