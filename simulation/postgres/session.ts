/** One connection of a simulated process to the database: its messages, and what the network does to them. */
import type { Draws } from '../kernel/draws.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';
import type { Backend } from './backend.ts';
import {
  createRefusedError,
  createResetError,
  type SimulatedSocket,
  type SocketPeer,
} from './simulated-socket.ts';
import { RequestReader, type RequestUnit } from './wire.ts';

/** The way between a process and the database. */
export interface Route {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  /** The usual time of a message. */
  readonly usualMs: number;
  /** The hosts of the processes whose messages do not get through. */
  readonly cut: ReadonlySet<string>;
  /** The database is not running. */
  readonly isDown: boolean;
  /** A message has reached the database. */
  arrive(session: Session, unit: RequestUnit): void;
  /** The process has closed its side. */
  onLeave(session: Session): void;
}

/** A message that waits until its process reaches the database again. */
const RETRANSMIT_MS = 200;

/** A connection. */
export class Session implements SocketPeer {
  readonly name: string;
  readonly host: string;
  readonly #route: Route;
  readonly #owner: SimulatedProcess;
  readonly #socket: SimulatedSocket;
  readonly #reader = new RequestReader();
  #lastArrival = 0;
  /** Messages under way to the database. */
  pending = 0;
  backend: Backend | null = null;
  /** The process has closed its side, or lost it. */
  isClosed = false;

  constructor(name: string, host: string, owner: SimulatedProcess, socket: SimulatedSocket, route: Route) {
    this.name = name;
    this.host = host;
    this.#owner = owner;
    this.#socket = socket;
    this.#route = route;
    this.#travel(() => {
      if (this.isClosed) return;
      if (route.isDown) this.break(createRefusedError());
      else this.#deliver(() => socket.emit('connect'));
    });
  }

  receive(bytes: Buffer): void {
    for (const unit of this.#reader.read(bytes)) {
      this.pending += 1;
      this.#travel(() => {
        this.pending -= 1;
        this.#route.arrive(this, unit);
      });
    }
  }

  end(): void {
    this.#travel(() => this.#deliver(() => this.#socket.push(null)));
  }

  leave(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#route.onLeave(this);
  }

  /** Sends the answer of the database to the process. */
  answer(bytes: Buffer): void {
    this.#travel(() => {
      if (!this.isClosed) this.#deliver(() => this.#socket.push(bytes));
    });
  }

  /** Breaks the connection; the process hears of it after a while. */
  break(error = createResetError()): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#travel(() => this.#deliver(() => this.#socket.destroy(error)));
  }

  #deliver(run: () => void): void {
    this.#owner.deliver(() => {
      if (!this.#socket.destroyed) run();
    });
  }

  /** Runs `run` when a message that is sent now arrives: after all earlier ones of this connection. */
  #travel(run: () => void): void {
    const { scheduler, draws, usualMs } = this.#route;
    const arrival = Math.max(this.#lastArrival, scheduler.now + draws.duration(usualMs));
    this.#lastArrival = arrival;
    const pass = (): void => {
      if (this.#route.cut.has(this.host)) {
        this.#lastArrival = Math.max(this.#lastArrival, scheduler.now + RETRANSMIT_MS);
        scheduler.after(RETRANSMIT_MS, '', pass);
      } else run();
    };
    scheduler.after(arrival - scheduler.now, '', pass);
  }
}
