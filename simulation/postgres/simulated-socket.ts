/** The socket that pg gets in the simulated world in place of a TCP connection. */
import { Duplex } from 'node:stream';

/** The other end of a socket, with the network between. */
export interface SocketPeer {
  /** The client sent bytes. */
  receive(bytes: Buffer): void;
  /** The client will send nothing more. */
  end(): void;
  /** The client is gone. */
  leave(): void;
}

/** A connection of a process to the database. */
export class SimulatedSocket extends Duplex {
  readonly #open: (socket: SimulatedSocket, host: string) => SocketPeer;
  #peer: SocketPeer | null = null;

  constructor(open: (socket: SimulatedSocket, host: string) => SocketPeer) {
    super();
    this.#open = open;
  }

  connect(_port: number, host: string): this {
    this.#peer = this.#open(this, host);
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  override _write(bytes: Buffer, _: BufferEncoding, done: () => void): void {
    this.#peer?.receive(bytes);
    done();
  }
  override _read(): void {}
  override _final(done: () => void): void {
    if (this.#peer) this.#peer.end();
    else this.push(null);
    done();
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#peer?.leave();
    done(error);
  }
}

/** Returns the error of a connection that broke. */
export const createResetError = (): Error =>
  Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });

/** Returns the error of a connection that nobody accepts. */
export const createRefusedError = (): Error =>
  Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
