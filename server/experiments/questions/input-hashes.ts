/**
 * Sets of input contents, stored as short hashes. Of a large set it keeps the smallest hashes: a bottom-k sketch (Broder
 * 1997). They are the same ones in every set, so that two large sets can still be compared. Pure.
 */
import { hash } from 'node:crypto';

/** 2,000 hashes are 16 kB. */
export const STORED_INPUTS_MAX = 2000;
/** 8 characters of base64 are 48 bits: among 2,000 inputs, two differ in all but one of 10⁸ sets. */
const HASH_CHARS = 8;

/** Returns the hashes of the contents as one text, in ascending order. */
export function storeInputs(contents: Iterable<string>): string {
  const hashes = new Set(
    [...contents].map((content) => hash('sha256', content, 'base64').slice(0, HASH_CHARS)),
  );
  return [...hashes].sort().slice(0, STORED_INPUTS_MAX).join('');
}

/** The inputs of two experiments that are compared: their numbers, and how many are the same. */
export interface SharedInputs {
  /** Inputs of the later experiment. */
  total: number;
  /** Those that the earlier one had too. */
  shared: number;
  /** Inputs of the earlier one. */
  earlier: number;
}

/**
 * Counts the inputs that two sets share. Of sets beyond the limit it counts those that both could have stored. It walks both
 * ascending texts at once, up to the end of one.
 */
export function countSharedInputs(own: string, other: string): SharedInputs {
  let [ownAt, otherAt, shared] = [0, 0, 0];
  while (ownAt < own.length && otherAt < other.length) {
    const order = compareHashes(own, ownAt, other, otherAt);
    if (order <= 0) ownAt += HASH_CHARS;
    if (order >= 0) otherAt += HASH_CHARS;
    if (order === 0) shared += 1;
  }
  const count = (chars: number): number => chars / HASH_CHARS;
  // Beyond its last hash, a full set could not store an input, so that those of the other set do not count.
  return {
    total: count(isFull(other) ? ownAt : own.length),
    shared,
    earlier: count(isFull(own) ? otherAt : other.length),
  };
}

const isFull = (stored: string): boolean => stored.length === STORED_INPUTS_MAX * HASH_CHARS;

/** Compares the hashes at two places; below 0 if the first comes first. */
function compareHashes(own: string, ownAt: number, other: string, otherAt: number): number {
  for (let char = 0; char < HASH_CHARS; char += 1) {
    const order = own.charCodeAt(ownAt + char) - other.charCodeAt(otherAt + char);
    if (order !== 0) return order;
  }
  return 0;
}
