/** A receiver of webhooks: an HTTP server on loopback that records deliveries and responds as the test requires. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { WebhookEvent } from '@switchyard/contract/account/webhook-schemas.ts';
import { createReceivedList, listenOnFreePort } from './receiver.ts';

export interface ReceivedDelivery {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  event: WebhookEvent;
}

/** Responds to a delivery, after the receiver has recorded it. */
export type ResponseHandler = (response: ServerResponse, received: ReceivedDelivery) => void;

export interface WebhookReceiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly ReceivedDelivery[];
  respond: ResponseHandler;
  /** Waits until the condition holds for the received deliveries, and returns its result. */
  until<T>(condition: (received: readonly ReceivedDelivery[]) => T | null | undefined | false): Promise<T>;
  close(): Promise<void>;
}

/** Returns a handler that always sends the same response. */
export const respondWith =
  (status: number, headers: Record<string, string> = {}, body = 'ok'): ResponseHandler =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** Starts a receiver. With `keeps` false it does not record deliveries, and only calls `respond`. */
export async function startWebhookReceiver(
  respond = respondWith(200),
  host = '127.0.0.1',
  { keeps = true } = {},
): Promise<WebhookReceiver> {
  const received = createReceivedList<ReceivedDelivery>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const delivery = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        text,
        event: JSON.parse(text) as WebhookEvent,
      };
      if (keeps) received.add(delivery);
      receiver.respond(response, delivery);
    });
  });
  const { port, close } = await listenOnFreePort(server, host);
  const receiver: WebhookReceiver = {
    url: `http://${host}:${port}/hook`,
    port,
    received: received.items,
    respond,
    until: received.until,
    close,
  };
  return receiver;
}
