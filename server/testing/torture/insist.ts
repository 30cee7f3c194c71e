/** Requests that are made again until they are answered, each with one effect however often it is asked for. */
import type { Answer, Ask } from '../request.ts';
import { pause, type Target } from './load.ts';

export class Insisting {
  /** Answers that should not have been given. */
  readonly refused: string[] = [];
  readonly #target: Target;
  #count = 0;

  constructor(target: Target) {
    this.#target = target;
  }

  /** A POST goes under a key of its own, so that it is done once; what is gone when it is deleted again is deleted. */
  async must(method: string, path: string, body?: Ask['body']): Promise<Answer> {
    this.#count += 1;
    const key = `${this.#count} ${path}`.replace(/[^!-~]/g, '-');
    let again = false;
    for (;;) {
      const answer = await this.#target
        .ask(method, path, {
          ...(body ? { body } : {}),
          ...(method === 'POST' ? { headers: { 'idempotency-key': key } } : {}),
        })
        .catch(() => null);
      if (answer) {
        const isGone = method === 'DELETE' && again && answer.status === 404;
        if (answer.status >= 400 && !isGone)
          this.refused.push(`${method} ${path} ${answer.status} ${answer.text.slice(0, 200)}`);
        return answer;
      }
      again = true;
      await pause(100);
    }
  }
}
