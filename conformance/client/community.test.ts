/** `nextmv community` of the published client against a server that cannot reach the internet. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packSamples } from '../../console/build/sample-archives.ts';
import { createConsoleFolder } from '../../server/testing/servers/console-folder.ts';
import { startTestServer, type TestServer } from '../../server/testing/servers/test-server.ts';
import { type ClientSession, openPublishedClient } from './published-client.ts';

const REPOSITORY = join(import.meta.dirname, '..', '..');
const client = await openPublishedClient();

// Skipped where the client cannot be installed.
describe.skipIf(typeof client === 'string')('nextmv community', () => {
  let server: TestServer;
  let session: ClientSession;
  let folder: string;
  beforeAll(async () => {
    if (typeof client === 'string') return;
    folder = mkdtempSync(join(tmpdir(), 'switchyard-community-'));
    using console = createConsoleFolder(await packSamples(REPOSITORY));
    server = await startTestServer({ env: { SWITCHYARD_TLS: 'self-signed' }, console: console.path });
    session = client.startSession(server);
  });
  afterAll(async () => {
    await session?.[Symbol.asyncDispose]();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await session.runCommand(['community', ...args], folder);
    expect(exitCode, stdout + stderr).toBe(0);
    return stdout;
  };

  test('lists the sample apps with their versions', async () => {
    // The client knows no apps of the type node.
    expect((await run('list', '--flat')).split('\n')).toEqual([
      'knapsack-python',
      'order-batching-native',
      '',
    ]);
    expect(await run('list', '--app', 'knapsack-python', '--flat')).toMatch(/^v\d+\.\d+\.\d+\n$/);
  });

  test('clones each app with all that a run needs', async () => {
    for (const [app, main] of [
      ['knapsack-python', 'main.py'],
      ['order-batching-native', 'main'],
    ] as const) {
      await run('clone', '--app', app);
      const original = join(REPOSITORY, 'sample-apps', app);
      for (const name of ['app.yaml', 'README.md', 'input.json', main])
        expect(readFileSync(join(folder, app, name))).toEqual(readFileSync(join(original, name)));
    }
    const { exitCode, stdout, stderr } = await session.runCommand(
      ['community', 'clone', '--app', 'unknown'],
      folder,
    );
    expect(exitCode).not.toBe(0);
    expect(stdout + stderr).toContain('not found');
  });
});
