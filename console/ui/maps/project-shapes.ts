/** Shapes on the plane of a web map (Web Mercator): the box that they fill, and which of them is near a point. */
import type { MapShape, Position } from './read-geojson.ts';

/** The longer side of the box; fractions of its unit are then exact enough for any zoom. */
const BOX = 1000;
/** A single place is shown with what is around it: the width of its box as a share of the earth's. */
const SPAN_MIN = 1 / 2 ** 15;

export type Point = readonly [x: number, y: number];

/** A shape with its lines on the plane: a point is a line of one position, an area has its rings. */
export interface PlacedShape {
  type: MapShape['geometry']['type'];
  lines: Point[][];
}

/** Shapes in a box that begins at 0, 0, with its width and its height. */
export interface PlacedShapes {
  shapes: PlacedShape[];
  width: number;
  height: number;
}

function project([longitude, latitude]: Position): Point {
  const sine = Math.sin((latitude * Math.PI) / 180);
  return [longitude / 360 + 0.5, 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)];
}

function listLines({ geometry: { type, coordinates } }: MapShape): Position[][] {
  if (type === 'Point') return [[coordinates]];
  return type === 'LineString' ? [coordinates] : coordinates;
}

/** Places shapes in the smallest box around all of them. */
export function placeShapes(shapes: readonly MapShape[]): PlacedShapes {
  const projected = shapes.map((shape) => listLines(shape).map((line) => line.map(project)));
  let [left, top, right, bottom] = [1, 1, 0, 0];
  for (const [x, y] of projected.flat(2)) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  const unit = BOX / Math.max(right - left, bottom - top, SPAN_MIN);
  return {
    shapes: shapes.map(({ geometry: { type } }, index) => ({
      type,
      lines: (projected[index] ?? []).map((line) =>
        line.map(([x, y]) => [(x - left) * unit, (y - top) * unit] as const),
      ),
    })),
    width: (right - left) * unit,
    height: (bottom - top) * unit,
  };
}

/** Returns the data of an SVG path. A point is a line without length, which a round cap makes a disc of its width. */
export function drawPath(shapes: readonly PlacedShape[]): string {
  const format = ([x, y]: Point) => `${x.toFixed(3)} ${y.toFixed(3)}`;
  return shapes
    .flatMap(({ type, lines }) =>
      lines.map((line) => {
        const path = `M${line.map(format).join('L')}`;
        if (type === 'Point') return `${path}h0`;
        return type === 'Polygon' ? `${path}Z` : path;
      }),
    )
    .join('');
}

function measureDistance([x, y]: Point, [x1, y1]: Point, [x2, y2]: Point): number {
  const length = (x2 - x1) ** 2 + (y2 - y1) ** 2;
  const along = length === 0 ? 0 : ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length;
  const share = Math.min(1, Math.max(0, along));
  return Math.hypot(x - x1 - share * (x2 - x1), y - y1 - share * (y2 - y1));
}

/** Counts the sides that a ray from the point crosses: an odd number, if it is inside. */
function isInside([x, y]: Point, rings: readonly Point[][]): boolean {
  const crossed = rings.flatMap((ring) =>
    ring.filter(([x1, y1], index) => {
      const [x2, y2] = ring[(index + 1) % ring.length] ?? [x1, y1];
      return y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1);
    }),
  );
  return crossed.length % 2 === 1;
}

/** Returns the index of the shape at a point: the nearest point or line within the radius, else the area around it. */
export function findShape(shapes: readonly PlacedShape[], at: Point, radius: number): number | undefined {
  let best: { index: number; distance: number } | undefined;
  let area: number | undefined;
  for (const [index, { type, lines }] of shapes.entries()) {
    if (type === 'Polygon' && isInside(at, lines)) area = index;
    for (const line of lines)
      for (const [step, from] of line.entries()) {
        // A point lies on the lines that lead to it and is meant before them.
        const distance =
          measureDistance(at, from, line[step + 1] ?? from) - (type === 'Point' ? radius / 2 : 0);
        if (distance <= radius && distance < (best?.distance ?? Infinity)) best = { index, distance };
      }
  }
  return best?.index ?? area;
}
