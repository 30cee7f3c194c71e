/**
 * Stores routes as they were before a step, so that a rejected step can be undone. Invariant: a route is stored before its
 * first change in the step, and undoing restores its order, windows and stamp, so that costs computed for it are valid
 * again.
 */
import type { State } from './state.ts';

export class Undo {
  private readonly state: State;
  private readonly marks: Float64Array;
  private readonly stored: Int32Array;
  private readonly begin: Int32Array;
  private readonly stamps: Float64Array;
  private readonly stops: Int32Array;
  private readonly windows: Int32Array;
  private storedCount = 0;
  private stopCount = 0;
  private step = 1;

  constructor(state: State) {
    const { stopCount, vehicleCount } = state.model;
    this.state = state;
    this.marks = new Float64Array(vehicleCount);
    this.stored = new Int32Array(vehicleCount);
    this.begin = new Int32Array(vehicleCount + 1);
    this.stamps = new Float64Array(vehicleCount);
    this.stops = new Int32Array(stopCount);
    this.windows = new Int32Array(stopCount);
  }

  /** Starts a new step; what was kept for the last one is forgotten. */
  beginStep(): void {
    this.step++;
    this.storedCount = 0;
    this.stopCount = 0;
  }

  hasSaved(vehicle: number): boolean {
    return this.marks[vehicle] === this.step;
  }

  saveRoute(vehicle: number): void {
    if (this.hasSaved(vehicle)) return;
    const { state } = this;
    this.marks[vehicle] = this.step;
    this.stored[this.storedCount] = vehicle;
    this.stamps[this.storedCount] = state.stamp[vehicle];
    const last = state.firstVisit(vehicle) + 1;
    for (let s = state.next[last - 1]; s !== last; s = state.next[s]) {
      this.windows[this.stopCount] = state.window[s];
      this.stops[this.stopCount++] = s;
    }
    this.begin[++this.storedCount] = this.stopCount;
  }

  /** Takes the whole step back. */
  undoStep(): void {
    for (let i = 0; i < this.storedCount; i++) this.clear(this.stored[i]);
    for (let i = 0; i < this.storedCount; i++) this.restore(i);
  }

  /** Restores one route whose stops are on no other route yet. */
  restoreRoute(vehicle: number): void {
    this.clear(vehicle);
    this.restore(this.stored.subarray(0, this.storedCount).indexOf(vehicle));
  }

  private clear(vehicle: number): void {
    const { state } = this;
    const last = state.firstVisit(vehicle) + 1;
    for (let s = state.next[last - 1]; s !== last; ) {
      const follower = state.next[s];
      state.remove(s);
      s = follower;
    }
  }

  private restore(i: number): void {
    const { state } = this;
    const vehicle = this.stored[i];
    let behind = state.firstVisit(vehicle);
    for (let j = this.begin[i]; j < this.begin[i + 1]; j++) {
      state.insert(this.stops[j], behind, this.windows[j]);
      behind = this.stops[j];
    }
    state.refresh(vehicle);
    state.stamp[vehicle] = this.stamps[i];
  }
}
