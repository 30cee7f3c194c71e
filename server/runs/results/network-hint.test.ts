/** The error of an app that fails without network names the setting that allows it. */
import { findNetworkHint } from '@switchyard/worker/results/outcome.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

test.each([
  'curl: (6) Could not resolve host: example.com',
  'socket.gaierror: [Errno -3] Temporary failure in name resolution',
  "urllib3.exceptions.NameResolutionError: Failed to resolve 'pypi.org'",
  'OSError: [Errno 101] Network is unreachable',
  'Error: getaddrinfo EAI_AGAIN example.com',
  'Error: connect ENETUNREACH 10.0.0.1:443 - Local (0.0.0.0:0)',
  'dial tcp: lookup example.com on [::1]:53: read udp: connection refused',
  'Exception in thread "main" java.net.UnknownHostException: example.com',
])('B15: %s is the message of a missing network', (line) => {
  expect(findNetworkHint(`starting\n${line}\n`)).toContain('"network": true');
});

test.each([
  '',
  'no route from depot to stop 7',
  'the network has 12 nodes',
  'connection refused by the planner',
])('%o is not the message of a missing network', (line) => expect(findNetworkHint(line)).toBe(''));

describe('a failed run', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
    const app = nodeApp(`async ({ print, lookup }) => {
      if (lookup) await (await import('node:dns/promises')).lookup(lookup);
      console.error(print);
      process.exit(1);
    }`);
    await pushApp(server, 'app', app);
    const at = '/v1/applications/app';
    const version = await server.request('POST', `${at}/versions`, {
      body: { id: 'v1', name: 'Version one' },
    });
    expectStatus(version, 201);
    const body = { id: 'online', name: 'Online', version_id: 'v1', configuration: { network: true } };
    expectStatus(await server.request('POST', `${at}/instances`, { body }), 201);
  });
  afterAll(() => server.close());

  const runAndReadError = async (input: object, instance = 'latest') => {
    const { error, metadata } = await createRunAndWait(server, 'app', { input, instance });
    return { error, isSandboxed: metadata.containment === 'sandbox' };
  };

  test('B15: names the setting of the instance when its app could not resolve a name', async () => {
    const { error, isSandboxed } = await runAndReadError({ lookup: 'example.com' });
    // Without a sandbox the app has the network.
    expect(error).toMatch(
      isSandboxed
        ? /^The app ended with exit code 1\. Its log shows .* "network": true\.$/
        : /^The app ended with exit code 1\.$/,
    );
  });

  test.each([
    ['failed for another reason', { print: 'no plan' }, 'latest'],
    ['has the network', { print: 'Temporary failure in name resolution' }, 'online'],
  ])('B15: does not mention the setting when the app %s', async (_, input, instance) => {
    expect((await runAndReadError(input, instance)).error).toBe('The app ended with exit code 1.');
  });
});
