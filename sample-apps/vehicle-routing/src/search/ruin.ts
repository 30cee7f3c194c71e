/**
 * Removes stops from the plan so that they can be placed again: strings of consecutive stops from routes near one another.
 * Source: slack induction by string removals, Christiaens and Vanden Berghe 2020. Neighbouring gaps in neighbouring routes
 * let the recreate step find something better.
 */
import type { Random } from './random.ts';
import type { State } from './state.ts';
import type { Undo } from './undo.ts';

export type RuinSettings = {
  /** Average number of stops removed in one step. */
  averageRemoved: number;
  /** Longest string taken from one route. */
  longestString: number;
};

const splitRate = 0.5;
const splitGrowth = 0.01;

export class Ruin {
  private readonly state: State;
  private readonly undo: Undo;
  private readonly random: Random;
  private readonly settings: RuinSettings;
  private readonly string: Int32Array;

  constructor(state: State, undo: Undo, random: Random, settings: RuinSettings) {
    this.state = state;
    this.undo = undo;
    this.random = random;
    this.settings = settings;
    this.string = new Int32Array(state.model.stopCount);
  }

  /** Removes strings around a random stop. */
  removeStrings(): void {
    const { state, random, undo } = this;
    const { model, routeByStop, size } = state;
    const seed = random.below(model.stopCount);
    const planned = model.stopCount - state.unplanned.count;
    const average = state.active.count > 0 ? planned / state.active.count : 0;
    const longest = Math.min(this.settings.longestString, average);
    const most = (4 * this.settings.averageRemoved) / (1 + longest) - 1;
    const routes = Math.floor(random.unit() * most + 1);
    let ruined = 0;
    for (let k = -1; k < model.nearCount && ruined < routes; k++) {
      const stop = k < 0 ? seed : model.near[seed * model.nearCount + k];
      const vehicle = routeByStop[stop];
      if (vehicle < 0 || undo.hasSaved(vehicle)) continue;
      const limit = Math.min(size[vehicle], longest);
      const length = Math.floor(random.unit() * limit + 1);
      undo.saveRoute(vehicle);
      this.cutAround(stop, vehicle, Math.min(length, size[vehicle]));
      ruined++;
    }
  }

  /** Empties one route; the way to need one vehicle less. */
  removeRoute(vehicle: number): void {
    this.undo.saveRoute(vehicle);
    this.cutAround(this.state.next[this.state.firstVisit(vehicle)], vehicle, this.state.size[vehicle]);
  }

  /** Removes `length` stops of the route, the given one among them, perhaps with a stretch preserved in the middle. */
  private cutAround(stop: number, vehicle: number, length: number): void {
    const { state, random, string } = this;
    const size = state.size[vehicle];
    let preserved = 0;
    if (length > 1 && length < size && random.unit() < splitRate) {
      preserved = 1;
      while (length + preserved < size && random.unit() > splitGrowth) preserved++;
      if (length + preserved > size) preserved = size - length;
    }
    const span = length + preserved;
    const at = state.position[stop] - 1;
    const lowest = Math.max(0, at - span + 1);
    const highest = Math.min(at, size - span);
    const begin = lowest + random.below(highest - lowest + 1);
    let visit = stop;
    for (let i = at; i > begin; i--) visit = state.prev[visit];
    const gap = preserved > 0 ? 1 + random.below(length - 1) : span;
    let count = 0;
    for (let i = 0; i < span; i++) {
      if (i < gap || i >= gap + preserved) string[count++] = visit;
      visit = state.next[visit];
    }
    this.removeStops(vehicle, count);
  }

  /** Removes what is in `string`, but not fixed stops, and whole shipments only. */
  private removeStops(vehicle: number, count: number): void {
    const { state, string, undo } = this;
    const { fixed, partner } = state.model;
    for (let i = 0; i < count; i++) {
      const stop = string[i];
      const other = partner[stop];
      if (state.routeByStop[stop] < 0 || fixed[stop] === 1 || (other >= 0 && fixed[other] === 1)) continue;
      state.remove(stop);
      if (other >= 0) state.remove(other);
    }
    // Where the matrices break the triangle inequality, leaving a stop out can make the rest late.
    if (!state.refresh(vehicle)) undo.restoreRoute(vehicle);
  }
}
