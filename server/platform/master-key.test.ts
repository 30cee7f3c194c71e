import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { createDatabase } from '../testing/database/postgres-server.ts';
import { startTestServer } from '../testing/servers/test-server.ts';

const postgres = inject('postgres');

test('a data folder without its master key is refused with a message that says what to do', async () => {
  await using server = await startTestServer();
  rmSync(join(server.dataFolder, 'master-key'));
  await expect(server.restart()).rejects.toThrow(/master key: set SWITCHYARD_KEY/);
  const key = randomBytes(32).toString('base64');
  await expect(server.restart({ SWITCHYARD_KEY: key })).rejects.toThrow(/master key/);
});

test.runIf(postgres)(
  'one of two servers that start concurrently on an empty database creates the account',
  async () => {
    const address = await createDatabase(postgres, `first_start_${process.pid}`);
    const env = { SWITCHYARD_DATABASE: address, SWITCHYARD_KEY: randomBytes(32).toString('base64') };
    const servers = await Promise.all([startTestServer({ env }), startTestServer({ env })]);
    try {
      expect(servers.map((one) => one.runningServer.firstStart !== null).sort()).toEqual([false, true]);
      const token = servers.map((one) => one.token).find((one) => one !== '') ?? '';
      for (const server of servers)
        expect((await server.request('GET', '/v1/account', { token })).status).toBe(200);
    } finally {
      await Promise.all(servers.map((server) => server.close()));
    }
  },
);
