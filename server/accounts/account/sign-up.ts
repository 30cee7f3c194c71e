/**
 * The sign-up policy: which callers may create an account without a token. The operator sets it; by default only callers on
 * the machine of the server may. The Host header must name the loopback interface, because a page of another site can point
 * its DNS name at 127.0.0.1 (DNS rebinding). Headers of proxies exclude forwarded requests.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { hasRight } from '@switchyard/contract/roles.ts';
import type { Config } from '../../platform/config.ts';
import { forbidden } from '../../platform/http/errors/problem.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';

/** The setting of the operator, and the reachability of the server. */
export interface SignUpPolicy {
  mode: Config['signUp'];
  /** Returns true when only the machine of the server can reach it; known once the server listens. */
  isLocal(): boolean;
}

const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'via'];
const OPERATOR_ADVICE = 'The operator creates accounts with a root key';

/** Returns the reason for which sign-up is refused; empty when it is allowed. */
export function explainSignUpRefusal({ mode, isLocal }: SignUpPolicy, headers: IncomingHttpHeaders): string {
  if (mode === 'open') return '';
  if (mode === 'closed') return `Sign-up is closed on this server. ${OPERATOR_ADVICE}.`;
  if (isLocal() && isLocalRequest(headers)) return '';
  return `Sign-up is only for callers on the machine of a server that no other machine can reach. ${OPERATOR_ADVICE}, or opens sign-up with SWITCHYARD_SIGN_UP=open.`;
}

/** Throws a 403 for a caller without the right `server` where the operator does not allow sign-up. */
export function requireSignUp(
  policy: SignUpPolicy,
  caller: Pick<Caller, 'role'> | null,
  headers: IncomingHttpHeaders,
): void {
  if (caller && hasRight(caller.role, 'server')) return;
  const refusal = explainSignUpRefusal(policy, headers);
  if (refusal !== '') throw forbidden(refusal);
}

/**
 * Returns true for a request with a loopback Host header that no proxy claims to have forwarded. Headers prove nothing when
 * the server listens on other interfaces: check `isLocal` first.
 */
export function isLocalRequest(headers: IncomingHttpHeaders): boolean {
  return (
    isLoopbackHost(parseHostHeader(headers.host ?? '')) &&
    !PROXY_HEADERS.some((name) => headers[name] !== undefined)
  );
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Returns true for an IP address of the loopback interface: 127.0.0.0/8 or ::1. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Returns true for a host of a URL that names the loopback interface: localhost, its subdomains or a loopback address. */
export function isLoopbackHost(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || isLoopbackAddress(host.replace(/^\[|\]$/g, ''))
  );
}

/** Returns the host name of a Host header without its port; empty for an invalid header. */
function parseHostHeader(header: string): string {
  const url = `http://${header}`;
  return URL.canParse(url) ? new URL(url).hostname : '';
}
