/** Runs parts of the driver of the published client against a server, for the tests of a `describe`. */
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startTestServer, type TestServer } from '../../server/testing/servers/test-server.ts';
import type { PublishedClient } from './published-client.ts';

export const DRIVER_PATH = join(import.meta.dirname, 'driver.py');

/** A server, and the driver that runs against it. */
export interface ClientDriver {
  readonly server: TestServer;
  /** Runs one part; returns the values that the client's own models hold. */
  runPart(part: string): Promise<Record<string, unknown>>;
}

/** Starts the server before the tests and closes it after them. `client` may be the reason why there is none. */
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
