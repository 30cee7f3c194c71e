import { expect, test } from 'vitest';
import { moveMap, placeMap, pressMapKey, WHOLE_MAP, zoomMap } from './map-view.ts';

const box = { shapes: [], width: 1000, height: 500 };
const window = { width: 480, height: 400 };

test('the whole map stands in the middle, with room around it', () => {
  expect(placeMap(box, window, WHOLE_MAP)).toEqual({ scale: 0.4, left: 40, top: 100 });
  expect(placeMap({ shapes: [], width: 0, height: 0 }, window, WHOLE_MAP)).toEqual({
    scale: 1,
    left: 240,
    top: 200,
  });
});

test('the place under the pointer stays there while the map grows', () => {
  const place = ([x, y]: readonly [number, number], view = WHOLE_MAP) => {
    const { scale, left, top } = placeMap(box, window, view);
    return [(x - left) / scale, (y - top) / scale];
  };
  const pointer = [300, 180] as const;
  const larger = zoomMap(box, window, WHOLE_MAP, { factor: 4, around: pointer });
  expect(larger.zoom).toBe(4);
  for (const [index, expected] of place(pointer).entries())
    expect(place(pointer, larger)[index]).toBeCloseTo(expected);
  expect(zoomMap(box, window, larger, { factor: 1 / 8 })).toEqual(WHOLE_MAP);
});

test('keys move, zoom and show all, and the map cannot be lost', () => {
  const right = pressMapKey(box, window, WHOLE_MAP, 'ArrowRight');
  expect(right?.center[0]).toBeCloseTo(0.5 + 96 / 400);
  expect(pressMapKey(box, window, WHOLE_MAP, 'ArrowUp')?.center[1]).toBeLessThan(0.5);
  expect(pressMapKey(box, window, WHOLE_MAP, '+')?.zoom).toBe(1.5);
  expect(pressMapKey(box, window, { zoom: 3, center: [0, 1] }, '0')).toEqual(WHOLE_MAP);
  expect(pressMapKey(box, window, WHOLE_MAP, 'a')).toBeUndefined();
  expect(moveMap(box, window, WHOLE_MAP, [9999, -9999]).center).toEqual([0, 1]);
});
