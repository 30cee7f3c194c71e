/** Requests to the signed URL of an upload in parts. */
import { expect } from 'vitest';
import { expectStatus } from '../fixtures/resources.ts';
import { openSocket } from './raw-sockets.ts';
import { type RequestOptions, sendRequest, type TestResponse } from './request.ts';

/** Sends a request to a signed URL. */
export const sendSigned = (
  method: string,
  url: string,
  options: RequestOptions = {},
): Promise<TestResponse> => sendRequest(url, method, '', { token: null, ...options });

/** A part with its headers. */
export interface Part {
  offset: number | string;
  body?: Uint8Array | string;
  isLast?: boolean;
  length?: number | string;
}

/** Sends a part. */
export function sendPart(url: string, { offset, body = '', isLast = false, length }: Part) {
  const headers = {
    'content-type': 'application/partial-upload',
    'upload-offset': String(offset),
    'upload-complete': isLast ? '?1' : '?0',
    ...(length === undefined ? {} : { 'upload-length': String(length) }),
  };
  return sendSigned('PATCH', url, { body, headers });
}

/** Returns the headers of the state, such as `8388608 ?0`. */
export const readOffset = async (url: string): Promise<string> => {
  const response = await sendSigned('HEAD', url);
  expectStatus(response, 200);
  expect(response.text).toBe('');
  return `${response.headers.get('upload-offset')} ${response.headers.get('upload-complete')}`;
};

/** Sends the headers of a part, a body that ends early, and closes the connection, once the server `receives` the body. */
export async function sendCutPart(
  server: { url: string },
  url: string,
  {
    offset,
    body,
    headers,
    receives,
  }: { offset: number; body: Buffer; headers: string; receives?: () => Promise<void> },
): Promise<void> {
  const { pathname, search } = new URL(url);
  const socket = await openSocket(server.url);
  socket.write(
    `PATCH ${pathname}${search} HTTP/1.1\r\nHost: x\r\nUpload-Offset: ${offset}\r\nUpload-Complete: ?1\r\n${headers}\r\n\r\n`,
  );
  await new Promise((resolve) => socket.write(body, resolve));
  await receives?.();
  socket.end();
}
