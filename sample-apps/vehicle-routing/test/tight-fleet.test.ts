/** A fleet that is just enough: amounts cut from full vehicles, so that a plan with every stop exists by construction. */
import { expect, it } from 'vitest';
import { Random } from '../src/random.ts';
import { solve } from './run-app.ts';

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
