/**
 * Finds the cheapest place for a stop (or for both stops of a shipment) on one route, and caches it until the route
 * changes. Invariant: an entry is used only while its stamp equals the route's, and a feasible entry keeps every limit
 * of the vehicle when the stop is placed. The code below runs millions of times a second, so it creates no objects.
 */
import { epsilon, type State } from './state.ts';

export class Insertion {
  private readonly state: State;
  /** Two numbers for each entry, adjacent for the processor's cache: the stamp of the route it is for, and the cost. */
  private readonly costs: Float64Array;
  /** For each entry the visit before it and the window; for shipments the same of the delivery. */
  private readonly behind: Int32Array;
  private readonly window: Int32Array;
  private readonly behindDelivery: Int32Array;
  private readonly windowDelivery: Int32Array;
  // The current scan: its vehicle, the windows that it tries, and the best place so far.
  private vehicle = 0;
  private pickupWindow = 0;
  private deliveryWindow = 0;
  private bestCost = Infinity;
  private bestBehind = -1;
  private bestWindow = -1;
  private bestBehindDelivery = -1;
  private bestWindowDelivery = -1;

  constructor(state: State) {
    const { stopCount, vehicleCount, problem } = state.model;
    const costs = stopCount * vehicleCount;
    const pairs = problem.shipments.length > 0 ? costs : 0;
    this.state = state;
    this.costs = new Float64Array(2 * costs);
    this.behind = new Int32Array(costs);
    this.window = new Int32Array(costs);
    this.behindDelivery = new Int32Array(pairs);
    this.windowDelivery = new Int32Array(pairs);
  }

  /**
   * Returns the cost that placing the stop on the route adds, in the unit of the objective; Infinity if it fits nowhere.
   * For a shipment pass its pickup; the cost is that of both stops.
   */
  insertionCost(stop: number, vehicle: number): number {
    const { costs, state } = this;
    const entry = stop * state.model.vehicleCount + vehicle;
    if (costs[2 * entry] === state.stamp[vehicle]) return costs[2 * entry + 1];
    return this.compute(stop, vehicle, entry);
  }

  private compute(stop: number, vehicle: number, entry: number): number {
    this.bestCost = Infinity;
    const { partner } = this.state.model;
    if (partner[stop] < 0) this.scan(stop, vehicle);
    else {
      this.scanShipment(stop, partner[stop], vehicle);
      this.behindDelivery[entry] = this.bestBehindDelivery;
      this.windowDelivery[entry] = this.bestWindowDelivery;
    }
    this.costs[2 * entry] = this.state.stamp[vehicle];
    this.costs[2 * entry + 1] = this.bestCost;
    this.behind[entry] = this.bestBehind;
    this.window[entry] = this.bestWindow;
    return this.bestCost;
  }

  /** Places the stop where the last call of insertionCost for this stop and route found its least cost. */
  place(stop: number, vehicle: number): void {
    const { state } = this;
    const { partner, vehicleCount } = state.model;
    const entry = stop * vehicleCount + vehicle;
    state.insert(stop, this.behind[entry], this.window[entry]);
    if (partner[stop] >= 0)
      state.insert(partner[stop], this.behindDelivery[entry], this.windowDelivery[entry]);
    state.refresh(vehicle);
  }

  private scan(stop: number, v: number): void {
    const { state } = this;
    const { model } = state;
    if (state.size[v] + 1 > model.maxStops[v]) return;
    const { dimensions, deliver, capacity } = model;
    if (!model.hasMixedLoads) {
      for (let k = 0; k < dimensions; k++) {
        if (
          state.load[v * dimensions + k] + deliver[stop * dimensions + k] >
          capacity[v * dimensions + k] + epsilon
        )
          return;
      }
    }
    for (let w = model.windowFirst[stop]; w < model.windowFirst[stop + 1]; w++) this.scanWindow(stop, v, w);
  }

  private scanWindow(stop: number, v: number, window: number): void {
    const { state } = this;
    const { model, next, arc, earliest, latest } = state;
    const { size, place, service, distance, distanceTo, hasMixedLoads: mixed } = model;
    const duration = model.duration[v];
    const durationTo = model.durationTo[v];
    const timed = model.timed[v] === 1;
    const perDistance = model.perDistance[v];
    const row = place[stop] * size;
    const from = model.windowFrom[window];
    const to = model.windowTo[window] + epsilon;
    const serving = service[stop];
    const least = from + serving - epsilon;
    const remainingDistance = model.maxDistance[v] - state.distance[v] + epsilon;
    const opening = state.size[v] === 0 ? model.activation[v] : 0;
    // On an idle vehicle the empty route costs nothing, so the arc from its start to its end is not saved.
    const saved = state.size[v] === 0 ? 0 : 1;
    const last = model.stopCount + 2 * v + 1;
    let best = this.bestCost;
    for (let p = last - 1; p !== last; p = next[p]) {
      const ready = earliest[p] + service[p];
      // Later visits are ready later still, so the stop is out of reach from here on.
      if (ready > to) break;
      const s = next[p];
      if (latest[s] < least) continue;
      const pp = place[p];
      const ps = place[s];
      const longer = distanceTo[row + pp] + distance[row + ps] - saved * arc[p];
      let cost = longer * perDistance + opening;
      if (cost >= best && !timed) continue;
      if (longer > remainingDistance) continue;
      const arrival = ready + durationTo[row + pp];
      if (arrival > to) continue;
      const start = Math.max(arrival, from);
      if (start + serving + duration[row + ps] > latest[s] + epsilon) continue;
      if (mixed && !this.loadFits(stop, p, s, v)) continue;
      if (timed) {
        const shift = state.headDuration[p] + durationTo[row + pp];
        const wait = Math.max(0, from - shift - state.headLate[p]);
        const late = Math.min(model.windowTo[window] - shift, state.headLate[p]);
        const whole = this.completeDuration(s, shift + wait + serving + duration[row + ps], late);
        if (whole > model.maxDuration[v] + epsilon) continue;
        cost += (whole - state.duration[v]) * model.perDuration[v];
        if (cost >= best) continue;
      }
      best = cost;
      this.bestBehind = p;
      this.bestWindow = window;
    }
    this.bestCost = best;
  }

  /**
   * Returns the least duration of the route. The part up to visit `s` takes `onward`, and takes no longer for any departure
   * up to `late`.
   */
  private completeDuration(s: number, onward: number, late: number): number {
    const { tailDuration, tailEarly } = this.state;
    return onward + Math.max(0, tailEarly[s] - onward - late) + tailDuration[s];
  }

  private loadFits(stop: number, p: number, s: number, v: number): boolean {
    const { model, after, peakBefore, peakAfter } = this.state;
    const { dimensions, deliver, pickedUp, capacity } = model;
    for (let k = 0; k < dimensions; k++) {
      const limit = capacity[v * dimensions + k] + epsilon;
      const pickup = pickedUp[stop * dimensions + k];
      if (peakBefore[p * dimensions + k] + deliver[stop * dimensions + k] > limit) return false;
      if (after[p * dimensions + k] + pickup > limit) return false;
      if (peakAfter[s * dimensions + k] + pickup > limit) return false;
    }
    return true;
  }

  private scanShipment(pickup: number, delivery: number, v: number): void {
    const { state } = this;
    const { windowFirst } = state.model;
    if (state.size[v] + 2 > state.model.maxStops[v]) return;
    this.vehicle = v;
    for (let w = windowFirst[pickup]; w < windowFirst[pickup + 1]; w++) {
      this.pickupWindow = w;
      for (let x = windowFirst[delivery]; x < windowFirst[delivery + 1]; x++) {
        this.deliveryWindow = x;
        const last = state.firstVisit(v) + 1;
        for (let p = last - 1; p !== last; p = state.next[p]) this.scanDelivery(pickup, delivery, p);
      }
    }
  }

  /** Places the pickup behind visit `p`, and tries the delivery behind every visit from the pickup on. */
  private scanDelivery(pickup: number, delivery: number, p: number): void {
    const { state, vehicle: v, pickupWindow: w, deliveryWindow: x } = this;
    const { model, next, arc, earliest, latest, from, to } = state;
    const { size, place, service, distance, windowFrom, windowTo } = model;
    const duration = model.duration[v];
    const timed = model.timed[v] === 1;
    const used = state.size[v] > 0;
    const last = state.firstVisit(v) + 1;
    const rowDelivery = place[delivery] * size;
    const savedFirst = used ? arc[p] : 0;
    let cell = place[p] * size + place[pickup];
    const added = distance[cell];
    const arrival = earliest[p] + service[p] + duration[cell];
    if (arrival > windowTo[w] + epsilon || !this.carries(pickup, p, v)) return;

    // The visit that the walk has reached, its start of service, and the part of the route up to it by duration.
    let at = pickup;
    let start = Math.max(arrival, windowFrom[w]);
    let time = 0;
    let late = 0;
    if (timed) {
      const shift = state.headDuration[p] + duration[cell];
      time = shift + Math.max(0, windowFrom[w] - shift - state.headLate[p]) + service[pickup];
      late = Math.min(windowTo[w] - shift, state.headLate[p]);
    }
    let walked = 0;
    for (let s = next[p]; ; s = next[s]) {
      const toDelivery = place[at] * size + place[delivery];
      const onward = rowDelivery + place[s];
      const reached = start + service[at] + duration[toDelivery];
      const served = Math.max(reached, windowFrom[x]);
      if (
        reached <= windowTo[x] + epsilon &&
        served + service[delivery] + duration[onward] <= latest[s] + epsilon
      ) {
        const saved = at === pickup || !used ? 0 : arc[at];
        const longer = added + walked + distance[toDelivery] + distance[onward] - savedFirst - saved;
        let whole = state.duration[v];
        if (timed) {
          const shift = time + duration[toDelivery];
          const partTime = shift + Math.max(0, windowFrom[x] - shift - late) + service[delivery];
          const partLate = Math.min(windowTo[x] - shift, late);
          whole = this.completeDuration(s, partTime + duration[onward], partLate);
        }
        this.compare(longer, whole, p, at);
      }
      // The walk goes on to visit s, with the goods still on board.
      if (s === last || !this.carries(pickup, s, v)) return;
      cell = place[at] * size + place[s];
      const reachedNext = start + service[at] + duration[cell];
      const begin = Math.max(reachedNext, from[s]);
      if (begin > to[s] + epsilon) return;
      if (timed) {
        const shift = time + duration[cell];
        time = shift + Math.max(0, from[s] - shift - late) + service[s];
        late = Math.min(to[s] - shift, late);
      }
      if (at === pickup) walked = distance[cell];
      at = s;
      start = begin;
    }
  }

  /** Keeps the pickup behind visit `p` and the delivery behind `at` if the route fits and costs least so far. */
  private compare(longer: number, whole: number, p: number, at: number): void {
    const { state, vehicle: v } = this;
    const { model } = state;
    if (longer > model.maxDistance[v] - state.distance[v] + epsilon) return;
    let cost = longer * model.perDistance[v] + (state.size[v] > 0 ? 0 : model.activation[v]);
    if (model.timed[v] === 1) {
      if (whole > model.maxDuration[v] + epsilon) return;
      cost += (whole - state.duration[v]) * model.perDuration[v];
    }
    if (cost >= this.bestCost) return;
    this.bestCost = cost;
    this.bestBehind = p;
    this.bestWindow = this.pickupWindow;
    this.bestBehindDelivery = at;
    this.bestWindowDelivery = this.deliveryWindow;
  }

  /** Returns true if the goods of a shipment fit with the load of the vehicle when it leaves a visit. */
  private carries(pickup: number, visit: number, v: number): boolean {
    const { model, after } = this.state;
    const { dimensions, pickedUp, capacity } = model;
    for (let k = 0; k < dimensions; k++) {
      if (
        after[visit * dimensions + k] + pickedUp[pickup * dimensions + k] >
        capacity[v * dimensions + k] + epsilon
      )
        return false;
    }
    return true;
  }
}
