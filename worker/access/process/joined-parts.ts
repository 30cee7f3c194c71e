/** Joins the parts of a body that come in one turn, so that the server does not have to read a body in chunks of one byte each. */
import { Duplex } from 'node:stream';
import { SLICE_BYTES_MAX } from './bounds.ts';

type Callback = (error?: Error | null) => void;

/** Passes bytes through; see the top of this file. Holds few of them while the reader takes none. */
export class JoinedParts extends Duplex {
  /** Called when the reader has room again; null while it has. */
  #accept: Callback | null = null;

  constructor() {
    super({ highWaterMark: SLICE_BYTES_MAX });
  }

  /** Meanwhile the writable side collects the following parts for `_writev`. */
  override _write(part: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    setImmediate(() => this.#pass(part, callback));
  }

  override _writev(parts: { chunk: Buffer }[], callback: Callback): void {
    setImmediate(() => this.#pass(Buffer.concat(parts.map(({ chunk }) => chunk)), callback));
  }

  override _final(callback: Callback): void {
    this.push(null);
    callback();
  }

  override _read(): void {
    const accept = this.#accept;
    this.#accept = null;
    accept?.();
  }

  #pass(bytes: Buffer, callback: Callback): void {
    if (this.destroyed || this.push(bytes)) callback();
    else this.#accept = callback;
  }
}
