/**
 * Finds the cheapest place for a stop (or for both stops of a shipment) on one route, and remembers the answer until
 * the route changes. Invariant: an answer is used only while its stamp equals the route's, and a feasible
 * answer keeps every limit of the vehicle when it is carried out.
 */
import { epsilon, type State } from './state.ts';

export class Insertion {
  private readonly state: State;
  /** Two numbers for each answer, side by side for the cache: the stamp of the route it holds for, and the cost. */
  private readonly costs: Float64Array;
  /** Per answer: the visit to go behind and the window; for shipments the same of the delivery. */
  private readonly behind: Int32Array;
  private readonly window: Int32Array;
  private readonly behindDelivery: Int32Array;
  private readonly windowDelivery: Int32Array;
  // The best of the scan under way.
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
   * What placing the stop on the route adds to the cost, Infinity if it fits nowhere. For a shipment ask with its
   * pickup; the answer is for both stops.
   */
  insertionCost(stop: number, vehicle: number): number {
    const { costs, state } = this;
    const entry = stop * state.model.vehicleCount + vehicle;
    if (costs[2 * entry] === state.stamp[vehicle]) return costs[2 * entry + 1];
    return this.fresh(stop, vehicle, entry);
  }

  private fresh(stop: number, vehicle: number, entry: number): number {
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

  /** Carries out the answer last given for this stop and route. */
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
        const whole = this.durationWith(
          p,
          s,
          durationTo[row + pp],
          duration[row + ps],
          from,
          model.windowTo[window],
          serving,
        );
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

  /** Least duration of the route with one more visit between `p` and `s`. */
  private durationWith(
    p: number,
    s: number,
    legTo: number,
    legFrom: number,
    from: number,
    to: number,
    serving: number,
  ): number {
    const { headDuration, headLate, tailDuration, tailEarly } = this.state;
    const shift = headDuration[p] + legTo;
    const wait = Math.max(0, from - shift - headLate[p]);
    const duration = shift + wait + serving;
    const late = Math.min(to - shift, headLate[p]);
    const onward = duration + legFrom;
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
    for (let w = windowFirst[pickup]; w < windowFirst[pickup + 1]; w++) {
      for (let x = windowFirst[delivery]; x < windowFirst[delivery + 1]; x++) {
        const last = state.firstVisit(v) + 1;
        for (let p = last - 1; p !== last; p = state.next[p]) this.scanDelivery(pickup, delivery, v, w, x, p);
      }
    }
  }

  /** With the pickup behind visit `p`, walks on and tries the delivery behind every visit from the pickup on. */
  private scanDelivery(pickup: number, delivery: number, v: number, w: number, x: number, p: number): void {
    const { state } = this;
    const { model, next, arc, earliest, latest, from, to } = state;
    const { size, place, service, distance, windowFrom, windowTo } = model;
    const duration = model.duration[v];
    const timed = model.timed[v] === 1;
    const used = state.size[v] > 0;
    const last = state.firstVisit(v) + 1;
    const rowDelivery = place[delivery] * size;
    const remainingDistance = model.maxDistance[v] - state.distance[v] + epsilon;
    const opening = used ? 0 : model.activation[v];
    const savedFirst = used ? arc[p] : 0;
    let cell = place[p] * size + place[pickup];
    const added = distance[cell];
    const arrival = earliest[p] + service[p] + duration[cell];
    if (arrival > windowTo[w] + epsilon || !this.carries(pickup, p, v)) return;

    // The walk: the visit reached, its start of service, and the part of the route up to it by duration.
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
        const longer =
          added +
          walked +
          distance[toDelivery] +
          distance[onward] -
          savedFirst -
          (at === pickup || !used ? 0 : arc[at]);
        let cost = longer * model.perDistance[v] + opening;
        let fits = longer <= remainingDistance;
        if (fits && timed) {
          const shift = time + duration[toDelivery];
          const partTime = shift + Math.max(0, windowFrom[x] - shift - late) + service[delivery];
          const partLate = Math.min(windowTo[x] - shift, late);
          const join = partTime + duration[onward];
          const whole = join + Math.max(0, state.tailEarly[s] - join - partLate) + state.tailDuration[s];
          fits = whole <= model.maxDuration[v] + epsilon;
          cost += (whole - state.duration[v]) * model.perDuration[v];
        }
        if (fits && cost < this.bestCost) {
          this.bestCost = cost;
          this.bestBehind = p;
          this.bestWindow = w;
          this.bestBehindDelivery = at;
          this.bestWindowDelivery = x;
        }
      }
      // On to visit s, with the goods still on board.
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

  /** Whether the goods of a shipment fit beside the load with which the vehicle leaves a visit. */
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
