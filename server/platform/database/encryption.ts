/**
 * Encrypts text for the database with AES-256-GCM, so that neither the database file nor a copy of it reveals the text.
 * Each ciphertext is bound to its place, such as its row, and decryption for another place fails. Someone who can write to
 * the database therefore cannot move a value from one row to another.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from '../random.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Someone changed the ciphertext, moved it from another place, or encrypted it with another key. */
export class DecryptionError extends Error {}

export class Encryptor {
  readonly #key: Buffer;
  readonly #random: Random;

  /** `key` has 32 bytes. */
  constructor(key: Buffer, random: Random) {
    this.#key = key;
    this.#random = random;
  }

  /**
   * Returns nonce, authentication tag and ciphertext, in this order. `place` names the row and column; the result does not
   * contain it, so `decrypt` needs it again.
   */
  encrypt(text: string, place: readonly string[]): Buffer {
    const nonce = this.#random.bytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(encodePlace(place));
    const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), content]);
  }

  /** Returns the text of `encrypt`. Throws DecryptionError when the bytes, the place or the key differ. */
  decrypt(sealed: Uint8Array, place: readonly string[]): string {
    try {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(encodePlace(place))
        .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const content = sealed.subarray(NONCE_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(content), decipher.final()]).toString('utf8');
    } catch {
      throw new DecryptionError(
        `The stored value of ${place.join(' ')} cannot be decrypted: its bytes changed, or another master key encrypted it. Start the server with the master key that wrote it, or restore a backup.`,
      );
    }
  }
}

/** Returns the place as JSON: two places never have the same encoding. */
function encodePlace(place: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(place));
}
