/**
 * All ways, or many drawn ways, to give units to two sides with equal chances each. What is asked of an assignment is a sum
 * over its units, so sums are looked up for eight units at a time.
 */
import { RandomGenerator } from './random-generator.ts';

/** Of one assignment, over the units it gives to the candidate: how many, their values' sum, how many were its own. */
export type VisitAssignment = (units: number, sum: number, observed: number) => void;

const BITS = 8;
const MASKS = 1 << BITS;

export class Assignments {
  private readonly count: number;
  private readonly sums: Float64Array;
  private readonly units: Uint8Array;
  private readonly own: Uint8Array;

  /** `observed` holds 1 for the units that the candidate did have. */
  constructor(values: Float64Array, observed: Uint8Array) {
    this.count = values.length;
    const entries = this.chunks * MASKS;
    this.sums = new Float64Array(entries);
    this.units = new Uint8Array(entries);
    this.own = new Uint8Array(entries);
    for (let entry = 0; entry < entries; entry += 1) {
      const mask = entry % MASKS;
      if (mask === 0) continue;
      const unit = Math.floor(entry / MASKS) * BITS + Math.log2(mask & -mask);
      const rest = entry - (mask & -mask);
      this.sums[entry] = (this.sums[rest] ?? 0) + (values[unit] ?? 0);
      this.units[entry] = (this.units[rest] ?? 0) + 1;
      this.own[entry] = (this.own[rest] ?? 0) + (observed[unit] ?? 0);
    }
  }

  private get chunks(): number {
    return Math.ceil(this.count / BITS);
  }

  /** Every assignment with a unit on both sides; for at most 30 units. */
  visitAll(visit: VisitAssignment): void {
    const masks = new Uint8Array(this.chunks);
    for (let assignment = 1; assignment < 2 ** this.count - 1; assignment += 1) {
      for (let chunk = 0; chunk < masks.length; chunk += 1) masks[chunk] = assignment >>> (chunk * BITS);
      this.look(masks, visit);
    }
  }

  /** As many drawn assignments with a unit on both sides; those without are drawn again. */
  visitRandom(times: number, seed: string, visit: VisitAssignment): void {
    const generator = new RandomGenerator(`assignments ${seed}`);
    const masks = new Uint8Array(this.chunks);
    const lastMask = (1 << (this.count - (this.chunks - 1) * BITS)) - 1;
    for (let drawn = 0; drawn < times; ) {
      for (let chunk = 0; chunk < masks.length; chunk += 1) masks[chunk] = generator.bits() >>> 24;
      masks[masks.length - 1] = (masks[masks.length - 1] ?? 0) & lastMask;
      if (this.look(masks, visit)) drawn += 1;
    }
  }

  /** False, and not visited, when one side has no unit. */
  private look(masks: Uint8Array, visit: VisitAssignment): boolean {
    let units = 0;
    let sum = 0;
    let own = 0;
    for (let chunk = 0; chunk < masks.length; chunk += 1) {
      const entry = chunk * MASKS + (masks[chunk] ?? 0);
      units += this.units[entry] ?? 0;
      sum += this.sums[entry] ?? 0;
      own += this.own[entry] ?? 0;
    }
    if (units === 0 || units === this.count) return false;
    visit(units, sum, own);
    return true;
  }
}
