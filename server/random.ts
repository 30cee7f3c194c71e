/** Randomness, behind a seam, and the ids made from it. */
import { randomBytes } from 'node:crypto';

export interface Random {
  bytes(count: number): Buffer;
  /** Milliseconds since the epoch, for the order of ids alone. */
  nowMs(): number;
}

const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);

/** Asks the system for many at once: a call for each id took a twentieth of the time of creating a run. */
export const systemRandom: Random = {
  bytes(count) {
    if (count > POOL_BYTES) return randomBytes(count);
    if (pool.length < count) pool = randomBytes(POOL_BYTES);
    const taken = Buffer.from(pool.subarray(0, count));
    // What was given is wiped, so that no key lies here a second time.
    pool.fill(0, 0, count);
    pool = pool.subarray(count);
    return taken;
  },
  nowMs: () => Date.now(),
};

/** Crockford's alphabet in lower case: no letter is mistaken for a digit, and every id passes the rule for ids. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Random text of the id alphabet, 5 bits a character. */
export function randomText(random: Random, characters: number): string {
  let text = '';
  for (const byte of random.bytes(characters)) text += ALPHABET[byte & 31];
  return text;
}

/** 45 bits of milliseconds last until the year 3084. */
const INSTANT_CHARACTERS = 9;

function instantText(instant: number): string {
  let text = '';
  for (
    let rest = Math.floor(instant), left = INSTANT_CHARACTERS;
    left > 0;
    left -= 1, rest = Math.floor(rest / 32)
  ) {
    text = ALPHABET[rest % 32] + text;
  }
  return text;
}

/**
 * An id of ours: what it is, when it was made, then 50 random bits. Ids made one after the other lie one after the other
 * in every index, so that a million rows cost an insert no more than a thousand.
 */
export function makeId<T extends string>(random: Random, prefix: string): T {
  return `${prefix}-${instantText(random.nowMs())}${randomText(random, 10)}` as T;
}

/** Ids of what one process counts, such as requests: a random id of its own, and the number. */
export function createIdSequence(random: Random, prefix: string): () => string {
  const process = makeId<string>(random, prefix);
  let count = 0;
  return () => {
    count += 1;
    return `${process}-${count}`;
  };
}
