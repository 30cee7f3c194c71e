/** What tests of webhooks share: making one, and waiting for what came of its deliveries. */
import { createHmac } from 'node:crypto';
import { WEBHOOK_TIMEOUT_MS } from '@switchyard/contract/limits.ts';
import type { Conversation, Webhook } from '@switchyard/contract/webhook-shapes.ts';
import { type Clock, systemClock } from '../clock.ts';
import { type Received, startReceiver } from './receiver.ts';
import { expectStatus, freshId } from './resources.ts';
import type { TestServer } from './server.ts';

/** Makes a webhook on the address. */
export async function makeWebhook(
  server: TestServer,
  endpoint_url: string,
  body: object = {},
): Promise<Webhook> {
  const given = { id: freshId('hook'), event_types: ['run.status'], endpoint_url, description: '', ...body };
  const answer = await server.ask('POST', '/v1/webhooks', { body: given });
  expectStatus(answer, 201);
  return answer.body as Webhook;
}

/** Sends an example to every webhook of the account; answers the id of the event. */
export async function trigger(server: TestServer): Promise<string> {
  const answer = await server.ask('POST', '/v1/events/trigger', { body: { event_type: 'run.status' } });
  expectStatus(answer, 201);
  return (answer.body as { event_id: string }).event_id;
}

export async function conversationsOf(server: TestServer, id: string, query = ''): Promise<Conversation[]> {
  const answer = await server.ask('GET', `/v1/webhooks/${id}/conversations${query}`);
  expectStatus(answer, 200);
  return (answer.body as { items: Conversation[] }).items;
}

/** Makes a webhook that nobody answers for, with one conversation and a delivery that waits; answers its id. */
export async function leaveDelivery(server: TestServer): Promise<string> {
  const nobody = await startReceiver();
  await nobody.close();
  const { id } = await makeWebhook(server, nobody.url);
  await trigger(server);
  await talked(server, id, 1);
  return id;
}

/** Waits until the webhook has had so many conversations; answers them, newest first. */
export function talked(server: TestServer, id: string, count: number): Promise<Conversation[]> {
  return server.until('webhooks-told', async () => {
    const all = await conversationsOf(server, id);
    return all.length >= count ? all : null;
  });
}

export async function secretOf(server: TestServer, id: string): Promise<string> {
  const answer = await server.ask('GET', `/v1/webhooks/${id}/secret`);
  expectStatus(answer, 200);
  return (answer.body as { secret: string }).secret;
}

/** `t` and each `v1` of a header as receivers read it: parts between commas, each a name and a value. */
export function partsOf(header: string | string[] | undefined): { t: string; v1: string[] } {
  const parts = String(header)
    .split(',')
    .map((part) => part.split('='));
  const named = (name: string) => parts.filter((one) => one[0] === name).map((one) => one[1] ?? '');
  return { t: named('t')[0] ?? '', v1: named('v1') };
}

/** As a receiver of existing clients works it out: the secret as text, seconds, a period, and the body as it came. */
export function hexOf(secret: string, { headers, text }: Received): string {
  return createHmac('sha256', secret).update(`${headers['webhook-timestamp']}.${text}`).digest('hex');
}

/** As the Standard Webhooks specification has a receiver work it out. */
export function standardOf(secret: string, { headers, text }: Received): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

const START = Date.UTC(2026, 10, 20, 8);

/** A clock that a test moves, on which the time that a receiver has to answer is up when the test says so. */
export function driven(): Clock & { move(ms: number): void; timeOut(): void } {
  let offset = START - Date.now();
  const waiting = new Set<() => void>();
  return {
    ...systemClock,
    now: () => Date.now() + offset,
    after(delayMs, callback) {
      if (delayMs !== WEBHOOK_TIMEOUT_MS) return systemClock.after(delayMs, callback);
      waiting.add(callback);
      return () => waiting.delete(callback);
    },
    move(ms) {
      offset += ms;
    },
    timeOut() {
      for (const callback of waiting) callback();
    },
  };
}
