import { expect, test } from 'vitest';
import { drawPath, findShape, placeShapes } from './project-shapes.ts';
import { type MapShape, readGeoJson } from './read-geojson.ts';

const square = [
  [0, 0],
  [10, 0],
  [10, 10],
  [0, 10],
  [0, 0],
];
const read = (geometries: readonly object[]): MapShape[] => readGeoJson(geometries).shapes;

test('shapes fill a box of 1,000 units, north is up, and a degree of latitude grows towards the poles', () => {
  const { shapes, width, height } = placeShapes(
    read([
      { type: 'Point', coordinates: [10, 0] },
      { type: 'Point', coordinates: [30, 60] },
      { type: 'Point', coordinates: [20, 30] },
    ]),
  );
  expect(height).toBeCloseTo(1000);
  expect(width).toBeCloseTo(
    1000 * (20 / 360 / (Math.log((1 + Math.sin(Math.PI / 3)) / (1 - Math.sin(Math.PI / 3))) / (4 * Math.PI))),
  );
  const [south, north, middle] = shapes.map(({ lines }) => lines[0]?.[0]);
  expect(south).toEqual([expect.closeTo(0), expect.closeTo(1000)]);
  expect(north).toEqual([expect.closeTo(width), expect.closeTo(0)]);
  expect(middle?.[1]).toBeGreaterThan(500);
});

test('a single place has a box without size, and equal places stay where they are', () => {
  const point = { type: 'Point', coordinates: [10, 50] };
  for (const all of [[point], [point, point]]) {
    const { shapes, width, height } = placeShapes(read(all));
    expect([width, height, ...(shapes[0]?.lines[0]?.[0] ?? [])]).toEqual([0, 0, 0, 0]);
  }
});

test('a point is a dot, a line stays open, and each ring of an area closes', () => {
  const { shapes } = placeShapes(
    read([
      {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [10, 0],
        ],
      },
      { type: 'Point', coordinates: [10, 0] },
    ]),
  );
  expect(drawPath(shapes)).toBe('M0.000 0.000L1000.000 0.000M1000.000 0.000h0');
  const area = placeShapes(read([{ type: 'Polygon', coordinates: [square, square] }]));
  expect(drawPath(area.shapes).match(/M[^MZ]*Z/g)).toHaveLength(2);
});

test('a press means the nearest point or line in reach, a point before the lines to it, then an area around it', () => {
  const { shapes } = placeShapes(
    read([
      { type: 'Polygon', coordinates: [square] },
      {
        type: 'LineString',
        coordinates: [
          [2, 2],
          [8, 2],
        ],
      },
      { type: 'Point', coordinates: [8, 2] },
    ]),
  );
  const [, line, point] = shapes;
  const [from = [0, 0]] = line?.lines[0] ?? [];
  const [at = [0, 0]] = point?.lines[0] ?? [];
  expect(findShape(shapes, [at[0] + 2, at[1]], 5)).toBe(2);
  expect(findShape(shapes, [(from[0] + at[0]) / 2, from[1] + 4], 5)).toBe(1);
  expect(findShape(shapes, [(from[0] + at[0]) / 2, from[1] - 100], 5)).toBe(0);
  expect(findShape(shapes, [-100, -100], 5)).toBeUndefined();
});
