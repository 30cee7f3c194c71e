import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from './main.ts';
import { ConfigError, readConfig } from './platform/config.ts';
import { listenOnFreePort } from './testing/http/receiver.ts';

test('a start on a port in use names setting, reason and remedy, and creates no data folder', async () => {
  const { port, close } = await listenOnFreePort(createServer(), '127.0.0.1');
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-port-'));
  const data = join(folder, 'data');
  try {
    const config = readConfig({ SWITCHYARD_DATA: data, SWITCHYARD_PORT: String(port) });
    await expect(startServer(config)).rejects.toEqual(
      new ConfigError(
        `SWITCHYARD_HOST is "127.0.0.1" and SWITCHYARD_PORT is ${port}, where the server cannot listen: listen EADDRINUSE: address already in use 127.0.0.1:${port}. Another program uses the port: set SWITCHYARD_PORT to a free one.`,
      ),
    );
    expect(existsSync(data)).toBe(false);
  } finally {
    await close();
    rmSync(folder, { recursive: true });
  }
});
