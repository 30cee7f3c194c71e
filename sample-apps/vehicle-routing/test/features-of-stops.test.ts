/** The features of features.test.ts, for stops: those that stay out, where they lie, and those that are planned already. */
import { describe, expect, it } from 'vitest';
import { depotToDepot, point, solveAndCheckOptimal, unplannedIds } from './feature-inputs.ts';
import type { Input } from './plan-checker.ts';
import { solve, stopsByVehicle } from './run-app.ts';

describe('stops that stay out', () => {
  it('leaves an optional stop out where serving it costs more than its penalty', () => {
    const input = (penalty: number): Input => ({
      stops: [{ id: 'a', location: point(10), unplanned_penalty: penalty }],
      vehicles: [{ id: 'v', ...depotToDepot }],
    });
    const out = solveAndCheckOptimal(input(19));
    expect(out.solution.unplanned).toEqual([
      {
        id: 'a',
        mandatory: false,
        penalty: 19,
        reason: 'Serving it would cost as much as its penalty, or more.',
      },
    ]);
    expect(out.statistics.result.value).toBe(19);
    expect(unplannedIds(solveAndCheckOptimal(input(21)))).toEqual([]);
  });

  it('serves optional stops that pay only together', () => {
    // The trip costs 30 + 200; one stop is worth 150, two are worth 300.
    const output = solveAndCheckOptimal({
      stops: [
        { id: 'a', location: point(100), unplanned_penalty: 150 },
        { id: 'b', location: point(100), unplanned_penalty: 150 },
      ],
      vehicles: [{ id: 'v', ...depotToDepot, activation_cost: 30 }],
    });
    expect(output.statistics.result.value).toBe(230);
  });

  it('never leaves a mandatory stop out to save on the road', () => {
    const output = solveAndCheckOptimal({
      stops: [
        { id: 'far', location: point(1e6) },
        { id: 'near', location: point(1), unplanned_penalty: 1e6 },
      ],
      vehicles: [{ id: 'v', ...depotToDepot, max_stops: 1, cost_per_distance: 1000 }],
    });
    expect(unplannedIds(output)).toEqual(['near']);
  });

  it('leaves out the less important stop, each step of priority weighing twice the next', () => {
    const stops = (...priorities: number[]) =>
      priorities.map((priority, i) => ({ id: `p${priority}-${i}`, location: point(i + 1), priority }));
    const one = { id: 'v', ...depotToDepot, capacity: 2 };
    const heavy = { deliver: 2 };
    const light = { deliver: 1 };
    const [a, b] = stops(4, 5);
    expect(
      unplannedIds(
        solveAndCheckOptimal({
          stops: [
            { ...a, ...heavy },
            { ...b, ...heavy },
          ],
          vehicles: [one],
        }),
      ),
    ).toEqual(['p5-1']);
    // Three of priority 5 would outweigh one of priority 4, but only two fit: equal weight, so the road decides.
    const [c, d, e] = stops(4, 5, 5);
    const even = solveAndCheckOptimal({
      stops: [
        { ...c, ...heavy },
        { ...d, ...light },
        { ...e, ...light },
      ],
      vehicles: [one],
    });
    expect(stopsByVehicle(even).v).toEqual(['p4-0']);
    const [f, g, h] = stops(5, 5, 5);
    const more = solveAndCheckOptimal({
      stops: [
        { ...f, ...heavy },
        { ...g, ...light },
        { ...h, ...light },
      ],
      vehicles: [one],
    });
    expect(unplannedIds(more)).toEqual(['p5-0']);
  });

  it('says why a stop is out', () => {
    const output = solve({
      stops: [
        { id: 'skill', location: point(1), skills: ['diving'] },
        { id: 'large', location: point(1), deliver: 99 },
        { id: 'late', location: point(100), windows: [{ from: 0, to: 10 }] },
        { id: 'beside', location: point(1), deliver: 10, priority: 7 },
        { id: 'served', location: point(1), deliver: 10 },
      ],
      vehicles: [{ id: 'v', ...depotToDepot, capacity: 10, speed: 1 }],
    });
    expect(Object.fromEntries(output.solution.unplanned.map(({ id, reason }) => [id, reason]))).toEqual({
      skill: 'No vehicle has the skill "diving".',
      large: 'Its amounts are larger than the capacity of every vehicle that may serve it.',
      late: "Even alone on a route, no vehicle that may serve it can do so within its windows and the vehicle's shift and limits.",
      beside: 'No vehicle has room for it beside the stops that are planned.',
    });
  });
});

describe('distances', () => {
  it('uses one-way matrices of distance and duration', () => {
    // Round one way costs 3, the other way 30; the short way takes long, which matters once time costs.
    const input = (perDuration: number): Input => ({
      locations: [{ id: 'depot' }, { id: 'A' }, { id: 'B' }],
      distance_matrix: [
        [0, 1, 10],
        [10, 0, 1],
        [1, 10, 0],
      ],
      duration_matrix: [
        [0, 50, 2],
        [2, 0, 50],
        [50, 2, 0],
      ],
      stops: [
        { id: 'a', location: 'A' },
        { id: 'b', location: 'B' },
      ],
      vehicles: [{ id: 'v', start: 'depot', end: 'depot', cost_per_duration: perDuration }],
    });
    const short = solveAndCheckOptimal(input(0));
    expect(stopsByVehicle(short)).toEqual({ v: ['a', 'b'] });
    expect(short.statistics.result.value).toBe(3);
    const quick = solveAndCheckOptimal(input(1));
    expect(stopsByVehicle(quick)).toEqual({ v: ['b', 'a'] });
    expect(quick.statistics.result.value).toBe(36);
  });

  it('measures along the surface of the earth for lon and lat, and times by the speed', () => {
    const output = solve({
      stops: [{ id: 'a', location: { lon: 1, lat: 0 } }],
      vehicles: [{ id: 'v', start: { lon: 0, lat: 0 }, speed: 20 }],
    });
    // One degree of the equator: 6,371,008.8 m times pi / 180.
    expect(output.solution.vehicles[0].distance).toBeCloseTo(111_195.08, 1);
    expect(output.solution.vehicles[0].duration).toBeCloseTo(111_195.08 / 20, 1);
  });
});

describe('initial stops', () => {
  const stops = [1, 2, 3].map((i) => ({ id: `s${i}`, location: point(10 * i, i) }));

  it('keeps fixed stops on their vehicle and in their order', () => {
    const output = solveAndCheckOptimal({
      stops,
      vehicles: [
        {
          id: 'v',
          ...depotToDepot,
          initial_stops: [
            { id: 's3', fixed: true },
            { id: 's1', fixed: true },
          ],
        },
        { id: 'w', ...depotToDepot },
      ],
    });
    expect(stopsByVehicle(output).v.filter((id) => id !== 's2')).toEqual(['s3', 's1']);
  });

  it('starts from the given routes', () => {
    const input: Input = {
      stops,
      vehicles: [{ id: 'v', ...depotToDepot, initial_stops: ['s2', 's1', 's3'] }],
    };
    // No iteration is as good as none: the plan is the one that came in.
    const output = solve(input, 1, ['-temperature.start', '0.000000001', '-removed.average', '1']);
    const first = output.statistics.series_data.value.data_points[0].y;
    const leg = (a: number, b: number) => Math.hypot(10 * (a - b), a - b);
    expect(first).toBeCloseTo(leg(0, 2) + leg(2, 1) + leg(1, 3) + leg(3, 0), 4);
  });

  it('plans anew what no longer fits', () => {
    const output = solveAndCheckOptimal({
      stops: stops.map((stop) => ({ ...stop, deliver: 1 })),
      vehicles: [
        { id: 'v', ...depotToDepot, capacity: 2, initial_stops: ['s1', 's2', 's3'] },
        { id: 'w', ...depotToDepot, capacity: 2 },
      ],
    });
    expect(unplannedIds(output)).toEqual([]);
  });
});
