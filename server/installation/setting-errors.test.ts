import { expect, test } from 'vitest';
import { ConfigError } from '../config.ts';
import { withSettingName } from './setting-errors.ts';

const fail = (error: Error) => withSettingName('SWITCHYARD_PORT is 8080', () => Promise.reject(error));

test('the error for a port in use names the setting, the reason and the remedy', async () => {
  const inUse = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
  await expect(fail(inUse)).rejects.toEqual(
    new ConfigError(
      'SWITCHYARD_PORT is 8080: listen EADDRINUSE. Another program uses the port: set SWITCHYARD_PORT to a free one.',
    ),
  );
});

test('any other error has its reason, and one that names a setting stays', async () => {
  await expect(fail(new Error('no such host.'))).rejects.toEqual(
    new ConfigError('SWITCHYARD_PORT is 8080: no such host.'),
  );
  const named = new ConfigError('SWITCHYARD_TLS_KEY is wrong.');
  await expect(fail(named)).rejects.toBe(named);
});
