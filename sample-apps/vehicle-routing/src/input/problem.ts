/**
 * The problem after the input was read and checked. These are plain objects with all defaults filled in, references resolved
 * to indices, and times in seconds after `origin`. The parser (`input.ts`) and the benchmark readers build it, and
 * `search/model.ts` turns it into the arrays of the search.
 */

/** A span in which service may start (a stop) or in which a vehicle may be on the road (a shift), in seconds. */
export type Window = { from: number; to: number };

export type Stop = {
  id: string;
  /** Index of its row in the travel matrices. */
  place: number;
  /** At least one, in ascending order, not overlapping. */
  windows: Window[];
  serviceDuration: number;
  /** Loaded at the vehicle's start and handed over here, one number per dimension. */
  deliver: number[];
  /** Taken in here and carried to the vehicle's end, one number per dimension. */
  pickup: number[];
  skills: string[];
  /** Ids of the only vehicles that may serve it; `null` means any. */
  vehicles: string[] | null;
  /** Cost of leaving it out; `null` makes the stop mandatory. */
  unplannedPenalty: number | null;
  /** 1 is the most important, 9 the least; each step halves the weight of leaving the stop out. */
  priority: number;
};

export type Vehicle = {
  id: string;
  /** Index of the place it starts from; -1: it starts at its first stop. */
  start: number;
  /** Index of the place it returns to; -1: it ends at its last stop (an open route). */
  end: number;
  shift: Window;
  /** One number per dimension; Infinity where the vehicle has no limit. */
  capacity: number[];
  /** Distance units per second; used where there is no duration matrix. */
  speed: number;
  skills: string[];
  maxStops: number;
  maxDistance: number;
  maxDuration: number;
  activationCost: number;
  costPerDistance: number;
  costPerDuration: number;
  initialStops: { stop: number; fixed: boolean }[];
};

/** Goods that go from one stop to another on one vehicle, the pickup first. Stops are indices. */
export type Shipment = { pickup: number; delivery: number; quantity: number[] };

/** Coordinates of a place, for drawing; `null` where only a matrix describes it. */
export type Coordinates = { x: number; y: number; geographic: boolean } | null;

export type Problem = {
  /** Names of the capacity dimensions. */
  dimensions: string[];
  stops: Stop[];
  vehicles: Vehicle[];
  shipments: Shipment[];
  places: Coordinates[];
  /** Row-major square matrix over the places. */
  distance: Float64Array;
  /** Row-major square matrix in seconds, or `null` when durations are distance divided by the vehicle's speed. */
  duration: Float64Array | null;
  /** How times of the input are written; null when they are plain numbers. */
  clock: { origin: number; offsetMinutes: number } | null;
};
