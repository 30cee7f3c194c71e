/**
 * Assignments of units to two sides with equal chances: all of them, or many random ones. A visitor gets sums over the
 * candidate's units, so a table holds the sums of each eight units.
 */
import { RandomGenerator } from './random-generator.ts';

/**
 * Gets one assignment: the number of units it assigns to the candidate, the sum of their values, and how many of them the
 * candidate had in the observed assignment.
 */
export type VisitAssignment = (units: number, sum: number, shared: number) => void;

const BITS = 8;
const MASKS = 1 << BITS;

/** The assignments of one list of units. */
export class Assignments {
  private readonly count: number;
  private readonly sums: Float64Array;
  private readonly units: Uint8Array;
  private readonly shared: Uint8Array;

  /** `observed` holds 1 for the units that the candidate had. */
  constructor(values: Float64Array, observed: Uint8Array) {
    this.count = values.length;
    const entries = this.chunks * MASKS;
    this.sums = new Float64Array(entries);
    this.units = new Uint8Array(entries);
    this.shared = new Uint8Array(entries);
    for (let entry = 0; entry < entries; entry += 1) {
      const mask = entry % MASKS;
      if (mask === 0) continue;
      const unit = Math.floor(entry / MASKS) * BITS + Math.log2(mask & -mask);
      const rest = entry - (mask & -mask);
      this.sums[entry] = (this.sums[rest] ?? 0) + (values[unit] ?? 0);
      this.units[entry] = (this.units[rest] ?? 0) + 1;
      this.shared[entry] = (this.shared[rest] ?? 0) + (observed[unit] ?? 0);
    }
  }

  private get chunks(): number {
    return Math.ceil(this.count / BITS);
  }

  /** Visits every assignment with a unit on both sides. Works for at most 30 units, because a mask has 32 bits. */
  visitAll(visit: VisitAssignment): void {
    const masks = new Uint8Array(this.chunks);
    for (let assignment = 1; assignment < 2 ** this.count - 1; assignment += 1) {
      for (let chunk = 0; chunk < masks.length; chunk += 1) masks[chunk] = assignment >>> (chunk * BITS);
      this.visit(masks, visit);
    }
  }

  /** Visits `count` random assignments with a unit on both sides; it draws again when a side has none. */
  visitRandom(count: number, seed: string, visit: VisitAssignment): void {
    const generator = new RandomGenerator(`assignments ${seed}`);
    const masks = new Uint8Array(this.chunks);
    const lastMask = (1 << (this.count - (this.chunks - 1) * BITS)) - 1;
    for (let drawn = 0; drawn < count; ) {
      for (let chunk = 0; chunk < masks.length; chunk += 1) masks[chunk] = generator.bits() >>> 24;
      masks[masks.length - 1] = (masks[masks.length - 1] ?? 0) & lastMask;
      if (this.visit(masks, visit)) drawn += 1;
    }
  }

  /** Visits one assignment. Returns false, without a visit, when a side has no unit. */
  private visit(masks: Uint8Array, visit: VisitAssignment): boolean {
    let units = 0;
    let sum = 0;
    let shared = 0;
    for (let chunk = 0; chunk < masks.length; chunk += 1) {
      const entry = chunk * MASKS + (masks[chunk] ?? 0);
      units += this.units[entry] ?? 0;
      sum += this.sums[entry] ?? 0;
      shared += this.shared[entry] ?? 0;
    }
    if (units === 0 || units === this.count) return false;
    visit(units, sum, shared);
    return true;
  }
}
