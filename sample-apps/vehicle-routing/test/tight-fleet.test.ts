/** Where room is hard to find: a fleet that is just enough, and the only vehicle that may serve a stop far away. */
import { expect, it } from 'vitest';
import { Random } from '../src/search/random.ts';
import type { StopInput } from './plan-checker.ts';
import { solve, stopsByVehicle } from './run-app.ts';

it('serves every stop when the amounts fill the vehicles to the last unit', () => {
  const left: number[] = [];
  for (let seed = 1; seed <= 5; seed++) {
    const random = new Random(seed);
    const stops = [];
    const vehicles = [];
    for (let v = 0; v < 6; v++) {
      vehicles.push({ id: `v${v}`, start: { x: 50, y: 50 }, end: { x: 50, y: 50 }, capacity: 100 });
      for (let rest = 100; rest > 0; ) {
        const deliver = rest < 35 ? rest : 12 + random.below(20);
        rest -= deliver;
        stops.push({
          id: `s${stops.length}`,
          location: { x: random.below(100), y: random.below(100) },
          deliver,
        });
      }
    }
    left.push(solve({ stops, vehicles }, 15_000).solution.unplanned.length);
  }
  expect(left).toEqual([0, 0, 0, 0, 0]);
});

it('sends the only vehicle with a skill across the map', () => {
  // All neighbours of the stop that needs the skill are served by the other vehicle.
  const stops: StopInput[] = Array.from({ length: 90 }, (_, i) => ({
    id: `near${i}`,
    location: { x: i % 10, y: Math.floor(i / 10) },
    vehicles: ['plain'],
  }));
  stops.push(
    { id: 'skill', location: { x: 4, y: 4 }, skills: ['crane'] },
    { id: 'far', location: { x: 900, y: 0 } },
  );
  const output = solve({
    stops,
    vehicles: [
      { id: 'plain', start: { x: 0, y: 0 } },
      {
        id: 'crane',
        start: { x: 1000, y: 0 },
        skills: ['crane'],
        initial_stops: [{ id: 'far', fixed: true }],
      },
    ],
  });
  expect(stopsByVehicle(output).crane).toEqual(['far', 'skill']);
});
