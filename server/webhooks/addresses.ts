/**
 * Where a webhook may reach: public addresses, and what the operator allows beside them. A server that fetches whatever
 * URL it is given lends its place in the network to whoever gives it; so each address is looked at as it is dialled, in
 * every spelling and every way of wrapping an IPv4 address into an IPv6 one, never the name alone.
 */
import { promises as dns } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isLoopbackAddress, isLoopbackHost } from '../account/sign-up.ts';

/** Whether beside public addresses this one may be reached. */
export type AddressRule = (address: string) => boolean;

/** Networks that an operator allows, as `10.0.0.0/8` or a single address; config.ts has checked them. */
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

export const allowLoopback: AddressRule = (address) => isLoopbackAddress(address);

/** The address rule for a webhook, by whether its address was given by a caller on this machine. */
export type AddressRuleFor = (isGivenLocally: boolean) => AddressRule;

/**
 * Returns the rules of this server. `networks` may be reached beside public addresses. Without them, loopback addresses may
 * be reached by webhooks whose address was given on this machine, while `isLocal`: no other machine reaches the server.
 */
export function createAddressRules(
  networks: readonly string[] | null,
  isLocal: () => boolean,
): AddressRuleFor {
  if (networks !== null) {
    const allows = allowNetworks(networks);
    return () => allows;
  }
  return (isGivenLocally) => (address) => isGivenLocally && isLocal() && allowLoopback(address);
}

/** Where addresses of IPv6 that the internet routes begin; all that wraps IPv4 outside of it is not dialled. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Whether anybody on the internet may have this address. An IPv4 address mapped into IPv6 is looked at as what it is. */
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

/** The sentence for a URL that no webhook may have, or null. A name is looked up when it is sent to, not here. */
export function validateWebhookUrl(text: string, allows: AddressRule): string | null {
  if (!URL.canParse(text)) return 'it must be a whole http or https URL';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'it must begin with http:// or https://';
  if (url.username !== '' || url.password !== '')
    return 'it must have no user and password: anyone who may read webhooks would see them';
  const literal = literalOf(url);
  if (literal !== null && !isAllowed(literal, allows)) return `${literal} is not a public address; ${REMEDY}`;
  return null;
}

/** The address that the host of a URL spells, or null for a name. */
function literalOf(url: URL): string | null {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? null : host;
}

export class AddressNotAllowedError extends Error {}

/** Looks up a name: every address it has, in order of preference. Throws when it has none. */
export type ResolveName = (name: string) => Promise<string[]>;

/** The address to dial for the URL, now. Throws RefusedAddressError when it has none that may be reached. */
export async function resolveAllowedAddress(
  url: URL,
  allows: AddressRule,
  resolve: ResolveName,
): Promise<string> {
  const literal = literalOf(url);
  const addresses = literal === null ? await resolve(url.hostname) : [literal];
  // One that may not be reached among others is a trick or a mistake; either way the others do not make it right.
  const refused = addresses.find((one) => isIP(one) === 0 || !isAllowed(one, allows));
  if (refused !== undefined)
    throw new AddressNotAllowedError(
      `${url.hostname} is ${refused}, which is not a public address; ${REMEDY}.`,
    );
  const [first] = addresses;
  if (first === undefined) throw new AddressNotAllowedError(`${url.hostname} has no address.`);
  return first;
}

const LOOKUP_MS = 4000;
const NEGATIVE = new Set(['ENOTFOUND', 'ENODATA', 'NXDOMAIN', 'NODATA']);

/**
 * Asks the name servers without a thread of the pool, so that one that hangs does not keep files waiting to be read; what
 * they do not know may still stand in the hosts file, for which the system is asked, and that is quick to say no.
 */
export const resolveName: ResolveName = async (name) => {
  const bySystem = async () => (await dns.lookup(name, { all: true })).map((one) => one.address);
  // Of this machine, which no name server has to be asked for.
  if (isLoopbackHost(name)) return bySystem();
  const resolver = new dns.Resolver({ timeout: LOOKUP_MS / 2, tries: 2 });
  const asked = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (found.length > 0) return found;
  for (const one of asked)
    if (one.status === 'rejected' && !NEGATIVE.has((one.reason as NodeJS.ErrnoException).code ?? ''))
      throw one.reason;
  return bySystem();
};
