/**
 * Plans mandatory stops when the fleet is tight. While some are missing that could be served alone, the search compares
 * steps by the number of steps that their unplanned stops have been out, not by cost. So the weight of stops that are hard
 * to place grows until easier ones give way (the fleet minimisation of SISR). Invariant: stops that no vehicle could serve
 * even alone never count, because this phase would never end.
 */
import { Insertion } from './insertion.ts';
import type { Model } from './model.ts';
import { State } from './state.ts';

export class AbsenceCounters {
  private readonly state: State;
  /** Steps each stop was out, plus one; 0 for stops that do not count. */
  private readonly weight: Float64Array;
  /** The weights negated: sorted by them, the stops that were out longest come first. */
  readonly longestFirst: Float64Array;

  constructor(state: State) {
    const possible = servable(state.model);
    this.state = state;
    this.weight = Float64Array.from(possible, (one, stop) => one * state.model.mandatory[stop]);
    this.longestFirst = this.weight.map((weight) => -weight);
  }

  /** How much is missing in the plan as it stands; 0 when all that counts is planned. */
  sumAbsences(): number {
    const { items, count } = this.state.unplanned;
    let sum = 0;
    for (let i = 0; i < count; i++) sum += this.weight[items[i]];
    return sum;
  }

  /** Notes that another step has passed with these stops out. */
  countStep(): void {
    const { items, count } = this.state.unplanned;
    for (let i = 0; i < count; i++) {
      const stop = items[i];
      if (this.weight[stop] > 0) this.longestFirst[stop] = -++this.weight[stop];
    }
  }
}

/** 1 for stops (of shipments: both stops) that some vehicle could serve if it had nothing else to do. */
function servable(model: Model): Uint8Array {
  const insertion = new Insertion(new State(model));
  const { vehicleCount, allowed, isDelivery, partner } = model;
  const possible = new Uint8Array(model.stopCount);
  for (let stop = 0; stop < possible.length; stop++) {
    const lead = isDelivery[stop] === 1 ? partner[stop] : stop;
    for (let v = 0; v < vehicleCount && possible[stop] === 0; v++) {
      if (allowed[stop * vehicleCount + v] === 1 && insertion.insertionCost(lead, v) < Infinity)
        possible[stop] = 1;
    }
  }
  return possible;
}
