/**
 * A connection of an app, of which the HTTP parser receives one request at a time. Node parses all bytes that it reads at
 * once, so 64 KiB of pipelined requests would be thousands of requests before anything could refuse them. Here the rest of
 * these bytes waits unparsed, and the connection is not read, until the response before has ended. The body of a request
 * waits in the same way until `openBody`. The connections of all runs take turns with their bytes, and one whose bytes the
 * parser has refused gets no further turn.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { HEAD_BYTES_MAX, SLICE_BYTES_MAX } from './bounds.ts';
import { runInTurn } from './turns.ts';

/**
 * The end of a body in chunks is known to the parser alone, so it may get requests behind it: at most these bytes, and `begin`
 * refuses each of them. The connection is closed after the response.
 */
const CHUNKS_SLICE_BYTES = 4096;
const HEAD_END = Buffer.from('\r\n\r\n');
const NO_BYTES = Buffer.alloc(0);
const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];

/** `body` counts the bytes that remain. After `closing`, no further byte goes to the parser. */
type Phase =
  | { kind: 'head' | 'parsing' | 'chunks' | 'response' | 'closing' }
  | { kind: 'body'; remaining: number };

/** The time that an app has for a body: all of it, or each pause in it. */
export interface BodyLimit {
  milliseconds: number;
  isForPauses: boolean;
  onExpiry(): void;
}

/** Presents the socket to Node's HTTP server; see the top of this file. */
export class SequentialConnection extends Duplex {
  /** True after a request with the token of the run. */
  isTrusted = false;
  readonly #socket: Socket;
  #pending: Buffer = NO_BYTES;
  #phase: Phase = { kind: 'head' };
  /** The parser has consumed all that it received. */
  #isParserReady = false;
  #isTurnDue = false;
  #isBodyOpen = false;
  /** The latest one; null before the first. */
  #response: ServerResponse | null = null;
  #hasResponse = true;
  #hasEnded = false;
  #bodyLimit: BodyLimit | undefined;
  #bodyTimer: NodeJS.Timeout | undefined;

  constructor(socket: Socket) {
    super({ highWaterMark: SLICE_BYTES_MAX });
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.once('end', () => {
      this.#hasEnded = true;
      this.#continue();
    });
    socket.on('error', () => this.destroy());
    socket.once('close', () => this.destroy());
    socket.on('timeout', () => this.emit('timeout'));
  }

  /** True while a request has no complete response. */
  get isBusy(): boolean {
    return !this.#hasResponse;
  }

  /**
   * Continues with the body of the request, or the next request, once the response has ended. Its body waits. Returns false for
   * a request behind the last one of the connection, which gets no response.
   */
  begin(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#phase.kind !== 'parsing') return false;
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
    if (encoding !== undefined) {
      this.#phase = { kind: 'chunks' };
      response.shouldKeepAlive = false;
      request.once('end', () => this.#stop());
    } else if (Number(length) > 0) this.#phase = { kind: 'body', remaining: Number(length) };
    else this.#phase = { kind: 'response' };
    this.#isBodyOpen = false;
    this.#response = response;
    this.#hasResponse = false;
    response.once('close', () => {
      this.#hasResponse = true;
      this.#bodyLimit = undefined;
      this.#advance();
    });
    return true;
  }

  /** Drops everything that the app has sent or sends. */
  fail(): void {
    this.#stop();
  }

  /** True while no part of a response is written. */
  get canRespond(): boolean {
    return this.writable && (this.#hasResponse || this.#response?.headersSent === false);
  }

  /** Lets the body of the request come, within the limit. */
  openBody(limit: BodyLimit): void {
    const { kind } = this.#phase;
    if (kind !== 'body' && kind !== 'chunks') return;
    this.#isBodyOpen = true;
    this.#bodyLimit = limit;
    if (!limit.isForPauses) this.#startBodyTimer();
    this.#continue();
  }

  /** Node sets the time after which it closes an idle connection. */
  setTimeout(milliseconds: number, callback?: () => void): this {
    this.#socket.setTimeout(milliseconds, callback);
    return this;
  }

  /** Ends the connection when all responses are written. */
  destroySoon(): void {
    this.end(() => this.destroy());
  }

  override _read(): void {
    this.#isParserReady = true;
    // No request came of these bytes.
    if (this.#phase.kind === 'parsing') this.#phase = { kind: 'head' };
    this.#continue();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#socket.write(chunk, callback);
  }

  override _final(callback: () => void): void {
    this.#socket.end(callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.#bodyTimer);
    this.#socket.destroy();
    callback(error);
  }

  #receive(chunk: Buffer): void {
    this.#socket.pause();
    if (this.#phase.kind === 'closing') return;
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    if (this.#bodyLimit?.isForPauses) this.#stopBodyTimer();
    this.#continue();
  }

  /** Reads on until further bytes come, because only a socket that is read notices that the app has gone. */
  #stop(): void {
    this.#phase = { kind: 'closing' };
    this.#pending = NO_BYTES;
    this.#stopBodyTimer();
    this.#socket.resume();
  }

  #advance(): void {
    const phase = this.#phase;
    const isBodyOver = phase.kind === 'response' || (phase.kind === 'body' && phase.remaining === 0);
    if (isBodyOver) this.#stopBodyTimer();
    if (isBodyOver && this.#hasResponse) this.#phase = { kind: 'head' };
    this.#continue();
  }

  /** Feeds the parser in the next turn. */
  #continue(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    runInTurn(() => {
      this.#isTurnDue = false;
      this.#feed();
    });
  }

  /** Gives the parser its next bytes when it is ready for them, and reads the socket once nothing waits. */
  #feed(): void {
    if (this.destroyed || this.#phase.kind === 'closing') return;
    const slice = this.#isParserReady ? this.#removeSlice() : null;
    if (slice !== null) {
      this.#isParserReady = false;
      this.push(slice);
      if (this.#phase.kind === 'body' && this.#phase.remaining === 0) this.#advance();
    } else if (this.#hasEnded && this.#pending.length === 0 && this.#isParserReady) {
      this.#isParserReady = false;
      this.push(null);
    }
    const isStarved = this.#isParserReady && this.#isWaitingForApp();
    if (isStarved || this.#pending.length === 0) this.#socket.resume();
    if (isStarved && this.#bodyLimit?.isForPauses && this.#bodyTimer === undefined) this.#startBodyTimer();
  }

  /** True when the next bytes have to come from the app. */
  #isWaitingForApp(): boolean {
    const { kind } = this.#phase;
    return kind === 'head' || ((kind === 'body' || kind === 'chunks') && this.#isBodyOpen);
  }

  #removeSlice(): Buffer | null {
    const phase = this.#phase;
    if (phase.kind === 'head') this.#dropEmptyLines();
    if (this.#pending.length === 0) return null;
    if (phase.kind === 'head') return this.#removeHead();
    if (!this.#isBodyOpen || (phase.kind !== 'body' && phase.kind !== 'chunks')) return null;
    const bytes = phase.kind === 'body' ? Math.min(phase.remaining, SLICE_BYTES_MAX) : CHUNKS_SLICE_BYTES;
    if (bytes === 0) return null;
    const slice = this.#remove(bytes);
    if (phase.kind === 'body') phase.remaining -= slice.length;
    return slice;
  }

  /** Empty lines before a head say nothing, and the parser would be called for every four bytes of them. */
  #dropEmptyLines(): void {
    const isPart = (byte: number | undefined): boolean => byte === LINE_FEED || byte === CARRIAGE_RETURN;
    let count = 0;
    while (isPart(this.#pending[count])) count += 1;
    this.#remove(count);
  }

  #removeHead(): Buffer | null {
    const end = this.#pending.indexOf(HEAD_END);
    // Node has written the last response of this connection.
    if (this.writableEnded) return null;
    const isComplete = end >= 0 || this.#pending.length >= HEAD_BYTES_MAX || this.#hasEnded;
    if (!isComplete) return null;
    this.#phase = { kind: 'parsing' };
    return this.#remove(end < 0 ? this.#pending.length : end + HEAD_END.length);
  }

  #remove(bytes: number): Buffer {
    const slice = this.#pending.subarray(0, bytes);
    this.#pending = this.#pending.subarray(slice.length);
    return slice;
  }

  #startBodyTimer(): void {
    const { milliseconds = 0, onExpiry } = this.#bodyLimit ?? {};
    clearTimeout(this.#bodyTimer);
    this.#bodyTimer = setTimeout(() => onExpiry?.(), milliseconds);
  }

  #stopBodyTimer(): void {
    clearTimeout(this.#bodyTimer);
    this.#bodyTimer = undefined;
  }
}
