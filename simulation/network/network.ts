/**
 * The network between clients, workers and the server. A message takes time; it can be lost, doubled or late, and the
 * response to it too. Who sends sees a broken connection at once, or nothing until it gives up.
 */
import type { Draws } from '../kernel/draws.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import {
  BrokenConnectionError,
  type SimulatedServer,
  type WireRequest,
  type WireResponse,
} from '../machine/simulated-server.ts';

/** A sender gives up after this time without a response. */
const TIMEOUT_MS = 60_000;
const LATE_REPEAT_MS_MAX = 1_200_000;

/** The probabilities of the faults of a message. */
export interface NetworkFaults {
  lostRequests: number;
  lostResponses: number;
  doubledRequests: number;
  lateMessages: number;
}

export const NO_NETWORK_FAULTS: NetworkFaults = {
  lostRequests: 0,
  lostResponses: 0,
  doubledRequests: 0,
  lateMessages: 0,
};

/** A sender of requests. */
export interface Sender {
  name: string;
  /** Runs what a message causes at the sender, unless it has ended. */
  deliver(run: () => void): void;
}

/** Carries requests to the server. */
export class Network {
  readonly #scheduler: Scheduler;
  readonly #draws: Draws;
  readonly #server: Pick<SimulatedServer, 'handle'>;
  readonly #usualMs: number;
  /** The senders that reach nobody. */
  readonly #cutOff = new Set<string>();
  /** The senders that hear no answer. */
  readonly #deaf = new Set<string>();
  /** The share of the requests of workers that arrive again much later. */
  #lateRepeats = 0;
  faults: NetworkFaults = NO_NETWORK_FAULTS;
  /** How often each fault happened. */
  readonly counts = new Map<string, number>();

  /** Is called with each response when it leaves the server. */
  onAnswer = (_request: WireRequest, _response: WireResponse, _sentAt: number): void => {};

  constructor(scheduler: Scheduler, draws: Draws, server: Pick<SimulatedServer, 'handle'>) {
    this.#scheduler = scheduler;
    this.#draws = draws;
    this.#server = server;
    this.#usualMs = draws.between(0.1, 20);
  }

  cutOff(name: string): void {
    this.#cutOff.add(name);
  }

  /** The server hears the sender, which hears no answer. */
  deafen(name: string): void {
    this.#deaf.add(name);
  }

  /** From now on the share of the requests of workers arrives a second time, minutes later. */
  repeatLate(share: number): void {
    this.#lateRepeats = share;
  }

  reconnect(name: string): void {
    this.#cutOff.delete(name);
    this.#deaf.delete(name);
  }

  /** Ends all faults. */
  heal(): void {
    this.#cutOff.clear();
    this.#deaf.clear();
    this.#lateRepeats = 0;
    this.faults = NO_NETWORK_FAULTS;
  }

  /** Sends a request, and resolves with its response. Throws BrokenConnectionError. */
  send(from: Sender, request: WireRequest, timeoutMs = TIMEOUT_MS): Promise<WireResponse> {
    const sentAt = this.#scheduler.now;
    return new Promise((resolve, reject) => {
      let isOver = false;
      const giveUp = new AbortController();
      const finish = (end: () => void): void => {
        if (isOver) return;
        isOver = true;
        cancelTimeout();
        from.deliver(end);
      };
      const cancelTimeout = this.#scheduler.after(timeoutMs, '', () => {
        finish(() => reject(new BrokenConnectionError('it did not respond in time')));
        giveUp.abort();
      });
      const pass = (): void => {
        const delay = this.#delay();
        if (this.#isLost(from, 'lostRequests')) return;
        const arrive = (): void =>
          void this.#server.handle(request, giveUp.signal).then(
            (response) => {
              this.onAnswer(request, response, sentAt);
              this.#respond(from, request, response, (received) => finish(() => resolve(received)));
            },
            (error: Error) => this.#scheduler.after(this.#delay(), '', () => finish(() => reject(error))),
          );
        this.#scheduler.after(delay, '', arrive, { joins: true });
      };
      pass();
      if (this.#happens('doubledRequests')) pass();
      if (this.#lateRepeats > 0) this.#repeatLate(request);
    });
  }

  /** Nobody waits for the answer any more. A worker that does not hold the lease then must not change its run. */
  #repeatLate(request: WireRequest): void {
    const [path = ''] = request.path.split('?');
    if (!path.startsWith('/v1/workers/') || !this.#draws.happens(this.#lateRepeats)) return;
    this.counts.set('lateRepeats', (this.counts.get('lateRepeats') ?? 0) + 1);
    this.#scheduler.after(this.#draws.between(60_000, LATE_REPEAT_MS_MAX), `late ${path}`, () => {
      const arrivedAt = this.#scheduler.now;
      const giveUp = new AbortController();
      this.#scheduler.after(TIMEOUT_MS, '', () => giveUp.abort());
      this.#server.handle(request, giveUp.signal).then(
        (response) => this.onAnswer(request, response, arrivedAt),
        () => {},
      );
    });
  }

  #respond(
    from: Sender,
    { method, path }: WireRequest,
    response: WireResponse,
    deliver: (response: WireResponse) => void,
  ): void {
    if (this.#deaf.has(from.name) || this.#isLost(from, 'lostResponses')) return;
    const label = `${from.name} ${method} ${path.split('?')[0]} ${response.status}`;
    this.#scheduler.after(this.#delay(), label, () => deliver(response), { joins: true });
  }

  #delay(): number {
    const usual = this.#draws.duration(this.#usualMs);
    return this.#happens('lateMessages') ? usual + this.#draws.between(0, 40_000) : usual;
  }

  #isLost(from: Sender, fault: 'lostRequests' | 'lostResponses'): boolean {
    return this.#cutOff.has(from.name) || this.#happens(fault);
  }

  #happens(fault: keyof NetworkFaults): boolean {
    if (!this.#draws.happens(this.faults[fault])) return false;
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    return true;
  }
}
