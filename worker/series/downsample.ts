/** Reduces a series to fewer points and preserves its picture. Pure. */

/** A value at a time: `[seconds, value]`. */
export type Point = [x: number, y: number];

/** Points that an interval keeps: its first, smallest, largest and last. */
const POINTS_PER_INTERVAL = 4;

/**
 * Returns at most `max` of the points, in their order: the first, smallest, largest and last point of each of equal
 * intervals. So the first and last point of the series and its extremes remain. The points are in the order of x.
 */
export function downsample(points: readonly Point[], max: number): Point[] {
  const [first] = points;
  const last = points.at(-1);
  if (points.length <= max || !first || !last) return [...points];
  const intervals = Math.max(1, Math.floor(max / POINTS_PER_INTERVAL));
  const width = (last[0] - first[0]) / intervals;
  const reduced: Point[] = [];
  let interval: Point[] = [];
  let index = 0;
  for (const point of points) {
    const own = width > 0 ? Math.min(intervals - 1, Math.floor((point[0] - first[0]) / width)) : 0;
    if (own !== index) {
      reduced.push(...reduceInterval(interval));
      interval = [];
      index = own;
    }
    interval.push(point);
  }
  return [...reduced, ...reduceInterval(interval)];
}

function reduceInterval(points: readonly Point[]): Point[] {
  if (points.length <= POINTS_PER_INTERVAL) return [...points];
  let [low, high] = [0, 0];
  for (const [index, [, y]] of points.entries()) {
    if (y < (points[low]?.[1] ?? y)) low = index;
    if (y > (points[high]?.[1] ?? y)) high = index;
  }
  const indexes = new Set([0, low, high, points.length - 1]);
  return points.filter((_, index) => indexes.has(index));
}
