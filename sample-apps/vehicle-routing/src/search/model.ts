/**
 * The problem as flat arrays, built once and never changed. A *visit* is a point of a route: visit `i` below
 * `stopCount` is stop `i`; vehicle `v` starts at visit `stopCount + 2v` and ends at `stopCount + 2v + 1`. Matrices are
 * square over the places plus one row of zeros, "nowhere", where open routes start or end. Each matrix also exists
 * transposed, so that evaluating one stop against a whole route reads two short rows and not a column.
 */

import type { Problem } from '../input/problem.ts';
import { findNearestStops, findRelatedStops } from './neighbours.ts';

export type Model = {
  problem: Problem;
  stopCount: number;
  vehicleCount: number;
  dimensions: number;
  /** Side of the matrices. */
  size: number;
  /** Visit to matrix row. */
  place: Int32Array;
  distance: Float64Array;
  distanceTo: Float64Array;
  /** Per vehicle, its duration matrix and the transposed one; vehicles of equal speed share them. */
  duration: Float64Array[];
  durationTo: Float64Array[];
  /** Visit to service duration; 0 at both ends of a route. */
  service: Float64Array;
  /** Windows of stop `i` are `windowFirst[i]` up to but not including `windowFirst[i + 1]`. */
  windowFirst: Int32Array;
  windowFrom: Float64Array;
  windowTo: Float64Array;
  /** Stop-major amounts: loaded at the start and handed over; net change of the load at the stop; taken in at the stop. */
  deliver: Float64Array;
  change: Float64Array;
  pickedUp: Float64Array;
  /** True when the load of some vehicle can rise on the way, so that the sum of deliveries does not say enough. */
  hasMixedLoads: boolean;
  /** The other stop of the shipment, or -1. */
  partner: Int32Array;
  /** 1 for the stop of a shipment where the goods are handed over. */
  isDelivery: Uint8Array;
  /** `allowed[stop * vehicleCount + vehicle]` is 1 where skills, vehicle lists and a fixed place permit it. */
  allowed: Uint8Array;
  /** Cost of leaving the stop out; a shipment's weight is the sum over its two stops. */
  penalty: Float64Array;
  mandatory: Uint8Array;
  /** Cost of leaving out one mandatory stop of the default priority: more than any plan of this input. */
  mandatoryPenalty: number;
  /** 1 for stops that must stay where the input put them. */
  fixed: Uint8Array;
  shiftFrom: Float64Array;
  shiftTo: Float64Array;
  /** Vehicle-major. */
  capacity: Float64Array;
  maxStops: Float64Array;
  maxDistance: Float64Array;
  maxDuration: Float64Array;
  activation: Float64Array;
  perDistance: Float64Array;
  perDuration: Float64Array;
  /** 1 for vehicles whose duration costs something or is limited, so that it has to be known for every insertion. */
  timed: Uint8Array;
  /** Vehicles that are equal in everything have the same class; classes count from 0. */
  vehicleClasses: Int32Array;
  classCount: number;
  /** `near[stop * nearCount + k]`: the other stops, nearest first. */
  near: Int32Array;
  nearCount: number;
  /** `related[stop * relatedCount + k]`: the stops most likely to be its neighbours on a route, by distance and time. */
  related: Int32Array;
  relatedCount: number;
};

/** Builds the arrays of a problem that the input has been read into. */
export function buildModel(problem: Problem): Model {
  const { stops, vehicles } = problem;
  const { size, place, distance, distanceTo, durations } = buildMatrices(problem);
  const { deliver, change, pickedUp, hasMixedLoads, partner, isDelivery } = buildAmounts(problem);
  const { windowFirst, spans, service, fixed } = buildStops(problem);
  const mandatoryPenalty = boundPlanCost(problem);
  const allowed = findPermissions(problem);
  const { vehicleClasses, classCount } = classify(problem, allowed);
  const { near, nearCount } = findNearestStops(problem, distance, distanceTo, size);
  const { kin, kinCount } = findRelatedStops(problem, distance, durations[0].from, size);
  return {
    problem,
    stopCount: stops.length,
    vehicleCount: vehicles.length,
    dimensions: problem.dimensions.length,
    size,
    place,
    distance,
    distanceTo,
    duration: durations.map(({ from }) => from),
    durationTo: durations.map(({ to }) => to),
    service,
    windowFirst,
    windowFrom: Float64Array.from(spans, (span) => span.from),
    windowTo: Float64Array.from(spans, (span) => span.to),
    deliver,
    change,
    pickedUp,
    hasMixedLoads,
    partner,
    isDelivery,
    allowed,
    penalty: Float64Array.from(
      stops,
      (stop) => (stop.unplannedPenalty ?? mandatoryPenalty) * 2 ** (6 - stop.priority),
    ),
    mandatory: Uint8Array.from(stops, (stop) => (stop.unplannedPenalty === null ? 1 : 0)),
    mandatoryPenalty,
    fixed,
    shiftFrom: Float64Array.from(vehicles, (vehicle) => vehicle.shift.from),
    shiftTo: Float64Array.from(vehicles, (vehicle) => vehicle.shift.to),
    capacity: Float64Array.from(vehicles.flatMap((vehicle) => vehicle.capacity)),
    maxStops: Float64Array.from(vehicles, (vehicle) => vehicle.maxStops),
    maxDistance: Float64Array.from(vehicles, (vehicle) => vehicle.maxDistance),
    maxDuration: Float64Array.from(vehicles, (vehicle) => vehicle.maxDuration),
    activation: Float64Array.from(vehicles, (vehicle) => vehicle.activationCost),
    perDistance: Float64Array.from(vehicles, (vehicle) => vehicle.costPerDistance),
    perDuration: Float64Array.from(vehicles, (vehicle) => vehicle.costPerDuration),
    timed: Uint8Array.from(vehicles, ({ costPerDuration, maxDuration }) =>
      costPerDuration > 0 || maxDuration < Infinity ? 1 : 0,
    ),
    vehicleClasses,
    classCount,
    near,
    nearCount,
    related: kin,
    relatedCount: kinCount,
  };
}

type Matrices = Pick<Model, 'size' | 'place' | 'distance' | 'distanceTo'> & {
  durations: { from: Float64Array; to: Float64Array }[];
};

function buildMatrices(problem: Problem): Matrices {
  const { stops, vehicles } = problem;
  const sides = problem.places.length;
  const size = sides + 1;
  const place = new Int32Array(stops.length + 2 * vehicles.length);
  stops.forEach((stop, i) => {
    place[i] = stop.place;
  });
  vehicles.forEach((vehicle, v) => {
    place[stops.length + 2 * v] = vehicle.start < 0 ? sides : vehicle.start;
    place[stops.length + 2 * v + 1] = vehicle.end < 0 ? sides : vehicle.end;
  });
  const distance = addNowhere(problem.distance, sides);
  const distanceTo = transpose(distance, size);
  const perSpeed = new Map<number, { from: Float64Array; to: Float64Array }>();
  const durations = vehicles.map(({ speed }) => {
    const key = problem.duration ? 0 : speed;
    let pair = perSpeed.get(key);
    if (!pair) {
      if (!problem.duration && speed === 1) pair = { from: distance, to: distanceTo };
      else {
        const from = problem.duration
          ? addNowhere(problem.duration, sides)
          : distance.map((value) => value / speed);
        pair = { from, to: transpose(from, size) };
      }
      perSpeed.set(key, pair);
    }
    return pair;
  });
  return { size, place, distance, distanceTo, durations };
}

type Amounts = Pick<Model, 'deliver' | 'change' | 'pickedUp' | 'hasMixedLoads' | 'partner' | 'isDelivery'>;

function buildAmounts({ stops, shipments, dimensions }: Problem): Amounts {
  const dims = dimensions.length;
  const deliver = new Float64Array(stops.length * dims);
  const pickedUp = new Float64Array(stops.length * dims);
  const change = new Float64Array(stops.length * dims);
  const partner = new Int32Array(stops.length).fill(-1);
  const isDelivery = new Uint8Array(stops.length);
  let hasMixedLoads = shipments.length > 0;
  stops.forEach((stop, i) => {
    for (let k = 0; k < dims; k++) {
      deliver[i * dims + k] = stop.deliver[k];
      pickedUp[i * dims + k] = stop.pickup[k];
      change[i * dims + k] = stop.pickup[k] - stop.deliver[k];
      if (stop.pickup[k] > 0) hasMixedLoads = true;
    }
  });
  for (const shipment of shipments) {
    partner[shipment.pickup] = shipment.delivery;
    partner[shipment.delivery] = shipment.pickup;
    isDelivery[shipment.delivery] = 1;
    for (let k = 0; k < dims; k++) {
      pickedUp[shipment.pickup * dims + k] = shipment.quantity[k];
      change[shipment.pickup * dims + k] = shipment.quantity[k];
      change[shipment.delivery * dims + k] = -shipment.quantity[k];
    }
  }
  return { deliver, change, pickedUp, hasMixedLoads, partner, isDelivery };
}

type Stops = Pick<Model, 'windowFirst' | 'service' | 'fixed'> & { spans: { from: number; to: number }[] };

function buildStops({ stops, vehicles }: Problem): Stops {
  const windowFirst = new Int32Array(stops.length + 1);
  const spans = stops.flatMap((stop, i) => {
    windowFirst[i + 1] = windowFirst[i] + stop.windows.length;
    return stop.windows;
  });
  const service = new Float64Array(stops.length + 2 * vehicles.length);
  const fixed = new Uint8Array(stops.length);
  stops.forEach((stop, i) => {
    service[i] = stop.serviceDuration;
  });
  for (const vehicle of vehicles)
    for (const item of vehicle.initialStops) if (item.fixed) fixed[item.stop] = 1;
  return { windowFirst, spans, service, fixed };
}

/** Finds the vehicles that may serve each stop. The two stops of a shipment share the vehicles that both allow. */
function findPermissions({ stops, vehicles, shipments }: Problem): Uint8Array {
  const count = vehicles.length;
  const allowed = new Uint8Array(stops.length * count);
  const fixedTo = new Map<number, number>();
  vehicles.forEach((vehicle, v) => {
    for (const item of vehicle.initialStops) if (item.fixed) fixedTo.set(item.stop, v);
  });
  stops.forEach((stop, i) => {
    const only = fixedTo.get(i);
    vehicles.forEach((vehicle, v) => {
      const skilled = stop.skills.every((skill) => vehicle.skills.includes(skill));
      const listed = stop.vehicles === null || stop.vehicles.includes(vehicle.id);
      const isAllowed = only === undefined || only === v;
      allowed[i * count + v] = skilled && listed && isAllowed ? 1 : 0;
    });
  });
  for (const { pickup, delivery } of shipments) {
    for (let v = 0; v < count; v++) {
      const both = allowed[pickup * count + v] & allowed[delivery * count + v];
      allowed[pickup * count + v] = both;
      allowed[delivery * count + v] = both;
    }
  }
  return allowed;
}

/**
 * Returns a power of ten above the cost of every plan, so that the search never leaves a mandatory stop out to save on
 * the road. Bounds each leg by the longest leg, and the waiting of each vehicle by the span of all finite times.
 */
function boundPlanCost({ stops, vehicles, distance, duration }: Problem): number {
  const finite = (value: number) => Number.isFinite(value);
  const times = [...stops.flatMap((stop) => stop.windows), ...vehicles.map((vehicle) => vehicle.shift)]
    .flatMap(({ from, to }) => [from, to])
    .filter(finite);
  const span =
    times.length > 0 ? largest(times) - times.reduce((least, time) => Math.min(least, time), Infinity) : 0;
  const legs = stops.length + 2 * vehicles.length;
  const slowest = vehicles.reduce((least, { speed }) => Math.min(least, speed), Infinity);
  const longest = duration ? largest(duration) : largest(distance) / slowest;
  const service = stops.reduce((sum, stop) => sum + stop.serviceDuration, 0);
  const road = legs * largest(distance) * largest(vehicles.map((vehicle) => vehicle.costPerDistance));
  const time =
    (legs * longest + service + span * vehicles.length) *
    largest(vehicles.map((vehicle) => vehicle.costPerDuration));
  const fixed = vehicles.reduce((sum, vehicle) => sum + vehicle.activationCost, 0);
  const optional = stops.reduce(
    (sum, stop) => sum + (stop.unplannedPenalty ?? 0) * 2 ** (6 - stop.priority),
    0,
  );
  // The lowest priority weighs an eighth, so eight times the bound keeps it above as well.
  return 10 ** Math.max(6, Math.ceil(Math.log10(8 * (road + time + fixed + optional) + 1)));
}

function largest(values: Iterable<number>): number {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
}

function classify(
  { stops, vehicles }: Problem,
  allowed: Uint8Array,
): { vehicleClasses: Int32Array; classCount: number } {
  const numbers = new Map<string, number>();
  const vehicleClasses = Int32Array.from(vehicles, ({ id, ...rest }, v) => {
    const serves = stops.map((_, i) => allowed[i * vehicles.length + v]).join('');
    const limits = JSON.stringify(rest, (_, value) => (value === Infinity ? 'no limit' : value));
    const key = rest.initialStops.length > 0 ? `own ${id}` : `${limits} ${serves}`;
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return known;
  });
  return { vehicleClasses, classCount: numbers.size };
}

/** Copies the matrix with one more row and column of zeros. */
function addNowhere(matrix: Float64Array, side: number): Float64Array {
  const size = side + 1;
  const wider = new Float64Array(size * size);
  for (let i = 0; i < side; i++) wider.set(matrix.subarray(i * side, (i + 1) * side), i * size);
  return wider;
}

/** Returns the transposed matrix; the matrix itself when it is symmetric, which saves memory and cache. */
function transpose(matrix: Float64Array, size: number): Float64Array {
  const turned = new Float64Array(size * size);
  let symmetric = true;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      const value = matrix[i * size + j];
      turned[j * size + i] = value;
      if (symmetric && value !== matrix[j * size + i]) symmetric = false;
    }
  }
  return symmetric ? matrix : turned;
}

/** Returns the least penalty of a mandatory stop. The value of a plan below it leaves none out; Infinity without one. */
export function findMandatoryPenalty({ penalty, mandatory }: Model): number {
  return penalty.reduce(
    (lowest, one, stop) => (mandatory[stop] === 1 ? Math.min(lowest, one) : lowest),
    Number.POSITIVE_INFINITY,
  );
}
