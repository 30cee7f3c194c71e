/**
 * The addresses that webhooks can reach: public ones, and those that the operator allows. Without this check a caller could
 * use the server to reach its private network (server-side request forgery). The check applies to the address of each
 * connection, not to the host name, and covers every notation and every embedding of IPv4 in IPv6.
 */
import { promises as dns } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isLoopbackAddress, isLoopbackHost } from '../../accounts/account/sign-up.ts';

/** Returns true for an address that webhooks can reach although it is not public. */
export type AddressRule = (address: string) => boolean;

/** Returns the rule for networks that the operator allows, such as `10.0.0.0/8` or one address; config.ts validates them. */
export function allowNetworks(networks: readonly string[]): AddressRule {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** The rule for loopback addresses. */
export const allowLoopback: AddressRule = (address) => isLoopbackAddress(address);

/** Returns the rule for a webhook; `isLocallySet` is true when a caller on this machine set its address. */
export type AddressRuleFor = (isLocallySet: boolean) => AddressRule;

/**
 * Returns the rules of this server. With `networks`, webhooks reach those and public addresses. Without, a webhook also
 * reaches loopback addresses if a caller on this machine set its address and `isLocal`: no other machine reaches the server.
 */
export function createAddressRules(
  networks: readonly string[] | null,
  isLocal: () => boolean,
): AddressRuleFor {
  if (networks !== null) {
    const allows = allowNetworks(networks);
    return () => allows;
  }
  return (isLocallySet) => (address) => isLocallySet && isLocal() && allowLoopback(address);
}

/** Global unicast IPv6 (RFC 4291, section 2.4). Embeddings of IPv4 outside of it are not public. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Returns true for an address of the public internet. An IPv4-mapped IPv6 address counts as its IPv4 address. */
export function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6);
}

function isAllowed(address: string, allows: AddressRule): boolean {
  return isPublicAddress(address) || allows(ipaddr.process(address).toString());
}

const REMEDY =
  'the operator can allow it with SWITCHYARD_WEBHOOK_NETWORKS, and without that setting a loopback address can be given on the machine of a local server, not through a proxy';

/** Returns the error message for an invalid or forbidden URL, or null. Host names are resolved at each delivery, not here. */
export function validateWebhookUrl(text: string, allows: AddressRule): string | null {
  if (!URL.canParse(text)) return 'it must be a whole http or https URL';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'it must begin with http:// or https://';
  if (url.username !== '' || url.password !== '')
    return 'it must have no user and password: anyone who may read webhooks would see them';
  const literal = parseLiteralAddress(url);
  if (literal !== null && !isAllowed(literal, allows)) return `${literal} is not a public address; ${REMEDY}`;
  return null;
}

/** Returns the host of the URL when it is an address, or null for a name. */
function parseLiteralAddress(url: URL): string | null {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? null : host;
}

class AddressNotAllowedError extends Error {}

/** Resolves a name to all its addresses, in order of preference. Throws when it has none. */
export type ResolveName = (name: string) => Promise<string[]>;

/** Returns the address for a connection to the URL. Throws an AddressNotAllowedError when one of its addresses is forbidden. */
export async function resolveAllowedAddress(
  url: URL,
  allows: AddressRule,
  resolve: ResolveName,
): Promise<string> {
  const literal = parseLiteralAddress(url);
  const addresses = literal === null ? await resolve(url.hostname) : [literal];
  // One forbidden address among allowed ones is an attack or a mistake, so it excludes the others.
  const refused = addresses.find((one) => isIP(one) === 0 || !isAllowed(one, allows));
  if (refused !== undefined)
    throw new AddressNotAllowedError(
      `${url.hostname} is ${refused}, which is not a public address; ${REMEDY}.`,
    );
  const [first] = addresses;
  if (first === undefined) throw new AddressNotAllowedError(`${url.hostname} has no address.`);
  return first;
}

const LOOKUP_TIMEOUT_MS = 4000;
const NOT_FOUND_CODES = new Set(['ENOTFOUND', 'ENODATA', 'NXDOMAIN', 'NODATA']);

function isNotFound(error: NodeJS.ErrnoException): boolean {
  return NOT_FOUND_CODES.has(error.code ?? '');
}

/**
 * Resolves a name with the c-ares resolver, which needs no thread of the pool: a name server that does not respond would
 * otherwise block file access. Unknown names may be in the hosts file, so the system resolver gets them next.
 */
export const resolveName: ResolveName = async (name) => {
  const resolveBySystem = async () => (await dns.lookup(name, { all: true })).map((one) => one.address);
  // Loopback names need no name server.
  if (isLoopbackHost(name)) return resolveBySystem();
  const resolver = new dns.Resolver({ timeout: LOOKUP_TIMEOUT_MS / 2, tries: 2 });
  const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (found.length > 0) return found;
  for (const one of results) if (one.status === 'rejected' && !isNotFound(one.reason)) throw one.reason;
  return resolveBySystem();
};
