/** R1: servers that start at the same time on one empty database and one bucket become one installation. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { startS3Server } from '../../platform/blobs/testing/s3-server.ts';
import { readConfig } from '../../platform/config.ts';
import { createDatabase, dropDatabase, TEMPLATE_DATABASE } from '../../testing/database/postgres-server.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { runInstallationCommand } from './installation-command.ts';

const postgres = inject('postgres');

test.runIf(postgres)('R1: a server starts although another one started during its checks', async () => {
  const s3 = await startS3Server();
  const name = `together_${process.pid}`;
  const shared = {
    SWITCHYARD_DATABASE: await createDatabase(postgres, name, TEMPLATE_DATABASE),
    SWITCHYARD_KEY: randomBytes(32).toString('base64'),
    ...s3.env,
  };
  const started: TestServer[] = [];
  const start = async (endpoint: string): Promise<void> => {
    const env = { ...shared, SWITCHYARD_BLOBS: `s3://${s3.bucket}?endpoint=${endpoint}` };
    started.push(await startTestServer({ env }));
  };
  // The first server starts while the second one waits for its first response from the bucket. The gate passes bytes on.
  const gate = createServer(async (incoming) => {
    incoming.on('error', () => incoming.destroy());
    if (started.length === 0) await start(s3.endpoint);
    const { hostname: host, port } = new URL(s3.endpoint);
    const outgoing = connect({ host, port: Number(port) });
    outgoing.on('error', () => incoming.destroy());
    incoming.pipe(outgoing).pipe(incoming);
  });
  await once(gate.listen(0, '127.0.0.1'), 'listening');
  try {
    await start(`http://127.0.0.1:${(gate.address() as AddressInfo).port}`);
    const ids = started.map(({ dataFolder: data }) => readFileSync(join(data, 'installation.json'), 'utf8'));
    expect(ids).toEqual([ids[0], ids[0]]);
    const config = readConfig({
      ...shared,
      SWITCHYARD_DATA: started[0]?.dataFolder,
    });
    const result = await runInstallationCommand([], config);
    expect(result).toEqual({ code: 0, output: expect.not.stringContaining('is stopped') });
  } finally {
    for (const server of started) await server.close();
    gate.close();
    await s3.stop();
    await dropDatabase(postgres, name);
  }
});
