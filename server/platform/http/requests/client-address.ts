/**
 * The address of the caller of a request. Behind proxies that SWITCHYARD_TRUSTED_PROXIES names, it is the last address of
 * `X-Forwarded-For` that is none of them. A proxy appends the address of its own caller, who may have invented all others.
 */
import { BlockList, isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** Proxies behind each other; a longer list is invented. */
const PROXIES_MAX = 16;

/** Returns true for the address of a proxy whose `X-Forwarded-For` names its caller. */
export type IsTrustedProxy = (address: string) => boolean;

/** Returns the check for addresses and networks such as `10.1.0.0/16`. */
export function createProxyCheck(networks: readonly string[]): IsTrustedProxy {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    list.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return (address) => {
    const plain = removeMapping(address);
    const family = isIP(plain);
    return family !== 0 && list.check(plain, family === 4 ? 'ipv4' : 'ipv6');
  };
}

/** Returns the address of the caller; that of the last proxy when it forwards none or no address. */
export function resolveClientAddress(
  peer: string,
  forwardedFor: string | string[] | undefined,
  isTrusted: IsTrustedProxy,
): string {
  if (forwardedFor === undefined || !isTrusted(peer)) return peer;
  const forwarded = String(forwardedFor).split(',');
  let client = peer;
  for (const text of forwarded.reverse().slice(0, PROXIES_MAX)) {
    const address = parseAddress(text.trim());
    if (address === null) return client;
    client = address;
    if (!isTrusted(client)) return client;
  }
  return client;
}

/** Returns the address of a request; see `resolveClientAddress`. */
export const readClientAddress = ({ raw }: FastifyRequest, isTrusted: IsTrustedProxy): string =>
  resolveClientAddress(raw.socket.remoteAddress ?? '', raw.headers['x-forwarded-for'], isTrusted);

/** Parses an address; some proxies append its port, and put IPv6 into brackets. Returns null for any other text. */
function parseAddress(text: string): string | null {
  const [, bracketed] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text) ?? [];
  const [, withPort] = /^([\d.]+):\d{1,5}$/.exec(text) ?? [];
  const address = bracketed ?? withPort ?? text;
  return isIP(address) === 0 ? null : address;
}

/** Returns an IPv4 address in its own notation: a socket of both families has it as `::ffff:10.0.0.1`. */
function removeMapping(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
