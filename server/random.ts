/** Randomness, behind a seam, and the ids made from it. */
import { randomBytes } from 'node:crypto';

export interface Random {
  bytes(count: number): Buffer;
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
};

/** Crockford's alphabet in lower case: no letter is mistaken for a digit, and every id passes the rule for ids. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Random text of the id alphabet, 5 bits a character. */
export function randomText(random: Random, characters: number): string {
  let text = '';
  for (const byte of random.bytes(characters)) text += ALPHABET[byte & 31];
  return text;
}

/** An id of ours: what it is, then 80 random bits. */
export function makeId<T extends string>(random: Random, prefix: string): T {
  return `${prefix}-${randomText(random, 16)}` as T;
}
