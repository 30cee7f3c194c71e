/**
 * Inserts unplanned stops, one after the other in a randomly chosen order, each where it adds least to the cost. It
 * sometimes skips a route on purpose (a "blink"), so that the search does not build the same plan again. Source: Christiaens
 * and Vanden Berghe, "Slack induction by string removals for vehicle routing problems", 2020.
 */
import type { Insertion } from './insertion.ts';
import type { Model } from './model.ts';
import type { Random } from './random.ts';
import type { State } from './state.ts';
import type { Undo } from './undo.ts';

/** One step tries at most this many stops that were already unplanned, besides those just removed. */
const RETRIED_STOPS_MAX = 24;

type Parts = {
  state: State;
  undo: Undo;
  insertion: Insertion;
  random: Random;
  /** Probability that a route is skipped, from 0 to 1. */
  blinkRate: number;
};

export class Recreate {
  private readonly state: State;
  private readonly undo: Undo;
  private readonly insertion: Insertion;
  private readonly random: Random;
  private readonly blinkRate: number;
  private readonly orders: { weight: number; keys: Float64Array | null }[];
  private readonly totalWeight: number;
  private readonly list: Int32Array;
  private readonly keys: Float64Array;
  private blinkIn = 0;
  private readonly marks: Float64Array;
  private mark = 0;
  // The best place of the current stop.
  private least = Infinity;
  private chosen = -1;

  constructor({ state, undo, insertion, random, blinkRate }: Parts) {
    this.state = state;
    this.undo = undo;
    this.insertion = insertion;
    this.random = random;
    this.blinkRate = blinkRate;
    this.orders = buildOrders(state.model);
    this.totalWeight = this.orders.reduce((sum, order) => sum + order.weight, 0);
    this.list = new Int32Array(state.model.stopCount);
    this.keys = new Float64Array(state.model.stopCount);
    this.marks = new Float64Array(state.model.vehicleCount);
    this.nextBlink();
  }

  /**
   * Places unplanned stops. `retained` is the number of unplanned stops before the step. With `generous`, it places
   * optional stops even if that costs more than leaving them out. With `keys`, it places stops in the order of their keys
   * instead of a random one of the usual orders.
   */
  insertUnplanned(retained: number, generous: boolean, keys: Float64Array | null = null): void {
    const count = this.collect(retained);
    this.sort(count, keys ?? this.pickOrder());
    for (let i = 0; i < count; i++) this.placeBest(this.list[i], generous);
  }

  private placeBest(stop: number, generous: boolean): void {
    const { state } = this;
    const { idle, model, routeByStop, active } = state;
    const { partner, penalty, related: kin, relatedCount: kinCount } = model;
    const worth = penalty[stop] + (partner[stop] >= 0 ? penalty[partner[stop]] : 0);
    this.least = generous ? Infinity : worth;
    this.chosen = -1;
    const mark = ++this.mark;
    for (let i = stop * kinCount; i < (stop + 1) * kinCount; i++) {
      const vehicle = routeByStop[kin[i]];
      if (vehicle < 0 || this.marks[vehicle] === mark) continue;
      this.marks[vehicle] = mark;
      if (--this.blinkIn <= 0) this.nextBlink();
      else this.consider(stop, vehicle);
    }
    for (let c = 0; c < idle.length; c++) {
      if (idle[c].count > 0) this.consider(stop, idle[c].items[idle[c].count - 1]);
    }
    // If the stop fits no likely route, it may fit another, such as that of the only vehicle with a skill.
    if (this.chosen < 0) {
      for (let i = 0; i < active.count; i++) {
        if (this.marks[active.items[i]] !== mark) this.consider(stop, active.items[i]);
      }
    }
    if (this.chosen < 0) return;
    this.undo.saveRoute(this.chosen);
    this.insertion.place(stop, this.chosen);
  }

  private consider(stop: number, vehicle: number): void {
    const { allowed, vehicleCount } = this.state.model;
    if (allowed[stop * vehicleCount + vehicle] === 0) return;
    const cost = this.insertion.insertionCost(stop, vehicle);
    if (cost >= this.least) return;
    this.least = cost;
    this.chosen = vehicle;
  }

  /** Fills `list` with the stops to place, a shipment once by its pickup; returns their number. */
  private collect(retained: number): number {
    const { items, count } = this.state.unplanned;
    const { isDelivery } = this.state.model;
    const old = Math.min(retained, count);
    let listed = 0;
    for (let i = old; i < count; i++) if (isDelivery[items[i]] === 0) this.list[listed++] = items[i];
    const skip = old > RETRIED_STOPS_MAX ? this.random.below(old) : 0;
    for (let i = 0; i < Math.min(old, RETRIED_STOPS_MAX); i++) {
      const stop = items[(skip + i) % old];
      if (isDelivery[stop] === 0) this.list[listed++] = stop;
    }
    return listed;
  }

  /** Returns the keys of one of the orders, chosen by weight; null for a random order. */
  private pickOrder(): Float64Array | null {
    let pick = this.random.unit() * this.totalWeight;
    let order = this.orders[0];
    for (const candidate of this.orders) {
      order = candidate;
      pick -= candidate.weight;
      if (pick < 0) break;
    }
    return order.keys;
  }

  private sort(count: number, order: Float64Array | null): void {
    const { list, keys, random } = this;
    for (let i = 0; i < count; i++) keys[list[i]] = order ? order[list[i]] : random.unit();
    for (let i = 1; i < count; i++) {
      const stop = list[i];
      const key = keys[stop];
      let j = i - 1;
      while (j >= 0 && keys[list[j]] > key) {
        list[j + 1] = list[j];
        j--;
      }
      list[j + 1] = stop;
    }
  }

  /** Draws the gap to the next blink, geometrically distributed: equal to a coin for each route, with fewer draws. */
  private nextBlink(): void {
    this.blinkIn =
      this.blinkRate > 0
        ? 1 + Math.floor(Math.log(1 - this.random.unit()) / Math.log(1 - this.blinkRate))
        : Infinity;
  }
}

/** Builds the orders in which stops are placed: random, demanding first, far first, near first, and by time windows. */
function buildOrders(model: Model): { weight: number; keys: Float64Array | null }[] {
  const { problem, stopCount, dimensions, windowFirst, windowFrom, windowTo } = model;
  const stops = Array.from({ length: stopCount }, (_, i) => i);
  const depots = problem.vehicles.flatMap(({ start, end }) => [start, end]).filter((place) => place >= 0);
  const distinct = [...new Set(depots)];
  const reach = stops.map((i) =>
    distinct.reduce(
      (least, place) => Math.min(least, model.distance[place * model.size + problem.stops[i].place]),
      distinct.length > 0 ? Infinity : 0,
    ),
  );
  const scale = Array.from({ length: dimensions }, (_, k) =>
    Math.max(1e-9, ...stops.map((i) => amount(model, i, k))),
  );
  const orders: { weight: number; keys: Float64Array | null }[] = [
    { weight: 4, keys: null },
    { weight: 2, keys: Float64Array.from(reach, (value) => -value) },
    { weight: 1, keys: Float64Array.from(reach) },
  ];
  if (dimensions > 0) {
    orders.push({
      weight: 4,
      keys: Float64Array.from(
        stops,
        (i) => -scale.reduce((sum, most, k) => sum + amount(model, i, k) / most, 0),
      ),
    });
  }
  if (problem.stops.some((stop) => stop.windows.some(({ from, to }) => from > -Infinity || to < Infinity))) {
    const opening = (i: number) => windowFrom[windowFirst[i]];
    const closing = (i: number) => windowTo[windowFirst[i + 1] - 1];
    orders.push({ weight: 2, keys: Float64Array.from(stops, (i) => closing(i) - opening(i)) });
    orders.push({ weight: 2, keys: Float64Array.from(stops, opening) });
    orders.push({ weight: 2, keys: Float64Array.from(stops, (i) => -closing(i)) });
  }
  const important = stops.map((i) => -model.penalty[i]);
  if (important.some((value) => value !== important[0]))
    orders.push({ weight: 3, keys: Float64Array.from(important) });
  return orders;
}

function amount(model: Model, stop: number, k: number): number {
  const { problem, deliver, pickedUp, dimensions } = model;
  const carried = Math.max(deliver[stop * dimensions + k], pickedUp[stop * dimensions + k]);
  return problem.dimensions.length > 0 ? carried : 0;
}
