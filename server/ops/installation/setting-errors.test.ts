import { expect, test } from 'vitest';
import { ConfigError } from '../../platform/config.ts';
import { withSettingName } from './setting-errors.ts';

const fail = (error: Error) => withSettingName('SWITCHYARD_PORT is 8080', () => Promise.reject(error));

test('an error has its reason, and one that names a setting stays', async () => {
  await expect(fail(new Error('no such host.'))).rejects.toEqual(
    new ConfigError('SWITCHYARD_PORT is 8080: no such host.'),
  );
  const named = new ConfigError('SWITCHYARD_TLS_KEY is wrong.');
  await expect(fail(named)).rejects.toBe(named);
});
