/** Randomness, as an interface that tests replace, and ids. */
import { randomBytes } from 'node:crypto';

/** A source of random bytes. */
export interface Random {
  bytes(count: number): Buffer;
  /** Milliseconds since the epoch, only for the order of ids. */
  nowMs(): number;
}

/** One system call for each id took a twentieth of the time of creating a run, so one call fetches bytes for many ids. */
const POOL_BYTES = 4096;

function createSystemRandom(): Random {
  let pool = Buffer.alloc(0);
  return {
    bytes(count) {
      if (count > POOL_BYTES) return randomBytes(count);
      if (pool.length < count) pool = randomBytes(POOL_BYTES);
      const bytes = Buffer.from(pool.subarray(0, count));
      // Wipes the returned bytes, so that the memory of the pool has no copy of a key.
      pool.fill(0, 0, count);
      pool = pool.subarray(count);
      return bytes;
    },
    nowMs: () => Date.now(),
  };
}

/** Cryptographic randomness of the operating system. */
export const systemRandom: Random = createSystemRandom();

/** Crockford's alphabet in lower case: no letter resembles a digit, and every id has the format of the API. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Returns random text in the alphabet of ids, with 5 random bits in each character. */
export function randomText(random: Random, characters: number): string {
  let text = '';
  for (const byte of random.bytes(characters)) text += ALPHABET[byte & 31];
  return text;
}

/** 45 bits of milliseconds last until the year 3084. */
const INSTANT_CHARACTERS = 9;

function formatInstant(instant: number): string {
  let text = '';
  for (
    let value = Math.floor(instant), remaining = INSTANT_CHARACTERS;
    remaining > 0;
    remaining -= 1, value = Math.floor(value / 32)
  ) {
    text = ALPHABET[value % 32] + text;
  }
  return text;
}

/**
 * Returns a new id: a prefix for the kind of thing, the time, then 50 random bits. Consecutive ids are adjacent in every
 * index, so an insert among a million rows costs no more than among a thousand.
 */
export function makeId<T extends string>(random: Random, prefix: string): T {
  return `${prefix}-${formatInstant(random.nowMs())}${randomText(random, 10)}` as T;
}

/** Returns a function that numbers things of this process, such as requests: a random id of the process, and the number. */
export function createIdSequence(random: Random, prefix: string): () => string {
  const processId = makeId<string>(random, prefix);
  let count = 0;
  return () => {
    count += 1;
    return `${processId}-${count}`;
  };
}
