/**
 * The search: take some stops out, put them back in, keep the result if it is better or, while it is still warm, not
 * much worse. The best plan met is kept apart. The temperature falls geometrically with the share of the budget used:
 * of the iterations when they are limited, else of the time. With limited iterations and no time limit the result
 * depends on nothing but the problem, the settings and the seed.
 */
import { AbsenceCounters } from './absence-counters.ts';
import { placeInitialStops } from './initial-routes.ts';
import { Insertion } from './insertion.ts';
import type { Model } from './model.ts';
import { Random } from './random.ts';
import { Recreate } from './recreate.ts';
import { Ruin } from './ruin.ts';
import { State } from './state.ts';
import { Undo } from './undo.ts';

export type SearchSettings = {
  /** Seconds of search; 0 means no limit. */
  duration: number;
  /** Iterations of search; 0 means no limit. */
  iterations: number;
  seed: number;
  /** Temperatures at the beginning and the end, as shares of the average cost of travel per stop in the first plan. */
  startTemperature: number;
  endTemperature: number;
  averageRemoved: number;
  longestString: number;
  blinkRate: number;
};

export const defaultSettings: SearchSettings = {
  duration: 2,
  iterations: 0,
  seed: 1,
  startTemperature: 0.7,
  endTemperature: 0.015,
  averageRemoved: 10,
  longestString: 10,
  blinkRate: 0.01,
};

/** A plan as recorded: for each vehicle its stops in order, with the window each was placed in. */
export type Plan = { value: number; routes: { stop: number; window: number }[][] };

/** A point of the incumbent's history. */
export type Incumbent = { iteration: number; seconds: number; value: number };

/** How many iterations pass between two looks at the clock. */
const clockEvery = 16;

/** Up to this share of the budget is spent on getting mandatory stops in before anything else. */
const tightShare = 0.4;

/** This share of the steps places optional stops even at a loss, so that groups that only pay together are found. */
const generousRate = 0.1;

/** This share of the steps empties a whole route, when vehicles cost something by themselves. */
const emptyingRate = 0.02;

export class Search {
  readonly state: State;
  iteration = 0;
  best: Plan;
  history: Incumbent[] = [];
  /** Stops of the initial routes that could not be kept, by index. */
  readonly dropped: number[];
  private readonly settings: SearchSettings;
  private readonly now: () => number;
  private readonly random: Random;
  private readonly undo: Undo;
  private readonly ruin: Ruin;
  private readonly recreate: Recreate;
  private readonly hot: number;
  private readonly cold: number;
  private readonly activationMatters: boolean;
  private readonly optional: boolean;
  private readonly began: number;
  /** Present while the plan misses mandatory stops and there is still time to care for nothing else. */
  private absence: AbsenceCounters | null;
  private current: number;

  /** `now` gives seconds from any fixed point. */
  constructor(model: Model, settings: SearchSettings, now: () => number) {
    this.settings = settings;
    this.now = now;
    this.began = now();
    this.random = new Random(settings.seed);
    this.state = new State(model);
    this.undo = new Undo(this.state);
    const insertion = new Insertion(this.state);
    this.ruin = new Ruin(this.state, this.undo, this.random, settings);
    const { state, undo, random } = this;
    this.recreate = new Recreate({ state, undo, insertion, random, blinkRate: settings.blinkRate });
    this.dropped = placeInitialStops(this.state);
    this.undo.beginStep();
    this.recreate.insertUnplanned(0, false);
    this.state.recomputeSums();
    this.current = this.state.value();
    const perStop = (travelCost(this.state) || this.state.total || 1) / Math.max(1, model.stopCount);
    this.hot = settings.startTemperature * perStop;
    this.cold = settings.endTemperature * perStop;
    this.activationMatters = model.activation.some((cost) => cost > 0);
    this.optional = model.mandatory.includes(0);
    this.best = this.record();
    const absence = this.state.unplanned.count > 0 ? new AbsenceCounters(this.state) : null;
    this.absence = absence && absence.sumAbsences() > 0 ? absence : null;
  }

  elapsed(): number {
    return this.now() - this.began;
  }

  /** Searches on for at most `seconds`; true when the budget is used up. */
  run(seconds: number): boolean {
    const { duration, iterations } = this.settings;
    const until = this.elapsed() + seconds;
    if (this.state.model.stopCount === 0) return true;
    let temperature = this.temperature(this.elapsed());
    for (;;) {
      if (iterations > 0 && this.iteration >= iterations) return true;
      if (this.iteration % clockEvery === 0) {
        const time = this.elapsed();
        if (duration > 0 && time >= duration) return true;
        if (time >= until) return false;
        temperature = this.temperature(time);
      }
      this.iteration++;
      this.step(temperature);
    }
  }

  private temperature(elapsed: number): number {
    const { duration, iterations } = this.settings;
    const used = Math.min(1, iterations > 0 ? this.iteration / iterations : elapsed / duration);
    if (this.absence && used > tightShare) {
      this.absence = null;
      this.current = this.state.value();
    }
    return this.hot * (this.cold / this.hot) ** used;
  }

  private step(temperature: number): void {
    const { state, random, undo, absence } = this;
    const retained = state.unplanned.count;
    const missing = absence ? absence.sumAbsences() : 0;
    const cost = state.total;
    undo.beginStep();
    this.change(absence, retained);
    const value = state.value();
    const allowance = -temperature * Math.log(random.unit() + 1e-300);
    if (absence) {
      const now = absence.sumAbsences();
      const accepted = now < missing || (now === missing && state.total < cost + allowance);
      this.keepBest(value);
      if (!accepted) undo.undoStep();
      this.current = state.value();
      if (absence.sumAbsences() === 0) this.absence = null;
      absence.countStep();
    } else if (value < this.current + allowance) {
      this.current = value;
      this.keepBest(value);
    } else {
      undo.undoStep();
    }
  }

  /** Takes stops out and puts them back, in one of several ways. `kept` stops were out before. */
  private change(absence: AbsenceCounters | null, retained: number): void {
    const { state, random } = this;
    if (this.activationMatters && state.active.count > 0 && random.unit() < emptyingRate) {
      this.ruin.removeRoute(state.active.items[random.below(state.active.count)]);
    } else {
      this.ruin.removeStrings();
    }
    const generous = this.optional && random.unit() < generousRate;
    const keys = absence && random.unit() < 0.5 ? absence.longestFirst : null;
    this.recreate.insertUnplanned(retained, generous, keys);
  }

  private keepBest(value: number): void {
    if (value >= this.best.value - 1e-7) return;
    this.state.recomputeSums();
    this.current = this.state.value();
    this.best = this.record();
  }

  private record(): Plan {
    const { state } = this;
    const routes: Plan['routes'] = [];
    for (let v = 0; v < state.model.vehicleCount; v++) {
      routes.push(state.listStops(v).map((stop) => ({ stop, window: state.window[stop] })));
    }
    const value = state.value();
    this.history.push({ iteration: this.iteration, seconds: this.elapsed(), value });
    return { value, routes };
  }
}

/** Returns the cost of driving in the current plan: the part of its cost that depends on the order of the stops. */
function travelCost(state: State): number {
  const { model, active } = state;
  let cost = 0;
  for (let i = 0; i < active.count; i++) {
    const v = active.items[i];
    const last = state.firstVisit(v) + 1;
    let time = 0;
    for (let visit = last - 1; visit !== last; visit = state.next[visit]) time += state.leg[visit];
    cost += model.perDistance[v] * state.distance[v] + model.perDuration[v] * time;
  }
  return cost;
}
