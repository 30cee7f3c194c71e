/** Settings that name networks. server/platform/config.ts passes the variables. */
import { isIP } from 'node:net';
import { ConfigError } from '../config-error.ts';
import type { Environment } from './read-setting.ts';

const LOOPBACK_NETWORKS = ['127.0.0.0/8', '::1'];

/** Parses networks and addresses such as `10.1.0.0/16,fd00::/8,192.168.1.5`; `words` are the other values, for the message. */
export function parseNetworks(name: string, value: string, words: string): string[] {
  const networks = value.split(',').map((one) => one.trim());
  for (const network of networks) {
    const [address = '', prefix, ...rest] = network.split('/');
    const bits = isIP(address) === 4 ? 32 : 128;
    const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
    if (isIP(address) === 0 || !isPrefix || rest.length > 0)
      throw new ConfigError(
        `${name} has "${network}"; it must be ${words}, or networks and addresses separated by commas, such as 10.1.0.0/16,192.168.1.5.`,
      );
  }
  return networks;
}

/** Parses `loopback`, or addresses and networks of proxies. */
export function readTrustedProxies(env: Environment): string[] {
  const value = env.SWITCHYARD_TRUSTED_PROXIES;
  if (!value) return [];
  if (value === 'loopback') return LOOPBACK_NETWORKS;
  return parseNetworks('SWITCHYARD_TRUSTED_PROXIES', value, 'loopback');
}
