/**
 * Limits how many archives of one account are inspected at the same time. To unpack up to 2 GiB and to read a manifest takes
 * seconds and hundreds of megabytes. Further archives of an account wait in order of arrival; other accounts do not wait.
 */
import PQueue from 'p-queue';

const CONCURRENCY_PER_ACCOUNT_MAX = 2;

/** A semaphore for each account; it stores nothing for an account without work. */
export class AccountSemaphore {
  readonly #queues = new Map<string, PQueue>();

  /** Runs the work as soon as the account has a free slot; returns its result or rejects with its error. */
  async run<T>(account: string, work: () => Promise<T>): Promise<T> {
    let queue = this.#queues.get(account);
    if (!queue) {
      queue = new PQueue({ concurrency: CONCURRENCY_PER_ACCOUNT_MAX });
      queue.addEventListener('idle', () => this.#queues.delete(account), { once: true });
      this.#queues.set(account, queue);
    }
    return queue.add(work);
  }
}
