/**
 * The cookies of the console: of a session, and of a single sign-on under way. Scripts cannot read them, and the browser
 * sends them with requests of the same site only. Cookies ignore the port, so the names have it: two servers of one machine
 * do not sign each other out.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { CONSOLE_HEADER } from '@switchyard/contract/console-header.ts';

type CookieKind = 'session' | 'sign_on';

/** Returns the name of the cookie on the server at `publicUrl`. Browsers accept a `__Host-` cookie under TLS alone. */
function getCookieName(publicUrl: string, kind: CookieKind): string {
  const { protocol, port } = new URL(publicUrl);
  const suffix = port === '' ? '' : `_${port}`;
  return `${protocol === 'https:' ? '__Host-' : ''}switchyard_${kind}${suffix}`;
}

/** Returns the Set-Cookie header for the secret of a session; `maxAgeSeconds` 0 removes the cookie. */
export function formatSessionCookie(publicUrl: string, secret: string, maxAgeSeconds: number): string {
  return formatCookie(publicUrl, 'session', secret, maxAgeSeconds);
}

/** Returns the Set-Cookie header that binds a single sign-on to this browser. */
export function formatSignOnCookie(publicUrl: string, secret: string, maxAgeSeconds: number): string {
  return formatCookie(publicUrl, 'sign_on', secret, maxAgeSeconds);
}

function formatCookie(publicUrl: string, kind: CookieKind, secret: string, maxAgeSeconds: number): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  const name = getCookieName(publicUrl, kind);
  return `${name}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`;
}

/** Returns the secret in the session cookie of a request; null without one. */
export function readSessionCookie(publicUrl: string, headers: IncomingHttpHeaders): string | null {
  return readCookie(publicUrl, 'session', headers);
}

/** Returns the secret in the cookie of a single sign-on; null without one. */
export function readSignOnCookie(publicUrl: string, headers: IncomingHttpHeaders): string | null {
  return readCookie(publicUrl, 'sign_on', headers);
}

function readCookie(publicUrl: string, kind: CookieKind, headers: IncomingHttpHeaders): string | null {
  const prefix = `${getCookieName(publicUrl, kind)}=`;
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
  const server = new URL(publicUrl);
  const page = new URL(origin);
  // Somebody in the network can write a page of http://, but not one of https://.
  if (server.protocol === 'https:' && page.protocol !== 'https:') return false;
  // The browser knows the server by the Host header; a proxy may replace it, and then the public address is the right one.
  return origin === server.origin || page.host === host;
}
