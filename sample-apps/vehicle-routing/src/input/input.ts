/**
 * Reads the input: from JSON text to a `Problem`, or an `InputError` with one sentence. Everything the search relies
 * on is settled here: ids are unique, references exist, windows are in order, amounts have the same dimensions.
 */

import {
  InputError,
  isObject,
  type JsonObject,
  quoteValue,
  readArray,
  readInteger,
  readNumber,
  readObject,
  readString,
  readStrings,
  rejectValue,
} from './fields.ts';
import { Places } from './places.ts';
import type { Problem, Shipment, Stop, Vehicle, Window } from './problem.ts';
import { Clock } from './times.ts';

const rootFields = [
  'stops',
  'vehicles',
  'shipments',
  'locations',
  'distance_matrix',
  'duration_matrix',
  'defaults',
];
const stopFields = [
  'id',
  'location',
  'windows',
  'service_duration',
  'deliver',
  'pickup',
  'skills',
  'vehicles',
  'unplanned_penalty',
  'priority',
];
const vehicleFields = [
  'id',
  'start',
  'end',
  'shift',
  'capacity',
  'speed',
  'skills',
  'max_stops',
  'max_distance',
  'max_duration',
  'activation_cost',
  'cost_per_distance',
  'cost_per_duration',
  'initial_stops',
];
const shipmentFields = ['pickup', 'delivery', 'quantity'];

/** Parses and checks the text of an input. */
export function parseInput(text: string): Problem {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InputError(`The input is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  return readProblem(value);
}

/** Checks an input that is already parsed. */
function readProblem(value: unknown): Problem {
  if (!isObject(value))
    throw new InputError(
      `The input is ${quoteValue(value)}; it must be an object with "stops" and "vehicles".`,
    );
  for (const name of ['stops', 'vehicles']) {
    if (value[name] === undefined)
      throw new InputError(`${name} is missing; the input must be an object with "stops" and "vehicles".`);
  }
  const root = readObject(value, 'input', rootFields);
  const clock = new Clock();
  const places = new Places();
  if (root.locations !== undefined) places.readNamed(root.locations);
  const defaults = readObject(root.defaults ?? {}, 'defaults', ['stops', 'vehicles']);
  const dimensions = new Dimensions();
  const rawStops = withDefaults(root.stops, 'stops', defaults.stops, stopFields);
  const rawVehicles = withDefaults(root.vehicles, 'vehicles', defaults.vehicles, vehicleFields);
  const stops = rawStops.map((fields, i) => readStop(fields, `stops[${i}]`, { clock, places, dimensions }));
  const stopIndex = indexById(stops, 'stops');
  const vehicles = rawVehicles.map((fields, i) =>
    readVehicle(fields, `vehicles[${i}]`, { clock, places, dimensions, stopIndex }),
  );
  if (vehicles.length === 0) rejectValue('vehicles', root.vehicles, 'an array with at least one vehicle');
  const vehicleIndex = indexById(vehicles, 'vehicles');
  stops.forEach((stop, i) => {
    stop.vehicles?.forEach((id, j) => {
      if (!vehicleIndex.has(id)) rejectValue(`stops[${i}].vehicles[${j}]`, id, 'the id of a vehicle');
    });
  });
  const shipments = readArray(root.shipments ?? [], 'shipments').map((entry, i) =>
    readShipment(entry, `shipments[${i}]`, { dimensions, stopIndex }),
  );
  checkShipments(shipments, stops);
  checkInitialStops(vehicles, stops, shipments);
  const width = dimensions.names.length;
  for (const stop of stops) {
    stop.deliver = padded(stop.deliver, width, 0);
    stop.pickup = padded(stop.pickup, width, 0);
  }
  for (const vehicle of vehicles) {
    vehicle.capacity = padded(vehicle.capacity, width, Infinity);
    if (vehicle.shift.from === -Infinity) vehicle.shift.from = clock.defaultShiftStart();
  }
  for (const shipment of shipments) shipment.quantity = padded(shipment.quantity, width, 0);
  const distance = places.readMatrix(root.distance_matrix, 'distance_matrix');
  const duration = places.readMatrix(root.duration_matrix, 'duration_matrix');
  return {
    dimensions: dimensions.names,
    stops,
    vehicles,
    shipments,
    places: places.coordinates,
    distance: distance ?? places.measureDistances(),
    duration,
    clock: clock.outputFormat(),
  };
}

type Context = { clock: Clock; places: Places; dimensions: Dimensions };

function readStop(fields: JsonObject, path: string, { clock, places, dimensions }: Context): Stop {
  return {
    id: readString(fields.id, `${path}.id`),
    place: places.read(fields.location, `${path}.location`),
    windows: readWindows(fields.windows, `${path}.windows`, clock),
    serviceDuration: readNumber(fields.service_duration ?? 0, `${path}.service_duration`, 0),
    deliver: dimensions.read(fields.deliver ?? {}, `${path}.deliver`),
    pickup: dimensions.read(fields.pickup ?? {}, `${path}.pickup`),
    skills: readStrings(fields.skills ?? [], `${path}.skills`),
    vehicles: fields.vehicles === undefined ? null : readStrings(fields.vehicles, `${path}.vehicles`),
    unplannedPenalty:
      fields.unplanned_penalty === undefined
        ? null
        : readNumber(fields.unplanned_penalty, `${path}.unplanned_penalty`, 0),
    priority: readInteger(fields.priority ?? 6, `${path}.priority`, 1, 9),
  };
}

function readVehicle(
  fields: JsonObject,
  path: string,
  { clock, places, dimensions, stopIndex }: Context & { stopIndex: Map<string, number> },
): Vehicle {
  const limit = (name: string) =>
    fields[name] === undefined ? Infinity : readNumber(fields[name], `${path}.${name}`, 0);
  const speed = readNumber(fields.speed ?? 10, `${path}.speed`, 0);
  if (speed === 0) rejectValue(`${path}.speed`, 0, 'a number above 0, in distance units per second');
  return {
    id: readString(fields.id, `${path}.id`),
    start:
      fields.start === undefined || fields.start === null ? -1 : places.read(fields.start, `${path}.start`),
    end: fields.end === undefined || fields.end === null ? -1 : places.read(fields.end, `${path}.end`),
    shift:
      fields.shift === undefined
        ? { from: -Infinity, to: Infinity }
        : readWindow(fields.shift, `${path}.shift`, clock),
    capacity: dimensions.read(fields.capacity ?? {}, `${path}.capacity`, Infinity),
    speed,
    skills: readStrings(fields.skills ?? [], `${path}.skills`),
    maxStops:
      fields.max_stops === undefined
        ? Infinity
        : readInteger(fields.max_stops, `${path}.max_stops`, 0, Infinity),
    maxDistance: limit('max_distance'),
    maxDuration: limit('max_duration'),
    activationCost: readNumber(fields.activation_cost ?? 0, `${path}.activation_cost`, 0),
    costPerDistance: readNumber(fields.cost_per_distance ?? 1, `${path}.cost_per_distance`, 0),
    costPerDuration: readNumber(fields.cost_per_duration ?? 0, `${path}.cost_per_duration`, 0),
    initialStops: readArray(fields.initial_stops ?? [], `${path}.initial_stops`).map((entry, i) => {
      const at = `${path}.initial_stops[${i}]`;
      const item = typeof entry === 'string' ? { id: entry } : readObject(entry, at, ['id', 'fixed']);
      const stop = stopIndex.get(readString(item.id, `${at}.id`));
      if (stop === undefined)
        rejectValue(typeof entry === 'string' ? at : `${at}.id`, item.id, 'the id of a stop');
      if (item.fixed !== undefined && typeof item.fixed !== 'boolean')
        rejectValue(`${at}.fixed`, item.fixed, 'true or false');
      return { stop, fixed: item.fixed === true };
    }),
  };
}

function readShipment(
  value: unknown,
  path: string,
  { dimensions, stopIndex }: { dimensions: Dimensions; stopIndex: Map<string, number> },
): Shipment {
  const fields = readObject(value, path, shipmentFields);
  const stop = (name: string) => {
    const index = stopIndex.get(readString(fields[name], `${path}.${name}`));
    if (index === undefined) rejectValue(`${path}.${name}`, fields[name], 'the id of a stop');
    return index;
  };
  const [pickup, delivery] = [stop('pickup'), stop('delivery')];
  if (pickup === delivery) rejectValue(`${path}.delivery`, fields.delivery, 'a stop other than the pickup');
  return { pickup, delivery, quantity: dimensions.read(fields.quantity ?? {}, `${path}.quantity`) };
}

function checkShipments(shipments: Shipment[], stops: Stop[]): void {
  const used = new Set<number>();
  shipments.forEach((shipment, i) => {
    for (const name of ['pickup', 'delivery'] as const) {
      const stop = stops[shipment[name]];
      if (used.has(shipment[name])) {
        throw new InputError(
          `shipments[${i}].${name} is ${quoteValue(stop.id)}, which another shipment uses; a stop belongs to one shipment at most (give the second its own stop at the same location).`,
        );
      }
      used.add(shipment[name]);
      if (stop.deliver.some((amount) => amount > 0) || stop.pickup.some((amount) => amount > 0)) {
        throw new InputError(
          `shipments[${i}].${name} is ${quoteValue(stop.id)}, a stop with its own deliver or pickup; put the amount into the shipment's quantity.`,
        );
      }
    }
  });
}

function checkInitialStops(vehicles: Vehicle[], stops: Stop[], shipments: Shipment[]): void {
  const seen = new Set<number>();
  vehicles.forEach((vehicle, v) => {
    vehicle.initialStops.forEach(({ stop }, i) => {
      if (seen.has(stop)) {
        throw new InputError(
          `vehicles[${v}].initial_stops[${i}] is ${quoteValue(stops[stop].id)}, which is listed before; a stop can be in one place only.`,
        );
      }
      seen.add(stop);
    });
    const fixed = new Set(vehicle.initialStops.filter((item) => item.fixed).map((item) => item.stop));
    for (const { pickup, delivery } of shipments) {
      if (fixed.has(pickup) !== fixed.has(delivery)) {
        const [here, there] = fixed.has(pickup) ? [pickup, delivery] : [delivery, pickup];
        throw new InputError(
          `vehicles[${v}].initial_stops fixes ${quoteValue(stops[here].id)} but not ${quoteValue(stops[there].id)} of the same shipment; fix both on this vehicle, or neither.`,
        );
      }
    }
  });
}

function readWindow(value: unknown, path: string, clock: Clock): Window {
  const fields = readObject(value, path, ['from', 'to']);
  const from = clock.parse(fields.from, `${path}.from`);
  const to = clock.parse(fields.to, `${path}.to`);
  if (to < from)
    rejectValue(`${path}.to`, fields.to, `no earlier than ${path}.from, which is ${quoteValue(fields.from)}`);
  return { from, to };
}

function readWindows(value: unknown, path: string, clock: Clock): Window[] {
  if (value === undefined) return [{ from: -Infinity, to: Infinity }];
  const windows = readArray(value, path).map((entry, i) => readWindow(entry, `${path}[${i}]`, clock));
  if (windows.length === 0)
    rejectValue(path, value, 'an array with at least one {"from", "to"}, or left out');
  for (let i = 1; i < windows.length; i++) {
    if (windows[i].from <= windows[i - 1].to) {
      throw new InputError(
        `${path}[${i}] starts before ${path}[${i - 1}] is over; windows must be in order and must not overlap.`,
      );
    }
  }
  return windows;
}

/** The names of the capacity dimensions, in the order they are met. An amount without names is the dimension `load`. */
class Dimensions {
  readonly names: string[] = [];

  read(value: unknown, path: string, missing = 0): number[] {
    const fields = typeof value === 'number' ? { load: value } : value;
    if (!isObject(fields))
      rejectValue(path, value, 'a number, or an object with one number for each dimension');
    const amounts: number[] = [];
    for (const [name, amount] of Object.entries(fields)) {
      if (!this.names.includes(name)) this.names.push(name);
      amounts[this.names.indexOf(name)] = readNumber(
        amount,
        typeof value === 'number' ? path : `${path}.${name}`,
        0,
      );
    }
    return padded(amounts, this.names.length, missing);
  }
}

function padded(amounts: number[], width: number, missing: number): number[] {
  return Array.from({ length: width }, (_, k) => amounts[k] ?? missing);
}

function withDefaults(value: unknown, path: string, defaults: unknown, known: string[]): JsonObject[] {
  const common = readObject(defaults ?? {}, `defaults.${path}`, known);
  return readArray(value, path).map((entry, i) => ({
    ...common,
    ...readObject(entry, `${path}[${i}]`, known),
  }));
}

function indexById(items: { id: string }[], path: string): Map<string, number> {
  const index = new Map<string, number>();
  items.forEach(({ id }, i) => {
    const earlier = index.get(id);
    if (earlier !== undefined)
      throw new InputError(
        `${path}[${i}].id is ${quoteValue(id)}, which ${path}[${earlier}] has already; ids must differ.`,
      );
    index.set(id, i);
  });
  return index;
}
