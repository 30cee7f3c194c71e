import { expect, test } from 'vitest';
import { parseSeries } from './statistics-series.ts';

test('reads the objective and the custom series, sorted by time', () => {
  expect(
    parseSeries({
      series_data: {
        value: {
          name: 'cost',
          data_points: [
            { x: 2, y: 90 },
            { x: 0.5, y: 100 },
          ],
        },
        custom: [{ name: '', data_points: [{ x: 1, y: 2 }] }],
      },
    }),
  ).toEqual([
    {
      name: 'cost',
      points: [
        { x: 0.5, y: 100 },
        { x: 2, y: 90 },
      ],
    },
    { name: 'Series 1', points: [{ x: 1, y: 2 }] },
  ]);
});

test.each([
  undefined,
  null,
  'text',
  { series_data: null },
  { series_data: { value: { data_points: {} }, custom: { length: 3 } } },
  { series_data: { value: { name: 'x', data_points: [{ x: 'nan', y: 1 }, { x: 1, y: '+inf' }, null, 7] } } },
])('reads no series from %j', (statistics) => {
  expect(parseSeries(statistics)).toEqual([]);
});
