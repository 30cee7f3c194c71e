/** The sign flips of a test over independent units (paired/sign-flips/sign-flips.ts). */
import { RandomGenerator } from '../../platform/random-generator.ts';
import { sum } from './numbers.ts';

/** Up to so many units, all flips are enumerated. Above, flips are drawn. */
export const ENUMERATED_UNITS_MAX = 14;
/** Number of drawn flips, besides the observed signs: they take as long as all flips of 14 units. */
export const DRAWN_FLIPS = 7999;

const BITS_PER_DRAW = 32;
const BITS_PER_BYTE = 8;

/** Flips of some units, one after the other. Bit k of byte b of a flip is 1 where unit 8 b + k changes its sign. */
export interface Flips {
  count: number;
  bytesPerFlip: number;
  bytes: Uint8Array;
}

/**
 * Draws flips, and retains the latest ones: all indicators of an experiment have about as many units that differ. The seed is
 * the same for all experiments: equal runs have equal p-values, and a repeated analysis is no second chance.
 */
export class FlipSource {
  private latest: { units: number; flips: Flips } | null = null;

  /** Returns all flips of few units, one of each pair of opposites, or drawn ones. */
  flip(units: number): Flips {
    if (this.latest?.units === units) return this.latest.flips;
    const flips = units <= ENUMERATED_UNITS_MAX ? enumerateFlips(units) : drawFlips(units);
    this.latest = { units, flips };
    return flips;
  }
}

function drawFlips(units: number): Flips {
  const generator = new RandomGenerator('flips');
  const bytesPerFlip = Math.ceil(units / BITS_PER_BYTE);
  const bytes = new Uint8Array(DRAWN_FLIPS * bytesPerFlip);
  let [bits, left] = [0, 0];
  for (let start = 0; start < bytes.length; start += bytesPerFlip)
    for (let unit = 0; unit < units; unit += 1) {
      if (left === 0) [bits, left] = [generator.bits(), BITS_PER_DRAW];
      const place = start + (unit >> 3);
      bytes[place] = (bytes[place] ?? 0) | ((~bits & 1) << (unit & 7));
      bits >>>= 1;
      left -= 1;
    }
  return { count: DRAWN_FLIPS, bytesPerFlip, bytes };
}

/** Lists every flip of so many units that leaves the first sign: the others are their opposites. */
function enumerateFlips(units: number): Flips {
  const bytesPerFlip = Math.ceil(units / BITS_PER_BYTE);
  const count = 2 ** (units - 1);
  const bytes = new Uint8Array(count * bytesPerFlip);
  for (let flip = 0; flip < count; flip += 1)
    for (let byte = 0; byte < bytesPerFlip; byte += 1)
      bytes[flip * bytesPerFlip + byte] = (flip << 1) >> (BITS_PER_BYTE * byte);
  return { count, bytesPerFlip, bytes };
}

/** Returns the sum of the values after each flip. Sums of eight values are looked up, which is eight times as fast. */
export function sumFlipped(values: Float64Array, { count, bytesPerFlip, bytes }: Flips): Float64Array {
  const tables = Float64Array.from({ length: bytesPerFlip << BITS_PER_BYTE });
  for (let byte = 0; byte < bytesPerFlip; byte += 1) {
    const table = tables.subarray(byte << BITS_PER_BYTE, (byte + 1) << BITS_PER_BYTE);
    const own = values.subarray(BITS_PER_BYTE * byte, BITS_PER_BYTE * (byte + 1));
    table[0] = sum(own);
    for (let pattern = 1; pattern < table.length; pattern += 1) {
      const highest = 31 - Math.clz32(pattern);
      table[pattern] = (table[pattern ^ (1 << highest)] ?? 0) - 2 * (own[highest] ?? 0);
    }
  }
  const sums = new Float64Array(count);
  for (let flip = 0; flip < count; flip += 1) {
    let total = 0;
    for (let byte = 0; byte < bytesPerFlip; byte += 1)
      total += tables[(byte << BITS_PER_BYTE) | (bytes[flip * bytesPerFlip + byte] ?? 0)] ?? 0;
    sums[flip] = total;
  }
  return sums;
}
