/**
 * Calls every public method of the client's `cloud` module, every command and every tool of its MCP server. The server has
 * a self-signed certificate. The programs find the names in the client, so a newer one with more of them fails here. With
 * `-u` the test writes COVERAGE.md again.
 */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createVersion } from '../../../server/testing/fixtures/resources.ts';
import { publishApp } from '../../../server/testing/http/marketplace.ts';
import { installPythonPackage, type PythonPackage } from '../../../server/testing/python/python-package.ts';
import { createAccountServer } from '../../../server/testing/servers/account-server.ts';
import type { TestServer } from '../../../server/testing/servers/test-server.ts';
import { startClientDriver } from '../client-driver.ts';
import { openPublishedClient } from '../published-client.ts';
import { type Coverage, findProblems, formatCoverage, type Outcomes } from './table.ts';

const client = await openPublishedClient();
const tools = typeof client === 'string' ? client : await openToolPackages();

/** Returns the packages that the MCP server needs beside the client, or the reason why they cannot be installed. */
async function openToolPackages(): Promise<PythonPackage | string> {
  return await installPythonPackage('nextmv-mcp').catch((error: Error) => error.message);
}

/** Publishes an app from another account; returns the id with which the account of the client subscribes to it. */
async function offerApp(server: TestServer): Promise<string> {
  const partner = await createAccountServer(server);
  const app = await createVersion(partner);
  return publishApp(partner, { id: app, application: app, title: 'Offered', versions: ['v1'] });
}

// client.test.ts reports a missing client.
describe.skipIf(typeof tools === 'string')('the published client', () => {
  const driven = startClientDriver(client, { hasSamples: true });
  const callEvery = async (program: string, argument = ''): Promise<Outcomes> =>
    (await driven.session.runDriver(join(import.meta.dirname, program), argument)) as Outcomes;

  test('works as the table says, method by method, command by command, tool by tool', async () => {
    if (typeof tools === 'string') throw new Error(tools);
    const offered = await offerApp(driven.server);
    const coverage: Coverage = {
      methods: await callEvery('methods.py', offered),
      commands: await callEvery('commands.py', offered),
      // Beside the packages of the client, because its other programs would import these too.
      tools: await callEvery('tools.py', tools.packagesPath),
    };
    // The command that served the tools.
    coverage.commands['mcp serve'] = '';
    expect(findProblems(coverage)).toEqual([]);
    await expect(formatCoverage(coverage)).toMatchFileSnapshot(
      join(import.meta.dirname, '..', 'COVERAGE.md'),
    );
  });
});

test('a new, a failing, a repaired and a removed name are problems', () => {
  const coverage: Coverage = {
    methods: { 'Application.new_thing': null, 'Application.get': 'HTTPError: 500', 'Account.queue': '' },
    commands: { 'cloud sso get': '404', 'cloud sso set': '404' },
    tools: {},
  };
  const problems = findProblems(coverage);
  expect(problems).toContain('Application.new_thing: nothing calls it. Add a call to methods.py.');
  expect(problems).toContain('Application.get failed: HTTPError: 500');
  expect(problems).toContain('Account.queue works. Remove it from expected.ts.');
  expect(problems.find((one) => one.includes('list_integrations'))).toMatch(/matches no name.*Remove it/);
  expect(problems.filter((one) => one.includes('sso'))).toEqual([]);
});
