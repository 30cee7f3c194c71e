import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createConsoleFolder } from '../../testing/servers/console-folder.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const PATH = '/v0/internal/tools';
let server: TestServer;
beforeAll(async () => {
  using console = createConsoleFolder();
  server = await startTestServer({ console: console.path });
});
afterAll(() => server.close());

const getFile = (file: string) => server.request('GET', `${PATH}?${new URLSearchParams({ file })}`);

describe('the community apps', () => {
  test.each([
    ['community-apps/manifest.yml', '"name":"knapsack"'],
    ['community-apps/knapsack/v1.0.0/knapsack_v1.0.0.tar.gz', 'archive'],
  ])('%s has an address that needs no token', async (file, text) => {
    const response = await getFile(file);
    expectStatus(response, 200);
    const { url } = response.body as { url: string };
    expect(await (await fetch(url)).text()).toContain(text);
  });

  test.each([
    ['another version', 'community-apps/knapsack/v2.0.0/knapsack_v2.0.0.tar.gz'],
    ['an archive of another name', 'community-apps/knapsack/v1.0.0/other_v1.0.0.tar.gz'],
    ['an app that is not listed', 'community-apps/unlisted/v1.0.0/unlisted_v1.0.0.tar.gz'],
    ['a file of the console', '/index.html'],
    ['a path upwards', 'community-apps/../../../etc/passwd'],
    ['a path upwards in an id', 'community-apps/../v1.0.0/.._v1.0.0.tar.gz'],
    ['a property of every object', 'community-apps/__proto__/constructor/__proto___constructor.tar.gz'],
  ])('404 for %s', async (_, file) => {
    expectError(await getFile(file), 404, file);
  });

  test('400 without a file', async () => {
    expectError(await server.request('GET', PATH), 400, 'file');
  });
});

test('a server without the built console says so', async () => {
  const bare = await startTestServer();
  const response = await bare.request('GET', `${PATH}?file=community-apps/manifest.yml`);
  await bare.close();
  expectError(response, 404, 'npm start');
});
