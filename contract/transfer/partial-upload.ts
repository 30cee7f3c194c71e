/** An upload in parts that continues at the stored bytes. How a part is sent differs in Node and in browsers. */
import { ApiError } from '../client.ts';

/** Large enough that the pauses between parts cost little, and little to send again on a slow line. */
export const PART_BYTES = 8 * 1024 * 1024;
const BAD_REQUEST = 400;
const CONFLICT = 409;

/** Bytes of the content to send, and their place in it. */
export interface UploadPart {
  bytes: Blob;
  offset: number;
  isLast: boolean;
  /** Size of the whole content in bytes. */
  length: number;
}

/** The requests to the signed URL of an upload. */
export interface UploadTarget {
  /** Appends the part to the stored bytes. Throws ApiError with 409 if it begins at another byte. */
  append(part: UploadPart): Promise<unknown>;
  /** Reads the number of the stored bytes, and whether the content is complete. */
  readState(): Promise<{ offset: number; complete: boolean }>;
}

/** Returns the headers of a part that is sent with PATCH. */
export function formatPartHeaders({ offset, isLast, length }: UploadPart): Record<string, string> {
  return {
    'upload-offset': String(offset),
    'upload-complete': isLast ? '?1' : '?0',
    'upload-length': String(length),
  };
}

/** The start of an upload. */
export interface PartialUploadOptions {
  /** true: an earlier attempt has sent parts, and the server knows how many. */
  isContinued?: boolean;
  /** Receives the number of the stored bytes before each part; smaller than before after a lost connection. */
  onProgress?: (bytes: number) => void;
}

/** An upload whose parts are sent one after the other. After an error, `sendNextPart` can be called again. */
export class PartialUpload {
  isComplete = false;
  readonly #content: Blob;
  readonly #target: UploadTarget;
  readonly #onProgress: (bytes: number) => void;
  /** The number of bytes that the server has stored, when it is known. */
  #storedBytes = 0;
  /** false after a request whose effect is unknown. */
  #isKnown: boolean;

  constructor(
    content: Blob,
    target: UploadTarget,
    { isContinued = false, onProgress = () => {} }: PartialUploadOptions = {},
  ) {
    this.#content = content;
    this.#target = target;
    this.#onProgress = onProgress;
    this.#isKnown = !isContinued;
  }

  /**
   * Sends the part after the stored bytes. After a failed request it asks the server for their number first. It returns when
   * the server has stored bytes since, because the caller's pauses grow only while nothing is stored.
   */
  async sendNextPart(): Promise<void> {
    if (!this.#isKnown && (await this.#hasMoved())) return;
    const { size } = this.#content;
    const offset = this.#storedBytes;
    const end = Math.min(offset + PART_BYTES, size);
    this.#onProgress(offset);
    this.#isKnown = false;
    try {
      const bytes = this.#content.slice(offset, end);
      await this.#target.append({ bytes, offset, isLast: end === size, length: size });
    } catch (error) {
      // The server had not noticed the end of the lost connection when it returned the offset, and has stored more since. A
      // 400 is also the response to a part after the last one.
      const isRefused =
        error instanceof ApiError && (error.status === CONFLICT || error.status === BAD_REQUEST);
      if (isRefused && (await this.#hasMoved())) return;
      throw error;
    }
    this.#isKnown = true;
    this.#storedBytes = end;
    this.isComplete = end === size;
  }

  /** Reads the state from the server, and returns the number of bytes that it has stored. */
  async readStoredBytes(): Promise<number> {
    const { offset, complete } = await this.#target.readState();
    this.#storedBytes = offset;
    this.#isKnown = true;
    this.isComplete = complete;
    return offset;
  }

  /** Reads the state from the server, and returns true if it has another number of bytes than this upload knew of. */
  async #hasMoved(): Promise<boolean> {
    const before = this.#storedBytes;
    const offset = await this.readStoredBytes();
    return this.isComplete || offset !== before;
  }
}
