/**
 * The cookie of a session of the console. Scripts cannot read it, and the browser sends it with requests of the same site
 * only. Cookies ignore the port, so the name has it: two servers of one machine do not sign each other out.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { CONSOLE_HEADER } from '@switchyard/contract/console-header.ts';

/** Returns the name of the cookie on the server at `publicUrl`. Browsers accept a `__Host-` cookie under TLS alone. */
function getCookieName(publicUrl: string): string {
  const { protocol, port } = new URL(publicUrl);
  const suffix = port === '' ? '' : `_${port}`;
  return protocol === 'https:' ? `__Host-switchyard_session${suffix}` : `switchyard_session${suffix}`;
}

/** Returns the Set-Cookie header for the secret of a session; `maxAgeSeconds` 0 removes the cookie. */
export function formatSessionCookie(publicUrl: string, secret: string, maxAgeSeconds: number): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  return `${getCookieName(publicUrl)}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`;
}

/** Returns the secret in the session cookie of a request; null without one. */
export function readSessionCookie(publicUrl: string, headers: IncomingHttpHeaders): string | null {
  const prefix = `${getCookieName(publicUrl)}=`;
  for (const part of headers.cookie?.split(';') ?? []) {
    const pair = part.trim();
    if (pair.startsWith(prefix)) return pair.slice(prefix.length);
  }
  return null;
}

/**
 * Returns true when a page of this server sent the request. Pages of other sites cannot add the header without a
 * preflight request, which this server refuses. A request that changes something has an Origin too.
 */
export function isFromOwnPage(publicUrl: string, method: string, headers: IncomingHttpHeaders): boolean {
  if (headers[CONSOLE_HEADER] === undefined) return false;
  const { origin, host } = headers;
  if (origin === undefined) return method === 'GET' || method === 'HEAD';
  if (!URL.canParse(origin)) return false;
  // The browser knows the server by the Host header; a proxy may replace it, and then the public address is the right one.
  return origin === new URL(publicUrl).origin || new URL(origin).host === host;
}
