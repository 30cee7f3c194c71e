/**
 * One tiny input for each thing the app can do. The expectation is the best plan found by trying every plan, and, where
 * the arithmetic is short, the plan itself.
 */
import { describe, expect, it } from 'vitest';
import { depot, depotToDepot, point, solveAndCheckOptimal, unplannedIds } from './feature-inputs.ts';
import type { Input } from './plan-checker.ts';
import { solve, stopsByVehicle } from './run-app.ts';

describe('loads', () => {
  it('keeps within the capacity, in every dimension', () => {
    // Together a and b weigh 9 of 10 but take 5 of 4 in volume: two routes of 20 and 20 instead of one of 22.
    const stops = [
      { id: 'a', location: point(10), deliver: { weight: 5, volume: 2 } },
      { id: 'b', location: point(10, 1), deliver: { weight: 4, volume: 3 } },
    ];
    const capacity = { weight: 10, volume: 4 };
    const vehicles = [
      { id: 'v', ...depotToDepot, capacity },
      { id: 'w', ...depotToDepot, capacity },
    ];
    const output = solveAndCheckOptimal({ stops, vehicles });
    expect(Object.keys(stopsByVehicle(output))).toHaveLength(2);
    const wide = solveAndCheckOptimal({
      stops,
      vehicles: [{ id: 'v', ...depotToDepot, capacity: { weight: 10, volume: 5 } }],
    });
    expect(stopsByVehicle(wide).v).toHaveLength(2);
  });

  it('uses the larger vehicle for the larger load', () => {
    const output = solveAndCheckOptimal({
      stops: [
        { id: 'small', location: point(5), deliver: 3 },
        { id: 'large', location: point(-5), deliver: 8 },
      ],
      vehicles: [
        { id: 'van', ...depotToDepot, capacity: 4 },
        { id: 'truck', ...depotToDepot, capacity: 8 },
      ],
    });
    expect(stopsByVehicle(output)).toEqual({ van: ['small'], truck: ['large'] });
  });

  it('takes goods back in the room that deliveries free', () => {
    // With 10 on board of 10 nothing can be taken in before the delivery, although the pickup is on the way.
    const output = solveAndCheckOptimal({
      stops: [
        { id: 'collect', location: point(5), pickup: 10 },
        { id: 'hand over', location: point(10), deliver: 10 },
      ],
      vehicles: [{ id: 'v', ...depotToDepot, capacity: 10 }],
    });
    expect(stopsByVehicle(output)).toEqual({ v: ['hand over', 'collect'] });
    expect(output.solution.vehicles[0].start_load).toEqual({ load: 10 });
    expect(output.solution.vehicles[0].route.map(({ load }) => load.load)).toEqual([0, 10]);
  });

  it('carries shipments on one vehicle, the pickup first', () => {
    // Each alone would prefer its own side; the goods of p are wanted at d.
    const output = solveAndCheckOptimal({
      stops: [
        { id: 'd', location: point(2) },
        { id: 'p', location: point(8) },
        { id: 'q', location: point(-3) },
        { id: 'e', location: point(-6) },
      ],
      shipments: [
        { pickup: 'p', delivery: 'd', quantity: 4 },
        { pickup: 'q', delivery: 'e', quantity: 5 },
      ],
      vehicles: [
        { id: 'v', ...depotToDepot, capacity: 8 },
        { id: 'w', ...depotToDepot, capacity: 8, activation_cost: 100 },
      ],
    });
    const route = stopsByVehicle(output).v;
    expect(route.indexOf('p')).toBeLessThan(route.indexOf('d'));
    expect(route.indexOf('q')).toBeLessThan(route.indexOf('e'));
    expect(Math.max(...output.solution.vehicles[0].route.map(({ load }) => load.load))).toBe(5);
  });
});

describe('vehicles', () => {
  it('starts and ends each vehicle at its own depot', () => {
    const output = solveAndCheckOptimal({
      stops: [
        { id: 'west', location: point(-9) },
        { id: 'east', location: point(9) },
      ],
      vehicles: [
        { id: 'w', start: point(-10), end: point(-10) },
        { id: 'e', start: point(10), end: point(10) },
      ],
    });
    expect(stopsByVehicle(output)).toEqual({ w: ['west'], e: ['east'] });
    expect(output.statistics.result.value).toBe(4);
  });

  it('leaves routes open where a vehicle has no end, or no start', () => {
    const stops = [
      { id: 'a', location: point(4) },
      { id: 'b', location: point(9) },
    ];
    const open = solveAndCheckOptimal({ stops, vehicles: [{ id: 'v', start: depot }] });
    expect(open.statistics.result.value).toBe(9);
    const inward = solveAndCheckOptimal({ stops, vehicles: [{ id: 'v', end: depot }] });
    expect(stopsByVehicle(inward)).toEqual({ v: ['b', 'a'] });
    const free = solveAndCheckOptimal({ stops, vehicles: [{ id: 'v', start: null, end: null }] });
    expect(free.statistics.result.value).toBe(5);
  });

  it('pays for putting a vehicle on the road', () => {
    const stops = [
      { id: 'west', location: point(-9) },
      { id: 'east', location: point(9) },
    ];
    const at1 = (cost: number) => [
      { id: 'w', start: point(-10), end: point(-10), activation_cost: cost },
      { id: 'e', start: point(10), end: point(10), activation_cost: cost },
    ];
    // One vehicle for both drives 38 instead of 2 + 2: worth it only if a second vehicle costs more than 34.
    expect(solveAndCheckOptimal({ stops, vehicles: at1(33) }).statistics.result.value).toBe(70);
    expect(solveAndCheckOptimal({ stops, vehicles: at1(35) }).statistics.result.value).toBe(73);
  });

  it('weighs distance against duration by their costs', () => {
    // b opens at 100: coming straight from a (reached at 1) means waiting, which costs only where time does.
    const input = (perDuration: number): Input => ({
      stops: [
        { id: 'a', location: point(10), windows: [{ from: 0, to: 20 }] },
        { id: 'b', location: point(10, 1), windows: [{ from: 100, to: 120 }] },
      ],
      vehicles: [
        { id: 'v', ...depotToDepot, speed: 1, cost_per_duration: perDuration },
        { id: 'w', ...depotToDepot, speed: 1, cost_per_duration: perDuration },
      ],
    });
    expect(Object.keys(stopsByVehicle(solveAndCheckOptimal(input(0))))).toHaveLength(1);
    expect(Object.keys(stopsByVehicle(solveAndCheckOptimal(input(1))))).toHaveLength(2);
  });

  it('prefers the vehicle with the lower cost per distance', () => {
    const output = solveAndCheckOptimal({
      stops: [{ id: 'a', location: point(10) }],
      vehicles: [
        { id: 'dear', ...depotToDepot, cost_per_distance: 2 },
        { id: 'cheap', ...depotToDepot, cost_per_distance: 0.5, activation_cost: 5 },
      ],
    });
    expect(stopsByVehicle(output)).toEqual({ cheap: ['a'] });
    expect(output.statistics.result.value).toBe(15);
  });

  it('keeps the longest duration, the longest distance and the most stops of a vehicle', () => {
    const stops = [1, 2, 3].map((i) => ({ id: `s${i}`, location: point(10 * i), service_duration: 5 }));
    const one = (limits: object): Input => ({
      stops,
      vehicles: [{ id: 'v', ...depotToDepot, speed: 1, ...limits }],
    });
    // All three: 60 of road and 15 of service.
    expect(unplannedIds(solveAndCheckOptimal(one({ max_duration: 75 })))).toEqual([]);
    expect(unplannedIds(solveAndCheckOptimal(one({ max_duration: 74 })))).toEqual(['s3']);
    expect(unplannedIds(solveAndCheckOptimal(one({ max_distance: 60 })))).toEqual([]);
    expect(unplannedIds(solveAndCheckOptimal(one({ max_distance: 59 })))).toEqual(['s3']);
    expect(unplannedIds(solveAndCheckOptimal(one({ max_stops: 3 })))).toEqual([]);
    expect(unplannedIds(solveAndCheckOptimal(one({ max_stops: 2 })))).toEqual(['s3']);
  });

  it('counts waiting on the road, and the way of a shipment, towards the longest duration', () => {
    // After a, open until 5, the vehicle would wait for b, open from 100: at least 95 seconds between the two.
    const waiting = (longest: number): Input => ({
      stops: [
        { id: 'a', location: point(1), windows: [{ from: 0, to: 5 }] },
        { id: 'b', location: point(1), windows: [{ from: 100, to: 110 }], priority: 7 },
      ],
      vehicles: [{ id: 'v', ...depotToDepot, speed: 1, max_duration: longest }],
    });
    expect(unplannedIds(solveAndCheckOptimal(waiting(96)))).toEqual(['b']);
    expect(unplannedIds(solveAndCheckOptimal(waiting(97)))).toEqual([]);
    // Out to 10, back to 5, home: 20.
    const shipped = (longest: number): Input => ({
      stops: [
        { id: 'p', location: point(10) },
        { id: 'd', location: point(5) },
      ],
      shipments: [{ pickup: 'p', delivery: 'd', quantity: 1 }],
      vehicles: [{ id: 'v', ...depotToDepot, speed: 1, max_duration: longest }],
    });
    expect(unplannedIds(solveAndCheckOptimal(shipped(19)))).toEqual(['p', 'd']);
    expect(unplannedIds(solveAndCheckOptimal(shipped(20)))).toEqual([]);
  });

  it('sends only vehicles with the skills, and only those that are listed', () => {
    const vehicles = [
      { id: 'plain', ...depotToDepot },
      { id: 'crane', ...depotToDepot, skills: ['crane', 'cooling'], activation_cost: 50 },
      { id: 'cool', ...depotToDepot, skills: ['cooling'], activation_cost: 20 },
    ];
    const skilled = solveAndCheckOptimal({
      stops: [
        { id: 'a', location: point(1) },
        { id: 'b', location: point(2), skills: ['crane'] },
      ],
      vehicles,
    });
    expect(stopsByVehicle(skilled)).toEqual({ crane: expect.arrayContaining(['b']) });
    const listed = solveAndCheckOptimal({
      stops: [{ id: 'a', location: point(1), vehicles: ['crane', 'cool'] }],
      vehicles,
    });
    expect(stopsByVehicle(listed)).toEqual({ cool: ['a'] });
  });
});

describe('time', () => {
  it('keeps time windows, and waits where it is early', () => {
    const output = solveAndCheckOptimal({
      stops: [
        { id: 'near', location: point(10), windows: [{ from: 50, to: 60 }] },
        { id: 'far', location: point(20), windows: [{ from: 0, to: 25 }] },
      ],
      vehicles: [{ id: 'v', ...depotToDepot, speed: 1 }],
    });
    const [vehicle] = output.solution.vehicles;
    expect(vehicle.route.map(({ stop, arrival, start }) => [stop, arrival, start])).toEqual([
      ['far', 25, 25],
      ['near', 35, 50],
    ]);
    // Leaving at 5 instead of 0 finishes just as early and saves five seconds of waiting.
    expect([vehicle.departure, vehicle.finish, vehicle.waiting_duration]).toEqual([5, 60, 15]);
  });

  it('places a stop in one of its windows', () => {
    const windows = [
      { from: 0, to: 5 },
      { from: 30, to: 40 },
      { from: 100, to: 200 },
    ];
    const output = solveAndCheckOptimal({
      stops: [
        { id: 'a', location: point(10), windows },
        { id: 'b', location: point(10, 10), windows: [{ from: 20, to: 20 }] },
      ],
      vehicles: [{ id: 'v', ...depotToDepot, speed: 1, cost_per_duration: 1 }],
    });
    expect(output.solution.vehicles[0].route.map(({ stop, start }) => [stop, start])).toEqual([
      ['b', 20],
      ['a', 30],
    ]);
  });

  it('counts service and keeps the shift', () => {
    const stops = [
      { id: 'a', location: point(10), service_duration: 30 },
      { id: 'b', location: point(20), service_duration: 7 },
    ];
    const one = (to: number): Input => ({
      stops,
      vehicles: [{ id: 'v', ...depotToDepot, speed: 2, shift: { from: 100, to } }],
    });
    // 40 of road at 2 a second and 37 of service.
    const whole = solveAndCheckOptimal(one(157));
    expect([whole.solution.vehicles[0].departure, whole.solution.vehicles[0].finish]).toEqual([100, 157]);
    expect(unplannedIds(solveAndCheckOptimal(one(156)))).toHaveLength(1);
  });

  it('reads timestamps and writes them with the same offset', () => {
    const output = solve({
      stops: [
        {
          id: 'a',
          location: point(600),
          windows: [{ from: '2026-05-04T09:00:00+02:00', to: '2026-05-04T10:00:00+02:00' }],
        },
      ],
      vehicles: [
        {
          id: 'v',
          ...depotToDepot,
          speed: 1,
          shift: { from: '2026-05-04T06:00:00Z', to: '2026-05-04T18:00:00Z' },
        },
      ],
    });
    const [vehicle] = output.solution.vehicles;
    expect(vehicle.departure).toBe('2026-05-04T08:50:00+02:00');
    expect(vehicle.route[0].start).toBe('2026-05-04T09:00:00+02:00');
    expect(vehicle.finish).toBe('2026-05-04T09:10:00+02:00');
  });
});
