/**
 * The current plan: routes as doubly linked lists of visits, with the data to evaluate an insertion in constant time.
 * Invariants after `refresh(v)` for every visit of route `v`:
 * - `earliest` is the earliest service start when the vehicle leaves as early as it may, `latest` the latest one from
 *   which everything after can still be in time;
 * - on timed vehicles `head*` describes the part of the route up to the visit, and `tail*` the part from it on. Each has
 *   its least duration and the earliest and latest start that attain it;
 * - with mixed loads `after` is the load on leaving, `peakBefore` and `peakAfter` the highest load up to and from it;
 * - `stamp` of the route changes with its content, so results computed for the route can be cached until then.
 * Stops on no route have `getRoute` -1 and are in `unplanned`; their penalties are summed in `missed`.
 */
import { IndexSet } from './index-set.ts';
import type { Model } from './model.ts';

/** Sums taken in another order differ in their last digits; limits are checked with this tolerance. */
export const epsilon = 1e-6;

export class State {
  readonly model: Model;
  readonly next: Int32Array;
  readonly prev: Int32Array;
  readonly routeByStop: Int32Array;
  readonly position: Int32Array;
  /** The window in force at each visit: of a stop with several, the one it was placed in. */
  readonly from: Float64Array;
  readonly to: Float64Array;
  readonly window: Int32Array;
  /** Distance and travel time from the visit to the next one. */
  readonly arc: Float64Array;
  readonly leg: Float64Array;
  readonly earliest: Float64Array;
  readonly latest: Float64Array;
  readonly headDuration: Float64Array;
  readonly headEarly: Float64Array;
  readonly headLate: Float64Array;
  readonly tailDuration: Float64Array;
  readonly tailEarly: Float64Array;
  readonly tailLate: Float64Array;
  readonly after: Float64Array;
  readonly peakBefore: Float64Array;
  readonly peakAfter: Float64Array;
  readonly size: Int32Array;
  readonly distance: Float64Array;
  readonly duration: Float64Array;
  readonly cost: Float64Array;
  /** Sum of the deliveries of the route, per dimension: its load on leaving. */
  readonly load: Float64Array;
  readonly stamp: Float64Array;
  readonly active: IndexSet;
  /** Vehicles without stops, by class. */
  readonly idle: IndexSet[];
  readonly unplanned: IndexSet;
  total = 0;
  unplannedPenalty = 0;
  private clock = 0;

  constructor(model: Model) {
    const { stopCount: n, vehicleCount, dimensions } = model;
    const visits = n + 2 * vehicleCount;
    const numbers = () => new Float64Array(visits);
    const timed = model.timed.includes(1) ? visits : 0;
    const loads = model.hasMixedLoads ? visits * dimensions : 0;
    this.model = model;
    this.next = new Int32Array(visits);
    this.prev = new Int32Array(visits);
    this.routeByStop = new Int32Array(visits).fill(-1);
    this.position = new Int32Array(visits);
    this.from = numbers();
    this.to = numbers();
    this.window = new Int32Array(n);
    this.arc = numbers();
    this.leg = numbers();
    this.earliest = numbers();
    this.latest = numbers();
    this.headDuration = new Float64Array(timed);
    this.headEarly = new Float64Array(timed);
    this.headLate = new Float64Array(timed);
    this.tailDuration = new Float64Array(timed);
    this.tailEarly = new Float64Array(timed);
    this.tailLate = new Float64Array(timed);
    this.after = new Float64Array(loads);
    this.peakBefore = new Float64Array(loads);
    this.peakAfter = new Float64Array(loads);
    this.size = new Int32Array(vehicleCount);
    this.distance = new Float64Array(vehicleCount);
    this.duration = new Float64Array(vehicleCount);
    this.cost = new Float64Array(vehicleCount);
    this.load = new Float64Array(vehicleCount * dimensions);
    this.stamp = new Float64Array(vehicleCount);
    this.active = new IndexSet(vehicleCount);
    this.idle = Array.from({ length: model.classCount }, () => new IndexSet(vehicleCount));
    this.unplanned = new IndexSet(n);
    for (let i = 0; i < n; i++) {
      this.useWindow(i, model.windowFirst[i]);
      this.unplanned.add(i);
      this.unplannedPenalty += model.penalty[i];
    }
    for (let v = vehicleCount - 1; v >= 0; v--) {
      const first = n + 2 * v;
      this.routeByStop[first] = v;
      this.routeByStop[first + 1] = v;
      this.from[first] = this.from[first + 1] = model.shiftFrom[v];
      this.to[first] = this.to[first + 1] = model.shiftTo[v];
      this.next[first] = first + 1;
      this.prev[first + 1] = first;
      this.refresh(v);
    }
  }

  /** The cost of the plan as it stands: routes and what was left out. */
  value(): number {
    return this.total + this.unplannedPenalty;
  }

  /** First visit of a route; the one after it in number is the last. */
  firstVisit(vehicle: number): number {
    return this.model.stopCount + 2 * vehicle;
  }

  useWindow(stop: number, window: number): void {
    this.window[stop] = window;
    this.from[stop] = this.model.windowFrom[window];
    this.to[stop] = this.model.windowTo[window];
  }

  /** Links a stop behind a visit. The caller refreshes the route. */
  insert(stop: number, behind: number, window: number): void {
    const follower = this.next[behind];
    this.next[behind] = stop;
    this.prev[stop] = behind;
    this.next[stop] = follower;
    this.prev[follower] = stop;
    this.routeByStop[stop] = this.routeByStop[behind];
    this.useWindow(stop, window);
    this.unplanned.remove(stop);
    this.unplannedPenalty -= this.model.penalty[stop];
  }

  /** Takes a stop off its route. The caller refreshes the route. */
  remove(stop: number): void {
    const before = this.prev[stop];
    const follower = this.next[stop];
    this.next[before] = follower;
    this.prev[follower] = before;
    this.routeByStop[stop] = -1;
    this.unplanned.add(stop);
    this.unplannedPenalty += this.model.penalty[stop];
  }

  /** Stops of a route in order. */
  listStops(vehicle: number): number[] {
    const stops: number[] = [];
    const last = this.firstVisit(vehicle) + 1;
    for (let s = this.next[last - 1]; s !== last; s = this.next[s]) stops.push(s);
    return stops;
  }

  /** Recomputes everything kept about a route; false if the route breaks a limit. */
  refresh(v: number): boolean {
    const { model, next, prev, earliest, latest, arc, leg, from, to, position } = this;
    const { place, service, distance, size } = model;
    const duration = model.duration[v];
    const first = this.firstVisit(v);
    const last = first + 1;
    let feasible = true;
    let length = 0;
    let count = 0;
    earliest[first] = from[first];
    position[first] = 0;
    let p = first;
    while (p !== last) {
      const s = next[p];
      const cell = place[p] * size + place[s];
      arc[p] = distance[cell];
      leg[p] = duration[cell];
      length += distance[cell];
      const arrival = earliest[p] + service[p] + leg[p];
      const start = Math.max(arrival, from[s]);
      earliest[s] = start;
      if (start > to[s] + epsilon) feasible = false;
      position[s] = ++count;
      p = s;
    }
    latest[last] = to[last];
    for (let s = last; s !== first; s = prev[s]) {
      const q = prev[s];
      const bound = latest[s] - leg[q] - service[q];
      latest[q] = Math.min(bound, to[q]);
    }
    const stops = count - 1;
    this.size[v] = stops;
    this.distance[v] = stops > 0 ? length : 0;
    if (model.timed[v] === 1) this.refreshDurations(first, last);
    const time = model.timed[v] === 1 && stops > 0 ? this.headDuration[last] : 0;
    this.duration[v] = time;
    if (!this.refreshLoads(v, first, last)) feasible = false;
    this.total -= this.cost[v];
    const cost =
      stops === 0 ? 0 : model.activation[v] + model.perDistance[v] * length + model.perDuration[v] * time;
    this.cost[v] = cost;
    this.total += cost;
    if (stops === 0) {
      this.stamp[v] = -1;
      this.active.remove(v);
      this.idle[model.vehicleClasses[v]].add(v);
      return true;
    }
    this.stamp[v] = ++this.clock;
    this.idle[model.vehicleClasses[v]].remove(v);
    this.active.add(v);
    return (
      feasible &&
      stops <= model.maxStops[v] &&
      length <= model.maxDistance[v] + epsilon &&
      time <= model.maxDuration[v] + epsilon
    );
  }

  /** Drift of the running sums is removed by taking them again; called when a plan is recorded. */
  recomputeSums(): void {
    this.total = 0;
    this.unplannedPenalty = 0;
    for (let v = 0; v < this.model.vehicleCount; v++) this.total += this.cost[v];
    for (let i = 0; i < this.unplanned.count; i++)
      this.unplannedPenalty += this.model.penalty[this.unplanned.items[i]];
  }

  /**
   * Durations by joining parts of the route: a part needs `duration` when it starts between `early` and `late`;
   * starting before `early` adds waiting, after `late` is too late.
   */
  private refreshDurations(first: number, last: number): void {
    const { next, prev, leg, from, to } = this;
    const { service } = this.model;
    const { headDuration, headEarly, headLate, tailDuration, tailEarly, tailLate } = this;
    headDuration[first] = 0;
    headEarly[first] = from[first];
    headLate[first] = to[first];
    for (let p = first; p !== last; p = next[p]) {
      const s = next[p];
      const shift = headDuration[p] + leg[p];
      const wait = Math.max(0, from[s] - shift - headLate[p]);
      headDuration[s] = shift + wait + service[s];
      headEarly[s] = Math.max(from[s] - shift, headEarly[p]) - wait;
      headLate[s] = Math.min(to[s] - shift, headLate[p]);
    }
    tailDuration[last] = 0;
    tailEarly[last] = from[last];
    tailLate[last] = to[last];
    for (let s = last; s !== first; s = prev[s]) {
      const q = prev[s];
      const shift = service[q] + leg[q];
      const wait = Math.max(0, tailEarly[s] - shift - to[q]);
      tailDuration[q] = shift + wait + tailDuration[s];
      tailEarly[q] = Math.max(tailEarly[s] - shift, from[q]) - wait;
      tailLate[q] = Math.min(tailLate[s] - shift, to[q]);
    }
  }

  private refreshLoads(v: number, first: number, last: number): boolean {
    const { model, next, prev, load, after, peakBefore, peakAfter } = this;
    const { dimensions, deliver, change, capacity } = model;
    let feasible = true;
    for (let k = 0; k < dimensions; k++) {
      let sum = 0;
      for (let s = next[first]; s !== last; s = next[s]) sum += deliver[s * dimensions + k];
      load[v * dimensions + k] = sum;
      let peak = sum;
      if (model.hasMixedLoads) {
        let current = sum;
        after[first * dimensions + k] = sum;
        peakBefore[first * dimensions + k] = sum;
        for (let s = next[first]; s !== last; s = next[s]) {
          current += change[s * dimensions + k];
          if (current > peak) peak = current;
          after[s * dimensions + k] = current;
          peakBefore[s * dimensions + k] = peak;
        }
        let highest = current;
        after[last * dimensions + k] = current;
        peakBefore[last * dimensions + k] = peak;
        for (let s = last; s !== first; s = prev[s]) {
          if (after[s * dimensions + k] > highest) highest = after[s * dimensions + k];
          peakAfter[s * dimensions + k] = highest;
        }
        peakAfter[first * dimensions + k] = Math.max(highest, sum);
      }
      if (peak > capacity[v * dimensions + k] + epsilon) feasible = false;
    }
    return feasible;
  }
}
