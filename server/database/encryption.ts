/**
 * Text that is encrypted where it lies, with AES-256-GCM, so that neither the database file nor a copy of it tells it. What
 * is sealed can be bound to its place, such as the row it stands in: opened for another place it is refused, so that
 * whoever can write to the database still cannot pass the value of one row off as that of another.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from '../random.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The bytes were altered, moved from another place, or sealed with another key. */
export class DecryptionError extends Error {}

export class Encryptor {
  readonly #key: Buffer;
  readonly #random: Random;

  /** `key` has 32 bytes. */
  constructor(key: Buffer, random: Random) {
    this.#key = key;
    this.#random = random;
  }

  /** `place` is everything that names the place; it is not kept and has to be given again. */
  encrypt(text: string, place: readonly string[]): Buffer {
    const nonce = this.#random.bytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(written(place));
    const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), content]);
  }

  decrypt(sealed: Uint8Array, place: readonly string[]): string {
    try {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(written(place))
        .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const content = sealed.subarray(NONCE_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(content), decipher.final()]).toString('utf8');
    } catch {
      throw new DecryptionError(
        `What is kept for ${place.join(' ')} cannot be decrypted: it was altered, or written with another master key.`,
      );
    }
  }
}

/** In JSON, so that no two places are written alike. */
function written(place: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(place));
}
