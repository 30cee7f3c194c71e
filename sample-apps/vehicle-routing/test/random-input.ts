/** Random inputs that mix all features, from a seed, so that a failure can be met again. */
import { Random } from '../src/search/random.ts';
import type { Input, StopInput, VehicleInput } from './plan-checker.ts';

/** An input with the given number of stops and vehicles; some features are drawn for the whole input, some for a stop. */
export function randomInput(seed: number, stopCount: number, vehicleCount: number): Input {
  const random = new Random(seed);
  const chance = (share: number) => random.unit() < share;
  const from = (low: number, high: number) => low + random.below(high - low + 1);
  const names = ['weight', 'volume'].slice(0, from(0, 2));
  const amounts = (most: number) => Object.fromEntries(names.map((name) => [name, from(0, most)]));
  const timed = chance(0.7);
  const span = 100 + 40 * Math.ceil(stopCount / vehicleCount);
  const collecting = chance(0.4);
  const input: Input = { stops: [], vehicles: [] };
  const place = locator(random, input, stopCount + 3);
  const depots = [place(), place(), place()];

  for (let i = 0; i < stopCount; i++) {
    const stop: StopInput = { id: `s${i}`, location: place() };
    if (timed && chance(0.6)) stop.windows = windows(from, span, chance(0.3) ? 2 : 1);
    if (chance(0.5)) stop.service_duration = from(0, 10);
    if (names.length > 0) {
      if (collecting && chance(0.5)) stop.pickup = amounts(5);
      if (!stop.pickup || chance(0.3)) stop.deliver = amounts(5);
    }
    if (chance(0.15)) stop.skills = ['lift'];
    if (chance(0.3)) stop.unplanned_penalty = from(0, 150);
    if (chance(0.2)) stop.priority = from(5, 7);
    if (chance(0.1)) stop.vehicles = ['v0'];
    input.stops.push(stop);
  }
  if (chance(0.4)) input.shipments = shipments(input.stops, Math.ceil(stopCount / 6), () => amounts(6));
  for (let v = 0; v < vehicleCount; v++) {
    const vehicle: VehicleInput = { id: `v${v}`, speed: from(1, 3) };
    if (chance(0.85)) vehicle.start = depots[random.below(3)];
    if (chance(0.85)) vehicle.end = depots[random.below(3)];
    if (timed) vehicle.shift = { from: from(0, 20), to: span + from(0, 60) };
    vehicle.capacity = Object.fromEntries(
      names.map((name) => [name, Math.ceil((4 * stopCount) / vehicleCount) + from(0, 6)]),
    );
    if (v === 0 || chance(0.6)) vehicle.skills = ['lift'];
    if (chance(0.3)) vehicle.activation_cost = from(0, 100);
    if (chance(0.3)) vehicle.cost_per_duration = from(1, 2);
    if (chance(0.2)) vehicle.cost_per_distance = from(0, 3);
    if (chance(0.2)) vehicle.max_stops = Math.ceil(stopCount / vehicleCount) + from(0, 2);
    if (chance(0.2)) vehicle.max_distance = 60 + 30 * Math.ceil(stopCount / vehicleCount);
    if (timed && chance(0.3)) vehicle.max_duration = span - from(0, 60);
    if (chance(0.2)) vehicle.initial_stops = [`s${v}`];
    input.vehicles.push(vehicle);
  }
  return input;
}

/** Gives places of the input: coordinates, or rows of matrices without symmetry or triangle inequality. */
function locator(random: Random, input: Input, count: number): () => { x: number; y: number } | string {
  if (random.unit() < 0.65) return () => ({ x: random.below(50), y: random.below(50) });
  const matrix = () =>
    Array.from({ length: count }, (_, i) =>
      Array.from({ length: count }, (_, j) => (i === j ? 0 : 1 + random.below(60))),
    );
  input.locations = Array.from({ length: count }, (_, i) => ({ id: `p${i}` }));
  input.distance_matrix = matrix();
  if (random.unit() < 0.7) input.duration_matrix = matrix();
  let next = 0;
  return () => `p${next++}`;
}

function windows(from: (low: number, high: number) => number, span: number, count: number) {
  const first = from(0, span / 2);
  const list = [{ from: first, to: first + from(5, 40) }];
  if (count > 1) {
    const second = list[0].to + from(1, 30);
    list.push({ from: second, to: second + from(5, 40) });
  }
  return list;
}

function shipments(stops: StopInput[], count: number, quantity: () => Record<string, number>) {
  return Array.from({ length: count }, (_, i) => {
    const [pickup, delivery] = [stops[2 * i], stops[2 * i + 1]];
    for (const stop of [pickup, delivery]) {
      delete stop.deliver;
      delete stop.pickup;
      delete stop.priority;
      delete stop.unplanned_penalty;
    }
    return { pickup: pickup.id, delivery: delivery.id, quantity: quantity() };
  });
}
