import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Clock } from '../clock.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { startTestServer, type TestServer } from './server.ts';
import { makeWebhook } from './webhooks.ts';

/**
 * A server with the clock for the tests of a file, and for each test a receiver of its own with a webhook on it. To be
 * called outside of a test; `hook`, `server` and `receiver` are there within.
 */
export function withReceiver(clock: Clock) {
  let server: TestServer | undefined;
  let receiver: Receiver | undefined;
  let hook = '';
  const there = <T>(one: T | undefined): T => {
    if (one === undefined) throw new Error('It is there once the tests have begun.');
    return one;
  };
  beforeAll(async () => {
    server = await startTestServer({ clock });
  });
  afterAll(() => server?.close());
  beforeEach(async () => {
    receiver = await startReceiver();
    hook = (await makeWebhook(there(server), receiver.url)).id;
  });
  afterEach(async () => {
    await server?.ask('DELETE', `/v1/webhooks/${hook}`);
    await receiver?.close();
  });
  return {
    get server() {
      return there(server);
    },
    get receiver() {
      return there(receiver);
    },
    get hook() {
      return hook;
    },
    /** A request about the webhook; `rest` comes behind its address. */
    ask: (method: string, rest: string, body?: unknown) =>
      there(server).ask(method, `/v1/webhooks/${hook}${rest}`, { body }),
  };
}
