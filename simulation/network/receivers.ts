/** The receivers of webhooks. They accept, refuse, answer late or never, and lose their answer. */
import { Readable } from 'node:stream';
import type { PostDelivery, ReceiverResponse } from '../../server/ops/webhooks/send.ts';
import type { Draws } from '../kernel/draws.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';

/** One delivery that a receiver has got. */
export interface ReceivedDelivery {
  receiver: string;
  eventId: string;
  at: number;
  body: Record<string, unknown>;
}

/** The probabilities of the faults of a delivery. */
export interface ReceiverFaults {
  refused: number;
  failed: number;
  silent: number;
  lostAnswers: number;
}

export const NO_RECEIVER_FAULTS: ReceiverFaults = { refused: 0, failed: 0, silent: 0, lostAnswers: 0 };

/** All receivers; the host name of a webhook is the name of its receiver. */
export class Receivers {
  readonly #scheduler: Scheduler;
  readonly #draws: Draws;
  readonly deliveries: ReceivedDelivery[] = [];
  faults: ReceiverFaults = NO_RECEIVER_FAULTS;
  readonly counts = new Map<string, number>();

  constructor(scheduler: Scheduler, draws: Draws) {
    this.#scheduler = scheduler;
    this.#draws = draws;
  }

  /** Returns the way of a process to the receivers: what they answer after its end, it does not hear. */
  connect(owner: SimulatedProcess): PostDelivery {
    return (url, _address, message, signal) => this.#post(owner, url, message, signal);
  }

  #post(
    owner: SimulatedProcess,
    url: URL,
    { headers, body }: { headers: Record<string, string>; body: string },
    signal: AbortSignal,
  ): Promise<ReceiverResponse> {
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void => owner.deliver(() => reject(new Error(reason)));
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
      const answer = (status: number): void => {
        this.#scheduler.after(this.#draws.duration(5), '', () =>
          owner.deliver(() => resolve(createResponse(status))),
        );
      };
      const arrive = (): void => {
        if (this.#happens('refused')) return fail('connect ECONNREFUSED');
        if (this.#happens('silent')) return;
        if (this.#happens('failed')) return answer(500);
        const parsed: unknown = JSON.parse(body);
        this.deliveries.push({
          receiver: url.hostname,
          eventId: headers['webhook-id'] ?? '',
          at: this.#scheduler.now,
          body: parsed as Record<string, unknown>,
        });
        this.#scheduler.note(`${url.hostname} receives ${headers['webhook-id']}`);
        if (this.#happens('lostAnswers')) return fail('socket hang up');
        answer(204);
      };
      this.#scheduler.after(this.#draws.duration(5), '', arrive);
    });
  }

  #happens(fault: keyof ReceiverFaults): boolean {
    if (!this.#draws.happens(this.faults[fault])) return false;
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    return true;
  }
}

function createResponse(status: number): ReceiverResponse {
  return Object.assign(Readable.from([], { objectMode: false }), { statusCode: status, headers: {} });
}
