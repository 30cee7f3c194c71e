/** A receiver of webhooks: a real HTTP server on loopback that keeps what it is sent, and answers as a test has it answer. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookEvent } from '@switchyard/contract/account/webhook-schemas.ts';

export interface ReceivedDelivery {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  event: WebhookEvent;
}

/** Answers the request; it is kept before. */
export type ResponseHandler = (response: ServerResponse, received: ReceivedDelivery) => void;

export interface WebhookReceiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly ReceivedDelivery[];
  respond: ResponseHandler;
  /** Waits until the condition holds of what has come. */
  until<T>(condition: (received: readonly ReceivedDelivery[]) => T | null | undefined | false): Promise<T>;
  close(): Promise<void>;
}

export const respondWith =
  (status: number, headers: Record<string, string> = {}, body = 'ok'): ResponseHandler =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** With `keeps` false what comes is handed to `respond` alone. */
export async function startWebhookReceiver(
  respond = respondWith(200),
  host = '127.0.0.1',
  { keeps = true } = {},
): Promise<WebhookReceiver> {
  const received: ReceivedDelivery[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const one = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        text,
        event: JSON.parse(text) as WebhookEvent,
      };
      if (keeps) received.push(one);
      for (const tell of waiting) tell();
      receiver.respond(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: WebhookReceiver = {
    url: `http://${host}:${port}/hook`,
    port,
    received,
    respond,
    until(condition) {
      return new Promise((resolve) => {
        const look = (): void => {
          const found = condition(received);
          if (found === null || found === undefined || found === false) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
