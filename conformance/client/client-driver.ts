/** The driver of the published client, part by part against a server of its own; for the tests of a `describe`. */
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startTestServer, type TestServer } from '../../server/testing/servers/test-server.ts';
import type { PublishedClient } from './published-client.ts';

export const DRIVER_PATH = join(import.meta.dirname, 'driver.py');

export interface ClientDriver {
  readonly server: TestServer;
  /** What the client's own models held in the part. */
  runPart(part: string): Promise<Record<string, unknown>>;
}

/** Starts the server before the tests and closes it after them; `client` may be the sentence that says why there is none. */
export function startClientDriver(client: PublishedClient | string): ClientDriver {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());
  return {
    get server() {
      return server;
    },
    async runPart(part) {
      if (typeof client === 'string') throw new Error(client);
      return (await client.runDriver(server, DRIVER_PATH, part)) as Record<string, unknown>;
    },
  };
}
