/**
 * A seeded random generator for resampling and simulation: xoshiro128** of Blackman and Vigna, with splitmix32 for the initial
 * state. The same seed produces the same draws on every machine, so that a result is reproducible. It is for statistics only:
 * the draws are predictable.
 */
export class RandomGenerator {
  private a: number;
  private b: number;
  private c: number;
  private d: number;

  /** The seed is a text, or the four words of the state, of which at least one must not be 0. */
  constructor(seed: string | readonly [number, number, number, number]) {
    [this.a, this.b, this.c, this.d] = typeof seed === 'string' ? deriveState(seed) : seed;
  }

  /** Returns 32 random bits as an unsigned number. */
  bits(): number {
    const scrambled = Math.imul(rotate(Math.imul(this.b, 5), 7), 9);
    const shifted = this.b << 9;
    this.c ^= this.a;
    this.d ^= this.b;
    this.b ^= this.c;
    this.a ^= this.d;
    this.c ^= shifted;
    this.d = rotate(this.d, 11);
    return scrambled >>> 0;
  }

  /** Returns an integer from 0 to `end` - 1. For an `end` in the thousands the bias of scaling is below 1e-5. */
  integerBelow(end: number): number {
    return Math.floor((this.bits() / 4294967296) * end);
  }

  /** Returns a number in (0, 1), never one of the ends. */
  uniform(): number {
    return (this.bits() + 0.5) / 4294967296;
  }

  /** Returns a standard normal number, by the method of Box and Muller. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }
}

function deriveState(seed: string): [number, number, number, number] {
  let state = hash(seed);
  const next = () => {
    state = (state + 0x9e3779b9) | 0;
    return mix(state);
  };
  // Splitmix32 returns each number once in its period, so that at most one of the four is 0.
  return [next(), next(), next(), next()];
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/** Applies the finalizer of MurmurHash3 for 32 bits. */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** Returns the FNV-1a hash of the UTF-16 units of a text. */
function hash(text: string): number {
  let hashed = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hashed = Math.imul(hashed ^ text.charCodeAt(index), 0x01000193);
  }
  return hashed;
}

/** Returns the items in random order (Fisher and Yates). */
export function shuffle<Item>(items: readonly Item[], random: RandomGenerator): Item[] {
  const remaining = [...items];
  const shuffled: Item[] = [];
  while (remaining.length > 0) shuffled.push(...remaining.splice(random.integerBelow(remaining.length), 1));
  return shuffled;
}
