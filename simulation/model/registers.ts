/** The settings that clients write and read: each read must return a value that a write has left, or may have left. */

/** A request may take effect so long after its answer, when the network is late or has doubled it. */
export const LATE_MS_MAX = 120_000;

type Value = number | string;

interface Write {
  value: Value;
  from: number;
  /** When it was answered as done; null: it may still take effect, or never. */
  answeredAt: number | null;
  /** From then on it has no effect of its own any more. */
  endsAt: number;
}

/** The writes of one simulation, by the name of the setting. */
export class Registers {
  readonly #getNow: () => number;
  readonly #writes = new Map<string, Write[]>();
  /** Reads cannot be judged for settings whose first value is unknown. */
  readonly #report: (promise: string, detail: string) => void;

  constructor(getNow: () => number, report: (promise: string, detail: string) => void) {
    this.#getNow = getNow;
    this.#report = report;
  }

  /** Sets the value before the load. */
  define(name: string, value: Value): void {
    this.#writes.set(name, [
      {
        value,
        from: Number.NEGATIVE_INFINITY,
        answeredAt: Number.NEGATIVE_INFINITY,
        endsAt: Number.NEGATIVE_INFINITY,
      },
    ]);
  }

  /** A write is sent; call the returned function when it was answered as done. */
  begin(name: string, value: Value): (wasSentOnce: boolean) => void {
    const from = this.#getNow();
    const write: Write = { value, from, answeredAt: null, endsAt: Number.POSITIVE_INFINITY };
    this.#writes.set(name, [...(this.#writes.get(name) ?? []), write]);
    return (wasSentOnce) => {
      write.answeredAt = this.#getNow();
      write.endsAt = write.answeredAt + (wasSentOnce ? 0 : LATE_MS_MAX);
    };
  }

  /** A client that sent its request at the time has read the value now. */
  checkRead(name: string, value: Value, sentAt: number): void {
    const writes = this.#writes.get(name) ?? [];
    const isOverwritten = (one: Write): boolean =>
      writes.some(
        (later) => later.from > one.endsAt && (later.answeredAt ?? Number.POSITIVE_INFINITY) < sentAt,
      );
    if (writes.some((one) => one.value === value && !isOverwritten(one))) return;
    const last = writes.findLast(({ answeredAt }) => answeredAt !== null);
    this.#report(
      'a setting is as it was last set',
      `${name} is ${value}; the last acknowledged one is ${last?.value}`,
    );
  }
}
