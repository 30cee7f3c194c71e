import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../config.ts';
import { startServer } from '../main.ts';
import { listenOnFreePort } from '../testing/http/receiver.ts';
import { withSettingName } from './setting-errors.ts';

const fail = (error: Error) => withSettingName('SWITCHYARD_PORT is 8080', () => Promise.reject(error));

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

test('any other error has its reason, and one that names a setting stays', async () => {
  await expect(fail(new Error('no such host.'))).rejects.toEqual(
    new ConfigError('SWITCHYARD_PORT is 8080: no such host.'),
  );
  const named = new ConfigError('SWITCHYARD_TLS_KEY is wrong.');
  await expect(fail(named)).rejects.toBe(named);
});
