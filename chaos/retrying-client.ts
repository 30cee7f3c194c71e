/** Requests that are made again until they are answered, each with one effect however often it is asked for. */

import { sleep } from '../server/testing/host/sleep.ts';
import type { RequestOptions, TestResponse } from '../server/testing/http/request.ts';
import type { RequestTarget } from '../server/testing/load/run-load.ts';

export class RetryingClient {
  /** Answers that should not have been given. */
  readonly rejections: string[] = [];
  readonly #target: RequestTarget;
  #count = 0;

  constructor(target: RequestTarget) {
    this.#target = target;
  }

  /** A POST goes under a key of its own, so that it is done once; what is gone when it is deleted again is deleted. */
  async retry(method: string, path: string, body?: RequestOptions['body']): Promise<TestResponse> {
    this.#count += 1;
    const key = `${this.#count} ${path}`.replace(/[^!-~]/g, '-');
    let again = false;
    for (;;) {
      const answer = await this.#target
        .request(method, path, {
          ...(body ? { body } : {}),
          ...(method === 'POST' ? { headers: { 'idempotency-key': key } } : {}),
        })
        .catch(() => null);
      if (answer) {
        const isGone = method === 'DELETE' && again && answer.status === 404;
        if (answer.status >= 400 && !isGone)
          this.rejections.push(`${method} ${path} ${answer.status} ${answer.text.slice(0, 200)}`);
        return answer;
      }
      again = true;
      await sleep(100);
    }
  }
}
