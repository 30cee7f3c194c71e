/** Random draws of a simulation: one stream for each purpose, so that fewer events change the fewest draws. */
import type { Random } from '../../server/platform/random.ts';
import { RandomGenerator } from '../../server/platform/random-generator.ts';

/** One stream of draws. */
export class Draws {
  readonly #generator: RandomGenerator;

  constructor(seed: string) {
    this.#generator = new RandomGenerator(seed);
  }

  /** Returns a number from 0 to below 1. */
  share(): number {
    return this.#generator.uniform();
  }

  /** Returns true with the probability. */
  happens(probability: number): boolean {
    return this.#generator.uniform() < probability;
  }

  /** Returns a number between the bounds. */
  between(least: number, most: number): number {
    return least + (most - least) * this.#generator.uniform();
  }

  /** Returns an integer from 0 to below `end`. */
  below(end: number): number {
    return this.#generator.integerBelow(end);
  }

  /** Returns one of the items. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('There is nothing to pick from.');
    return item;
  }

  /** Returns a duration of a few times the usual one at most, and rarely a much longer one. */
  duration(usualMs: number, { rareFactor = 50, rarity = 0.01 } = {}): number {
    const factor = this.happens(rarity) ? this.between(1, rareFactor) : this.between(0.2, 3);
    return Math.round(usualMs * factor * 1000) / 1000;
  }

  /** Fills a buffer. */
  bytes(count: number): Buffer {
    const bytes = Buffer.alloc(count);
    for (let at = 0; at < count; at += 1) bytes[at] = this.#generator.bits() & 255;
    return bytes;
  }
}

/** Returns randomness for a simulated process. */
export function createRandom(draws: Draws, now: () => number): Random {
  return { bytes: (count) => draws.bytes(count), nowMs: now };
}
