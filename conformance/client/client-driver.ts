/** Runs parts of the driver of the published client against a server, for the tests of a `describe`. */
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { packSamples } from '../../console/build/sample-archives.ts';
import { createConsoleFolder } from '../../server/testing/servers/console-folder.ts';
import { startTestServer, type TestServer } from '../../server/testing/servers/test-server.ts';
import type { ClientSession, PublishedClient } from './published-client.ts';

const REPOSITORY = join(import.meta.dirname, '..', '..');
export const DRIVER_PATH = join(import.meta.dirname, 'driver.py');

/** A server, and the driver that runs against it. */
export interface ClientDriver {
  readonly server: TestServer;
  readonly session: ClientSession;
  /** Runs one part; returns the values that the client's own models hold. */
  runPart(part: string): Promise<Record<string, unknown>>;
}

/**
 * Starts a server with TLS, and the client, before the tests and closes them after. `client` may be the reason why there is
 * none. With `hasSamples` the server has the sample apps as community apps.
 */
export function startClientDriver(
  client: PublishedClient | string,
  { hasSamples = false } = {},
): ClientDriver {
  let server: TestServer;
  let session: ClientSession | undefined;
  const getSession = (): ClientSession => {
    if (session === undefined) throw new Error(`There is no session of the client: ${client}`);
    return session;
  };
  beforeAll(async () => {
    using samples = hasSamples ? createConsoleFolder(await packSamples(REPOSITORY)) : null;
    server = await startTestServer({
      env: { SWITCHYARD_TLS: 'self-signed' },
      ...(samples && { console: samples.path }),
    });
    if (typeof client !== 'string') session = client.startSession(server);
  });
  afterAll(async () => {
    await session?.[Symbol.asyncDispose]();
    await server.close();
  });
  return {
    get server() {
      return server;
    },
    get session() {
      return getSession();
    },
    async runPart(part) {
      return (await getSession().runDriver(DRIVER_PATH, part)) as Record<string, unknown>;
    },
  };
}
