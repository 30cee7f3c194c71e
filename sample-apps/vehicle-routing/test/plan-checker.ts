/**
 * An independent implementation of the input format. It computes the cost of a route and the rules it breaks from the raw
 * JSON in the simplest way, without code of the solver. The tests compare the app's plans with it.
 */

type Amount = number | Record<string, number>;
export type Time = number | string;
type TimeWindow = { from: Time; to: Time };
export type Location = string | { x: number; y: number } | { lon: number; lat: number };

export type StopInput = {
  id: string;
  location?: Location;
  windows?: TimeWindow[];
  service_duration?: number;
  deliver?: Amount;
  pickup?: Amount;
  skills?: string[];
  vehicles?: string[];
  unplanned_penalty?: number;
  priority?: number;
};

export type VehicleInput = {
  id: string;
  start?: Location | null;
  end?: Location | null;
  shift?: TimeWindow;
  capacity?: Amount;
  speed?: number;
  skills?: string[];
  max_stops?: number;
  max_distance?: number;
  max_duration?: number;
  activation_cost?: number;
  cost_per_distance?: number;
  cost_per_duration?: number;
  initial_stops?: (string | { id: string; fixed?: boolean })[];
};

export type Input = {
  stops: StopInput[];
  vehicles: VehicleInput[];
  shipments?: { pickup: string; delivery: string; quantity?: Amount }[];
  locations?: { id: string; x?: number; y?: number; lon?: number; lat?: number }[];
  distance_matrix?: number[][];
  duration_matrix?: number[][];
  defaults?: { stops?: Partial<StopInput>; vehicles?: Partial<VehicleInput> };
};

/** Of a mandatory stop left out counts the weight of its priority, apart from the cost. */
export type PlanCheck = { faults: string[]; mandatory: number; cost: number };

const tolerance = 1e-4;

export class PlanChecker {
  readonly stops: Map<string, StopInput>;
  readonly vehicles: Map<string, VehicleInput>;
  private readonly input: Input;

  constructor(input: Input) {
    this.input = input;
    this.stops = new Map(input.stops.map((stop) => [stop.id, { ...input.defaults?.stops, ...stop }]));
    this.vehicles = new Map(
      input.vehicles.map((vehicle) => [vehicle.id, { ...input.defaults?.vehicles, ...vehicle }]),
    );
  }

  /** Checks the whole plan: the stops of each vehicle that has any, by their order. */
  checkPlan(routes: Map<string, string[]>): PlanCheck {
    const faults: string[] = [];
    const visited = new Map<string, string>();
    let cost = 0;
    for (const [vehicle, stops] of routes) {
      for (const stop of stops) {
        if (visited.has(stop)) faults.push(`${stop} is visited twice`);
        visited.set(stop, vehicle);
      }
      const verdict = this.checkRoute(vehicle, stops);
      faults.push(...verdict.faults);
      cost += verdict.cost;
    }
    let mandatory = 0;
    for (const stop of this.stops.values()) {
      if (visited.has(stop.id)) continue;
      const weight = 2 ** (6 - (stop.priority ?? 6));
      if (stop.unplanned_penalty === undefined) mandatory += weight;
      else cost += stop.unplanned_penalty * weight;
    }
    for (const { pickup, delivery } of this.input.shipments ?? []) {
      if (visited.get(pickup) !== visited.get(delivery))
        faults.push(`${pickup} and ${delivery} are torn apart`);
    }
    for (const vehicle of this.vehicles.values()) {
      const fixed = (vehicle.initial_stops ?? []).flatMap((item) =>
        typeof item === 'object' && item.fixed ? [item.id] : [],
      );
      const order = (routes.get(vehicle.id) ?? []).filter((stop) => fixed.includes(stop));
      if (order.join() !== fixed.join())
        faults.push(`${vehicle.id} has fixed stops ${order.join()}, not ${fixed.join()}`);
    }
    return { faults, mandatory, cost };
  }

  checkRoute(
    vehicleId: string,
    stops: string[],
  ): { faults: string[]; cost: number; distance: number; duration: number } {
    if (stops.length === 0) return { faults: [], cost: 0, distance: 0, duration: 0 };
    const vehicle = this.vehicle(vehicleId);
    const faults: string[] = [];
    const rule = (broken: boolean, what: string) => {
      if (broken) faults.push(`${vehicleId} [${stops.join()}]: ${what}`);
    };
    for (const id of stops) {
      const stop = this.stop(id);
      rule(
        (stop.skills ?? []).some((skill) => !vehicle.skills?.includes(skill)),
        `skills of ${id}`,
      );
      rule(stop.vehicles !== undefined && !stop.vehicles.includes(vehicleId), `vehicles of ${id}`);
    }
    for (const { pickup, delivery } of this.input.shipments ?? []) {
      rule(
        stops.includes(delivery) && stops.indexOf(pickup) > stops.indexOf(delivery),
        `${delivery} before ${pickup}`,
      );
    }
    for (const name of this.dimensionNames()) {
      const capacity = typeof vehicle.capacity === 'number' ? { load: vehicle.capacity } : vehicle.capacity;
      const highest = Math.max(...this.loads(stops, name));
      rule(highest > (capacity?.[name] ?? Infinity) + tolerance, `${name} ${highest}`);
    }
    const distance = this.legs(vehicle, stops).reduce((sum, leg) => sum + leg.distance, 0);
    const duration = this.duration(vehicle, stops);
    rule(duration === Infinity, 'windows or shift');
    rule(stops.length > (vehicle.max_stops ?? Infinity), `${stops.length} stops`);
    rule(distance > (vehicle.max_distance ?? Infinity) + tolerance, `distance ${distance}`);
    rule(duration > (vehicle.max_duration ?? Infinity) + tolerance, `duration ${duration}`);
    const driving = (vehicle.cost_per_distance ?? 1) * distance;
    const time = (vehicle.cost_per_duration ?? 0) === 0 ? 0 : (vehicle.cost_per_duration ?? 0) * duration;
    return { faults, cost: (vehicle.activation_cost ?? 0) + driving + time, distance, duration };
  }

  /** Load on leaving the start and then each stop. */
  loads(stops: string[], name: string): number[] {
    const named = (amount: Amount | undefined) =>
      (typeof amount === 'number' ? { load: amount } : amount)?.[name] ?? 0;
    let load = stops.reduce((sum, id) => sum + named(this.stop(id).deliver), 0);
    const loads = [load];
    for (const id of stops) {
      load += named(this.stop(id).pickup) - named(this.stop(id).deliver);
      for (const { pickup, delivery, quantity } of this.input.shipments ?? []) {
        if (id === pickup) load += named(quantity);
        if (id === delivery) load -= named(quantity);
      }
      loads.push(load);
    }
    return loads;
  }

  /** Distance and travel time from the start to each stop in turn and to the end. */
  legs(vehicle: VehicleInput, stops: string[]): { distance: number; time: number }[] {
    const places = [
      vehicle.start ?? null,
      ...stops.map((id) => this.stop(id).location ?? null),
      vehicle.end ?? null,
    ];
    return places.slice(1).map((to, i) => {
      const from = places[i];
      if (from === null || to === null) return { distance: 0, time: 0 };
      const distance =
        this.measure(from, to, this.input.distance_matrix) ?? straight(this.at(from), this.at(to));
      const time = this.measure(from, to, this.input.duration_matrix) ?? distance / (vehicle.speed ?? 10);
      return { distance, time };
    });
  }

  /** Shortest duration over every choice of windows; Infinity if no choice is in time. */
  duration(vehicle: VehicleInput, stops: string[]): number {
    const shift = this.shift(vehicle);
    const legs = this.legs(vehicle, stops).map((leg) => leg.time);
    const services = stops.map((id) => this.stop(id).service_duration ?? 0);
    let least = Infinity;
    const choose = (chosen: { from: number; to: number }[]) => {
      if (chosen.length < stops.length) {
        const windows = this.stop(stops[chosen.length]).windows?.map(seconds) ?? [
          { from: -Infinity, to: Infinity },
        ];
        for (const window of windows) choose([...chosen, window]);
        return;
      }
      let time = shift.from;
      for (const [i, window] of chosen.entries()) {
        time = Math.max(time + legs[i], window.from);
        if (time > window.to + tolerance) return;
        time += services[i];
      }
      const finish = time + legs[stops.length];
      if (finish > shift.to + tolerance) return;
      // Backwards from the earliest finish: when each stop has to start at the latest.
      let latest = finish - legs[stops.length];
      for (let i = stops.length - 1; i >= 0; i--)
        latest = Math.min(latest - services[i], chosen[i].to) - legs[i];
      least = Math.min(least, finish - Math.max(shift.from, Math.min(latest, shift.to)));
    };
    choose([]);
    return least;
  }

  shift(vehicle: VehicleInput): { from: number; to: number } {
    if (vehicle.shift) return seconds(vehicle.shift);
    const spans = [...this.stops.values()].flatMap((stop) => stop.windows ?? []);
    const stamps = spans.filter((span) => typeof span.from === 'string').map((span) => seconds(span).from);
    return { from: stamps.length > 0 ? Math.min(...stamps) : 0, to: Infinity };
  }

  dimensionNames(): string[] {
    const amounts = [
      ...[...this.stops.values()].flatMap((stop) => [stop.deliver, stop.pickup]),
      ...[...this.vehicles.values()].map((vehicle) => vehicle.capacity),
      ...(this.input.shipments ?? []).map((shipment) => shipment.quantity),
    ];
    const names = amounts.flatMap((amount) =>
      typeof amount === 'number' ? ['load'] : Object.keys(amount ?? {}),
    );
    return [...new Set(names)];
  }

  stop(id: string): StopInput {
    const stop = this.stops.get(id);
    if (!stop) throw new Error(`the output names the stop ${id}, which the input does not have`);
    return stop;
  }

  vehicle(id: string): VehicleInput {
    const vehicle = this.vehicles.get(id);
    if (!vehicle) throw new Error(`the output names the vehicle ${id}, which the input does not have`);
    return vehicle;
  }

  private measure(from: Location, to: Location, matrix: number[][] | undefined): number | undefined {
    const rank = (place: Location) =>
      this.input.locations?.findIndex((location) => location.id === place) ?? -1;
    return matrix?.[rank(from)]?.[rank(to)];
  }

  private at(place: Location): { x?: number; y?: number; lon?: number; lat?: number } {
    return typeof place === 'string' ? (this.input.locations?.find(({ id }) => id === place) ?? {}) : place;
  }
}

/** Seconds of a number or a timestamp. */
export function toSeconds(time: Time): number {
  return typeof time === 'number' ? time : Date.parse(time) / 1000;
}

function seconds(span: TimeWindow): { from: number; to: number } {
  return { from: toSeconds(span.from), to: toSeconds(span.to) };
}

type Point = { x?: number; y?: number; lon?: number; lat?: number };

/** Straight line, or the angle between two unit vectors times the radius of the earth. */
function straight(a: Point, b: Point): number {
  if (a.x !== undefined) return Math.hypot(a.x - (b.x ?? 0), (a.y ?? 0) - (b.y ?? 0));
  const [u, v] = [vector(a), vector(b)];
  const chord = Math.hypot(u[0] - v[0], u[1] - v[1], u[2] - v[2]);
  return 2 * 6_371_008.8 * Math.asin(chord / 2);
}

function vector({ lon = 0, lat = 0 }: Point): [number, number, number] {
  const [l, p] = [(lon * Math.PI) / 180, (lat * Math.PI) / 180];
  return [Math.cos(p) * Math.cos(l), Math.cos(p) * Math.sin(l), Math.sin(p)];
}
