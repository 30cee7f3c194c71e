/**
 * Whether somebody without a token may make an account: what the operator said, and by default only somebody on the
 * server's own machine. A page of another site that had its name point at this machine would pass for one, so the name
 * the request was sent to counts, too, and so does what a proxy says of itself.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { Config } from '../config.ts';

export interface SignUpPolicy {
  mode: Config['signUp'];
  /** Whether the server is for its own machine alone; known once it listens. */
  isLocal(): boolean;
}

const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'via'];
const OPERATOR = 'The operator makes accounts with a root key';

/** Why it is refused; empty when it is allowed. */
export function explainSignUpRefusal({ mode, isLocal }: SignUpPolicy, headers: IncomingHttpHeaders): string {
  if (mode === 'open') return '';
  if (mode === 'closed') return `Sign-up is closed on this server. ${OPERATOR}.`;
  if (isLocal() && isLocalRequest(headers)) return '';
  return `Sign-up is only for callers on the machine of a server that no other machine can reach. ${OPERATOR}, or opens sign-up with SWITCHYARD_SIGN_UP=open.`;
}

/**
 * Whether the caller is on this machine, as far as a request can show it: it was sent to a loopback name, and no proxy says
 * that it passed it on. It means something only where the server listens to its own machine.
 */
export function isLocalRequest(headers: IncomingHttpHeaders): boolean {
  return (
    isLoopbackHost(hostOf(headers.host ?? '')) && !PROXY_HEADERS.some((name) => headers[name] !== undefined)
  );
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether an address is of this machine alone. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Whether a host, as a URL has it, is a name or address of the machine that asks. */
export function isLoopbackHost(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || isLoopbackAddress(host.replace(/^\[|\]$/g, ''))
  );
}

function hostOf(header: string): string {
  const url = `http://${header}`;
  return URL.canParse(url) ? new URL(url).hostname : '';
}
