/** Reads the series of a statistics block. The block is content of an app, so nothing about it is certain. Pure. */

/** A chart of more series than these is not readable. */
const SERIES_MAX = 10;

interface SeriesPoint {
  /** Usually seconds since the start of the solver. */
  x: number;
  y: number;
}

export interface Series {
  name: string;
  points: SeriesPoint[];
}

/**
 * Returns the objective (`series_data.value`) first, then the custom series. Points that are not finite numbers are omitted,
 * and so are series without a point. The points are sorted by x.
 */
export function parseSeries(statistics: unknown): Series[] {
  const data = readField(statistics, 'series_data');
  const custom = readField(data, 'custom');
  const candidates = [readField(data, 'value'), ...(Array.isArray(custom) ? custom : [])];
  return candidates
    .flatMap((candidate, index) => {
      const points = parsePoints(readField(candidate, 'data_points'));
      const name = readField(candidate, 'name');
      const fallback = index === 0 ? 'Objective' : `Series ${index}`;
      return points.length === 0
        ? []
        : [{ name: typeof name === 'string' && name !== '' ? name : fallback, points }];
    })
    .slice(0, SERIES_MAX);
}

function parsePoints(points: unknown): SeriesPoint[] {
  if (!Array.isArray(points)) return [];
  return points
    .flatMap((point) => {
      const x = readField(point, 'x');
      const y = readField(point, 'y');
      return isFiniteNumber(x) && isFiniteNumber(y) ? [{ x, y }] : [];
    })
    .sort((a, b) => a.x - b.x);
}

/** Returns an own field of an object; undefined for anything else. */
function readField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
