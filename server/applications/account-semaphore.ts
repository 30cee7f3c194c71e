/**
 * Who looks at a pushed archive when. Unpacking up to 2 GiB and reading a manifest take seconds and some hundred megabytes,
 * so only a few of one account are looked at at once; the others of it wait, and other accounts do not.
 */
const PER_ACCOUNT_MAX = 2;

export class AccountSemaphore {
  readonly #busy = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Does the work as soon as it is its turn. */
  async run<T>(account: string, work: () => Promise<T>): Promise<T> {
    await this.#enter(account);
    try {
      return await work();
    } finally {
      this.#leave(account);
    }
  }

  async #enter(account: string): Promise<void> {
    const busy = this.#busy.get(account) ?? 0;
    if (busy < PER_ACCOUNT_MAX) {
      this.#busy.set(account, busy + 1);
      return;
    }
    await new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(account) ?? [];
      waiting.push(resolve);
      this.#waiting.set(account, waiting);
    });
  }

  /** The place goes to who waits longest, so that nobody comes in between. */
  #leave(account: string): void {
    const waiting = this.#waiting.get(account) ?? [];
    const next = waiting.shift();
    if (waiting.length === 0) this.#waiting.delete(account);
    if (next) return next();
    const busy = (this.#busy.get(account) ?? 1) - 1;
    if (busy === 0) this.#busy.delete(account);
    else this.#busy.set(account, busy);
  }
}
