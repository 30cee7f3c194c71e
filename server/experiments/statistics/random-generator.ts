/**
 * Seeded randomness for resampling: xoshiro128** of Blackman and Vigna, its four words filled by splitmix32 from a text.
 * The same text gives the same draws on every machine, so that a result can be computed again and is the same. It is for
 * statistics alone: whoever knows some draws can tell the next ones.
 */
export class RandomGenerator {
  private a: number;
  private b: number;
  private c: number;
  private d: number;

  /** From a text, or from the four words themselves, which must not all be 0. */
  constructor(seed: string | readonly [number, number, number, number]) {
    [this.a, this.b, this.c, this.d] = typeof seed === 'string' ? wordsOf(seed) : seed;
  }

  /** 32 random bits as an unsigned number. */
  bits(): number {
    const scrambled = Math.imul(rotate(Math.imul(this.b, 5), 7), 9);
    const kept = this.b << 9;
    this.c ^= this.a;
    this.d ^= this.b;
    this.b ^= this.c;
    this.a ^= this.d;
    this.c ^= kept;
    this.d = rotate(this.d, 11);
    return scrambled >>> 0;
  }

  /** A whole number from 0 to `end` - 1. For the thousands that are drawn from here the error of scaling is below 1e-5. */
  integerBelow(end: number): number {
    return Math.floor((this.bits() / 4294967296) * end);
  }

  /** A number in (0, 1), never one of its ends. */
  uniform(): number {
    return (this.bits() + 0.5) / 4294967296;
  }

  /** A standard normal number, by Box and Muller. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }
}

function wordsOf(seed: string): [number, number, number, number] {
  let state = hash(seed);
  const next = () => {
    state = (state + 0x9e3779b9) | 0;
    return mix(state);
  };
  // Splitmix32 gives each number once in its period, so that at most one of the four is 0.
  return [next(), next(), next(), next()];
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/** The last step of MurmurHash3 for 32 bits. */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** FNV-1a over the UTF-16 units of a text. */
function hash(text: string): number {
  let hashed = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hashed = Math.imul(hashed ^ text.charCodeAt(index), 0x01000193);
  }
  return hashed;
}
