/** The reduced series has the picture of the whole one: its ends and its extremes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { downsample, type Point } from './downsample.ts';

const series = fc
  .array(fc.tuple(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.double({ noNaN: true })), {
    minLength: 1,
    maxLength: 400,
  })
  .map((points): Point[] => points.sort((one, other) => one[0] - other[0]));

test('reduces any series to at most the given number, in order, with its ends and extremes', () => {
  fc.assert(
    fc.property(series, fc.integer({ min: 4, max: 100 }), (points, max) => {
      const reduced = downsample(points, max);
      expect(reduced.length).toBeLessThanOrEqual(max);
      const indexes = reduced.map((point) => points.indexOf(point));
      expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
      expect([reduced[0], reduced.at(-1)]).toEqual([points[0], points.at(-1)]);
      const values = points.map(([, y]) => y);
      const reducedValues = reduced.map(([, y]) => y);
      expect(Math.min(...reducedValues)).toBe(Math.min(...values));
      expect(Math.max(...reducedValues)).toBe(Math.max(...values));
      if (points.length <= max) expect(reduced).toEqual(points);
    }),
  );
});
