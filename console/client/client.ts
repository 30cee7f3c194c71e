/**
 * The typed client of the console. The browser sends the session cookie, and each request has the header that the server
 * demands with it.
 */

import { ApiError, type Client, createClient } from '@switchyard/contract/client.ts';
import { CONSOLE_HEADER } from '@switchyard/contract/console-header.ts';

/** Returns a client of the server that served this page. It sends its requests by a function with the interface of `fetch`. */
export function connectClient(send: (url: string, init: RequestInit) => Promise<Response>): Client {
  return createClient({
    url: '',
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set(CONSOLE_HEADER, '1');
      return send(String(input), { ...init, headers, credentials: 'same-origin' });
    },
  });
}

/** The client of the server that served this page. */
export const client = connectClient((url, init) => fetch(url, init));

/** Returns true for a response that says that nobody is signed in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Returns true for a response that says that the role of the key lacks a right. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403;
}

/** Returns true for a response that says that the resource does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Returns the sentence of an error for people: the one that the server gave, or that of the network. */
export function describeError(error: unknown): string {
  if (isSignedOut(error)) return 'Your session had ended. Sign in, and send it again.';
  if (error instanceof ApiError) return error.reason;
  if (error instanceof TypeError) return 'The server cannot be reached.';
  return error instanceof Error ? error.message : String(error);
}
