/** The bounds of the series of one run. */
import { SERIES_MAX, SERIES_TOTAL_POINTS_MAX } from '@switchyard/contract/limits.ts';
import { expect, test } from 'vitest';
import { SeriesCollection } from './series-part.ts';

const NAMES = ['bound', 'gap', 'nodes', 'objective'];

test('of very many solves the last ones keep their series, and the app keeps its own', () => {
  const collection = new SeriesCollection();
  collection.addPoint({ source: 'log', name: 'cost', solve: null }, [0, 1]);
  const solves = 100;
  for (let solve = 0; solve < solves; solve += 1)
    for (const name of NAMES)
      for (let x = 0; x < 2_500; x += 1) collection.addPoint({ source: 'log', name, solve }, [x, -x]);
  const { series } = collection.toPart();
  expect(series.length).toBeLessThanOrEqual(SERIES_MAX);
  const kept = [...new Set(series.map(({ solve }) => solve))];
  expect(kept[0]).toBeNull();
  expect(kept.slice(1)).toEqual(Array.from({ length: 31 }, (_, index) => solves - 31 + index));
  expect(series.reduce((sum, { points }) => sum + points.length, 0)).toBeLessThanOrEqual(
    SERIES_TOTAL_POINTS_MAX,
  );
  for (const { points } of series.slice(1)) expect(points.at(-1)).toEqual([2_499, -2_499]);
});
