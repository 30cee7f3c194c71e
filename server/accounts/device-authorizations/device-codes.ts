/** The two codes of a sign-in from another device: the secret of the program, and the short code that a person enters. */
import { createHmac } from 'node:crypto';
import { USER_CODE_ALPHABET, USER_CODE_LETTERS } from '@switchyard/contract/limits.ts';
import type { Random } from '../../platform/random.ts';

/** A multiple of the size of the alphabet: larger bytes would make the first letters more likely. */
const BYTE_LIMIT = 256 - (256 % USER_CODE_ALPHABET.length);
const NOT_LETTERS = /[^A-Z]/g;

/** Creates user codes, and computes the form in which the database holds them. */
export class DeviceCodes {
  readonly #key: Buffer;
  readonly #random: Random;

  constructor(key: Buffer, random: Random) {
    this.#key = key;
    this.#random = random;
  }

  /** Returns a new user code in two groups, such as `WDJB-MJHT`. */
  createUserCode(): string {
    let letters = '';
    while (letters.length < USER_CODE_LETTERS)
      for (const byte of this.#random.bytes(USER_CODE_LETTERS))
        if (byte < BYTE_LIMIT && letters.length < USER_CODE_LETTERS)
          letters += USER_CODE_ALPHABET[byte % USER_CODE_ALPHABET.length];
    return `${letters.slice(0, USER_CODE_LETTERS / 2)}-${letters.slice(USER_CODE_LETTERS / 2)}`;
  }

  /** Returns the HMAC of a user code, in base64url. People write it in lower case and without the hyphen. */
  hashUserCode(code: string): string {
    const letters = code.toUpperCase().replaceAll(NOT_LETTERS, '');
    return createHmac('sha256', this.#key).update(letters).digest('base64url');
  }
}
