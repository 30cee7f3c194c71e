/** The driver of the published client, part by part against a server of its own; for the tests of a `describe`. */
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { PublishedClient } from './published-client.ts';
import { startTestServer, type TestServer } from './server.ts';

export const DRIVER = join(import.meta.dirname, '..', 'api', 'published-client.py');

export interface DrivenClient {
  readonly server: TestServer;
  /** What the client's own models held in the part. */
  drive(part: string): Promise<Record<string, unknown>>;
}

/** Starts the server before the tests and closes it after them; `client` may be the sentence that says why there is none. */
export function drivenClient(client: PublishedClient | string): DrivenClient {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());
  return {
    get server() {
      return server;
    },
    async drive(part) {
      if (typeof client === 'string') throw new Error(client);
      return (await client.drive(server, DRIVER, part)) as Record<string, unknown>;
    },
  };
}
