/** The requests of a remote worker, over the simulated network. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { RefusedError, type ServerRequests } from '@switchyard/worker/remote/http-client.ts';
import { SERVER_URL, type WireRequest, type WireResponse } from '../machine/simulated-server.ts';
import type { Network, Sender } from './network.ts';

/** Returns the requests of a worker with the token. */
export function createWorkerRequests(network: Network, from: Sender, token: string): ServerRequests {
  const send = async (
    request: Omit<WireRequest, 'headers'>,
    type = 'application/json',
  ): Promise<WireResponse> => {
    const { body, method, path } = request;
    const response = await network.send(from, {
      ...request,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': type }) },
    });
    if (response.status < 300) return response;
    const message = `${method} ${path.split('?')[0]} was refused with ${response.status}: ${readMessage(response)}`;
    if (response.status >= 400 && response.status < 500 && response.status !== 429)
      throw new RefusedError(response.status, message);
    throw new Error(message);
  };
  const parse = ({ body }: WireResponse): unknown => (body.length === 0 ? null : JSON.parse(body.toString()));
  return {
    url: SERVER_URL,
    call: async (method, path, body) =>
      parse(await send({ method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })),
    upload: async (path, content) =>
      parse(await send({ method: 'PUT', path, body: await buffer(content) }, 'application/octet-stream')),
    download: async (path) =>
      Readable.from([(await send({ method: 'GET', path })).body], { objectMode: false }),
  };
}

function readMessage({ body }: WireResponse): string {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    return isRecord(parsed) ? String(parsed.error ?? parsed.message) : '';
  } catch {
    return body.toString().slice(0, 200);
  }
}
