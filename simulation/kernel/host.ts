/**
 * Takes over what a process gets from its machine without asking: the time, timers, randomness, and compression on threads.
 * The product has a clock and a source of randomness; its libraries and Node itself have not.
 */
import crypto from 'node:crypto';
import filesPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { Transform, type TransformCallback } from 'node:stream';
import zlib from 'node:zlib';
import type { Draws } from './draws.ts';
// It takes what it needs of the machine before the functions below replace it.
import './real-machine.ts';
import type { Scheduler } from './scheduler.ts';

/** The time of the first event: 2026-12-07T08:00:00Z. */
export const EPOCH = Date.UTC(2026, 11, 7, 8);

declare global {
  namespace NodeJS {
    interface Process {
      /** The requests that the pool of threads and the event loop of Node work on. */
      _getActiveRequests(): unknown[];
    }
  }
}

interface Host {
  scheduler: Scheduler;
  draws: Draws;
}

let current: Host | null = null;

function requireHost(): Host {
  if (!current) throw new Error('No simulation runs.');
  return current;
}

const RealDate = Date;
/** The present time of the simulated world, in milliseconds since its epoch. */
const getNow = (): number => Math.floor(EPOCH + (current?.scheduler.now ?? 0));

class SimulatedDate extends RealDate {
  constructor(...values: [] | [string | number | Date]) {
    if (values.length === 0) super(getNow());
    else super(...values);
  }
  static override now(): number {
    return getNow();
  }
}

/** A timer as Node returns it. */
class Timer {
  #cancel: () => void;
  readonly #start: () => () => void;

  constructor(start: () => () => void) {
    this.#start = start;
    this.#cancel = start();
  }
  cancel(): void {
    this.#cancel();
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  refresh(): this {
    this.#cancel();
    this.#cancel = this.#start();
    return this;
  }
}

type Callback = (...values: unknown[]) => void;

const timers = {
  setTimeout: (callback: Callback, ms = 0, ...values: unknown[]) =>
    new Timer(() => requireHost().scheduler.after(ms, '', () => callback(...values))),
  setInterval(callback: Callback, ms = 0, ...values: unknown[]) {
    const { scheduler } = requireHost();
    let cancel = (): void => {};
    const start = (): (() => void) => {
      const tick = (): void => {
        cancel = scheduler.after(ms, '', tick);
        callback(...values);
      };
      cancel = scheduler.after(ms, '', tick);
      return () => cancel();
    };
    return new Timer(start);
  },
  setImmediate(callback: Callback, ...values: unknown[]) {
    const { scheduler } = requireHost();
    return new Timer(() => {
      const { cancel } = scheduler.soon(() => callback(...values));
      return cancel;
    });
  },
  clear: (timer: unknown): void => {
    if (timer instanceof Timer) timer.cancel();
  },
};

/** Node's own signal would wait for the real time. */
function abortAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new DOMException('The operation timed out.', 'TimeoutError'));
  requireHost().scheduler.after(ms, '', abort);
  return controller.signal;
}

/** Decompresses at the end, without a thread. */
class BufferedGunzip extends Transform {
  readonly #chunks: Buffer[] = [];
  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#chunks.push(chunk);
    done();
  }
  override _flush(done: TransformCallback): void {
    try {
      done(null, zlib.gunzipSync(Buffer.concat(this.#chunks)));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

function randomUuid(): string {
  const bytes = requireHost().draws.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 15) | 64;
  bytes[8] = ((bytes[8] ?? 0) & 63) | 128;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Promises of Node's cryptography and files, some of which Node does not list among its requests. */
let jobs = 0;

/** Counts the calls of the functions, so that the scheduler waits for their ends. */
function countCalls(functions: object, owner: object = functions): void {
  for (const [name, { value, configurable }] of Object.entries(Object.getOwnPropertyDescriptors(functions))) {
    if (typeof value !== 'function' || !configurable || !/^[a-z]/.test(name) || name === 'constructor')
      continue;
    const counted = (...values: unknown[]): unknown => {
      const result: unknown = value.apply(owner, values);
      if (!(result instanceof Promise)) return result;
      jobs += 1;
      return result.finally(() => {
        jobs -= 1;
      });
    };
    Object.defineProperty(functions, name, { value: counted });
  }
}

/** Returns true while Node works on something whose end nothing but the real time decides. */
export const isNodeBusy = (): boolean => jobs > 0 || process._getActiveRequests().length > 0;

/** Replaces the time, timers and randomness of this process for good. Call it before the server is loaded. */
export function takeOverHost(): void {
  Object.assign(globalThis, {
    Date: SimulatedDate,
    setTimeout: timers.setTimeout,
    setInterval: timers.setInterval,
    setImmediate: timers.setImmediate,
    clearTimeout: timers.clear,
    clearInterval: timers.clear,
    clearImmediate: timers.clear,
  });
  Object.defineProperty(performance, 'now', { value: () => current?.scheduler.now ?? 0 });
  AbortSignal.timeout = abortAfter;
  Math.random = () => requireHost().draws.share();
  Object.assign(crypto, {
    randomUUID: randomUuid,
    randomBytes: (count: number) => requireHost().draws.bytes(count),
  });
  Object.assign(process.getBuiltinModule('node:timers/promises'), {
    setImmediate: (value: unknown) =>
      new Promise((resolve) => requireHost().scheduler.soon(() => resolve(value))),
    setTimeout: (ms: number, value: unknown) =>
      new Promise((resolve) => requireHost().scheduler.after(ms, '', () => resolve(value))),
  });
  Object.defineProperty(zlib, 'createGunzip', { value: () => new BufferedGunzip() });
  Object.assign(os, { loadavg: () => [0, 0, 0], hostname: () => 'simulated' });
  countCalls(Object.getPrototypeOf(crypto.webcrypto.subtle), crypto.webcrypto.subtle);
  countCalls(filesPromises);
  syncBuiltinESMExports();
}

/** Lets the scheduler and the draws be the machine of this process. */
export function setHost(host: Host | null): void {
  current = host;
}
