/** Repeats requests until they have a response. Each has one effect, however often it is sent. */

import { sleep } from '../server/testing/host/sleep.ts';
import type { RequestOptions, TestResponse } from '../server/testing/http/request.ts';
import type { RequestTarget } from '../server/testing/load/run-load.ts';

/** A client that repeats each request until it has a response. */
export class RetryingClient {
  /** Responses with an unexpected error status. */
  readonly rejections: string[] = [];
  readonly #target: RequestTarget;
  #count = 0;

  constructor(target: RequestTarget) {
    this.#target = target;
  }

  /**
   * Sends the request until it has a response. A POST has an idempotency key, so it takes effect once. A repeated
   * DELETE may return 404.
   */
  async retry(method: string, path: string, body?: RequestOptions['body']): Promise<TestResponse> {
    this.#count += 1;
    const key = `${this.#count} ${path}`.replace(/[^!-~]/g, '-');
    let again = false;
    for (;;) {
      const response = await this.#target
        .request(method, path, {
          ...(body ? { body } : {}),
          ...(method === 'POST' ? { headers: { 'idempotency-key': key } } : {}),
        })
        .catch(() => null);
      if (response) {
        const isGone = method === 'DELETE' && again && response.status === 404;
        if (response.status >= 400 && !isGone)
          this.rejections.push(`${method} ${path} ${response.status} ${response.text.slice(0, 200)}`);
        return response;
      }
      again = true;
      await sleep(100);
    }
  }
}
