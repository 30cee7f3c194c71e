/**
 * Creates and deletes applications during the chaos test, each with an executable and runs. Deletion must leave
 * nothing.
 */
import { packFiles } from '../server/testing/fixtures/apps.ts';
import { sleep } from '../server/testing/host/sleep.ts';
import { LOAD_APP, type RequestTarget } from '../server/testing/load/run-load.ts';
import { RetryingClient } from './retrying-client.ts';

const RUNS = 4;

/** Creates, uses and deletes applications, one at a time. */
export class ApplicationLoad {
  readonly deleted: string[] = [];
  readonly #target: RequestTarget;
  readonly #client: RetryingClient;
  #stopped = false;

  constructor(target: RequestTarget) {
    this.#target = target;
    this.#client = new RetryingClient(target);
  }

  get rejections(): readonly string[] {
    return this.#client.rejections;
  }

  /** Creates and deletes applications one after the other until the load stops. */
  async createAndDelete(): Promise<void> {
    const archive = await packFiles({
      'app.yaml': 'type: binary\nruntime: shell\nfiles: ["**"]\n',
      ...LOAD_APP,
    });
    for (let count = 0; !this.#stopped; count += 1) {
      const id = `temporary-${count}`;
      await this.#client.retry('POST', '/v1/applications', { id, name: `Application ${id}` });
      // The input is large enough for a blob. A run that is queued at the deletion never ends.
      const input = { n: count, ms: 200, exit: 0, pad: 10, filler: 'x'.repeat(80_000) };
      if (await this.#push(id, archive))
        for (let run = 0; run < RUNS; run += 1)
          await this.#client.retry('POST', `/v1/applications/${id}/runs`, { input });
      await sleep(Math.random() * 2000);
      await this.#client.retry('DELETE', `/v1/applications/${id}`);
      this.deleted.push(id);
      await sleep(Math.random() * 1000);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Returns false if the upload URL had expired, or the server became unavailable in between. */
  async #push(id: string, archive: Uint8Array): Promise<boolean> {
    const path = `/v1/applications/${id}/binary`;
    try {
      const { body } = await this.#target.request('GET', path);
      const { upload_url } = body as { upload_url: string };
      const put = await fetch(upload_url, { method: 'PUT', body: new Uint8Array(archive) });
      if (put.status !== 200) return false;
      const requirements = { executable_type: 'binary', runtime: 'shell' };
      const response = await this.#target.request('PUT', path, { body: { requirements } });
      return response.status === 200;
    } catch {
      return false;
    }
  }
}
