/** Deliveries under failures: slow or unavailable receivers, a server that stops, and deleted webhooks. */
import type { EventId } from '@switchyard/contract/schemas/ids.ts';
import { describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { createApplication, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startServerWithReceiver } from '../../testing/fixtures/webhook-server.ts';
import {
  createTimeoutClock,
  createWebhook,
  listConversations,
  triggerEvent,
  waitForConversations,
} from '../../testing/fixtures/webhooks.ts';
import { respondWith, startWebhookReceiver } from '../../testing/http/webhook-receiver.ts';

const clock = createTimeoutClock();
const at = startServerWithReceiver(clock);
const { ask } = at;

describe('a slow receiver', () => {
  test('delays neither other receivers nor runs', async () => {
    const quick = await startWebhookReceiver();
    const other = await createWebhook(at.server, quick.url, { id: uniqueId('quick') });
    at.receiver.respond = () => {};
    for (let count = 0; count < 100; count += 1) await triggerEvent(at.server);
    // The slow receiver has responded to none of a hundred deliveries.
    await quick.until((all) => all.length === 100);
    expect(at.receiver.received.length).toBeLessThanOrEqual(8);
    const application = await createApplication(at.server);
    await pushApp(at.server, application, nodeApp('() => ({})'));
    const run = await createRunAndWait(at.server, application);
    await quick.until((all) => all.some((one) => one.event.data.id === run.id));
    expect(at.receiver.received.length).toBeLessThanOrEqual(8);
    await at.server.request('DELETE', `/v1/webhooks/${other.id}`);
    clock.timeOut();
    await quick.close();
  });

  test('V5: delays no other account, however many webhooks name it', async () => {
    at.receiver.respond = () => {};
    const more = await Promise.all(
      Array.from({ length: 9 }, () => createWebhook(at.server, at.receiver.url)),
    );
    for (let count = 0; count < 8; count += 1) await triggerEvent(at.server);
    // Eight for each of ten webhooks; one account has half of 64.
    await at.receiver.until((all) => all.length >= 32);
    const quick = await startWebhookReceiver();
    const { token } = await createOtherAccount(at.server);
    const body = {
      id: uniqueId('quick'),
      event_types: ['run.status'],
      endpoint_url: quick.url,
      description: '',
    };
    expectStatus(await at.server.request('POST', '/v1/webhooks', { token, body }), 201);
    const event = { event_type: 'run.status' };
    expectStatus(await at.server.request('POST', '/v1/events/trigger', { token, body: event }), 201);
    await quick.until((all) => all.length === 1);
    expect(at.receiver.received.length).toBe(32);
    for (const { id } of more) await at.server.request('DELETE', `/v1/webhooks/${id}`);
    await at.server.request('DELETE', `/v1/webhooks/${body.id}`, { token });
    at.receiver.respond = respondWith(200);
    clock.timeOut();
    await quick.close();
  });

  test('that failed gets one delivery at a time until one succeeds', async () => {
    at.receiver.respond = respondWith(500);
    await triggerEvent(at.server);
    await waitForConversations(at.server, at.hook, 1);
    let open = 0;
    let concurrentMax = 0;
    const responses: (() => void)[] = [];
    at.receiver.respond = (response) => {
      open += 1;
      concurrentMax = Math.max(concurrentMax, open);
      responses.push(() => {
        open -= 1;
        response.writeHead(500).end();
      });
    };
    for (let count = 0; count < 5; count += 1) await triggerEvent(at.server);
    for (let count = 2; count <= 6; count += 1) {
      await at.receiver.until((all) => all.length >= count);
      responses.shift()?.();
      await waitForConversations(at.server, at.hook, count);
    }
    expect(concurrentMax).toBe(1);
  });
});

test('the webhook says since when deliveries fail and why, until one succeeds', async () => {
  const read = async () => (await ask('GET', '')).body;
  expect(await read()).not.toHaveProperty('failing_since');
  await triggerEvent(at.server);
  const [success] = await waitForConversations(at.server, at.hook, 1);
  const last_success_at = success?.created_at;
  expect(await read()).toMatchObject({ last_success_at });
  expect(await read()).not.toHaveProperty('failing_since');
  at.receiver.respond = respondWith(500);
  await triggerEvent(at.server);
  const [failure] = await waitForConversations(at.server, at.hook, 2);
  await at.server.request('POST', `/v1/webhooks/${at.hook}/conversations/${failure?.id}/replay`);
  at.receiver.respond = respondWith(503);
  const [again] = await waitForConversations(at.server, at.hook, 3);
  expect(again?.error).toContain('503');
  const failing = { last_success_at, failing_since: failure?.created_at, last_error: again?.error };
  expect(await read()).toMatchObject(failing);
});

describe('a server that stops', () => {
  test('during a delivery sends it again after its start', async () => {
    at.receiver.respond = () => {};
    const event = await triggerEvent(at.server);
    await at.receiver.until((all) => all.length === 1);
    at.receiver.respond = respondWith(200);
    await at.server.restart();
    const again = await at.receiver.until((all) => all.length === 2 && all[1]);
    expect(again.event.event_id).toBe(event);
    const [one] = await waitForConversations(at.server, at.hook, 1);
    expect(one).toMatchObject({ event_id: event, attempt: 1, status: 'succeeded' });
  });
});

describe('clean-up', () => {
  test('removes deliveries, conversations, events and the listener of a deleted webhook', async () => {
    at.receiver.respond = respondWith(500);
    await triggerEvent(at.server);
    await waitForConversations(at.server, at.hook, 1);
    expectStatus(await ask('DELETE', ''), 204);
    const { read } = at.server.runningServer.database;
    for (const table of [
      'webhooks',
      'webhook_deliveries',
      'webhook_conversations',
      'webhook_events',
      'run_listeners',
    ] as const)
      await expect.poll(async () => (await read.selectFrom(table).selectAll().execute()).length).toBe(0);
  });

  test('leaves nothing of an attempt whose webhook is deleted meanwhile', async () => {
    const { database } = at.server.runningServer;
    let respond = (): void => {};
    at.receiver.respond = (response) => {
      respond = () => response.writeHead(500).end();
    };
    const event = (await triggerEvent(at.server)) as EventId;
    await at.receiver.until((all) => all.length === 1);
    expectStatus(await ask('DELETE', ''), 204);
    const tables = ['webhook_deliveries', 'webhook_conversations'] as const;
    const list = (table: (typeof tables)[number]) =>
      database.read.selectFrom(table).select('id').where('event_id', '=', event).execute();
    // The clean-up ends before the attempt does.
    await expect.poll(() => list('webhook_deliveries')).toEqual([]);
    const attemptEnded = new Promise<void>((resolve) => database.listen('webhooks-told', resolve));
    respond();
    await attemptEnded;
    for (const table of tables) expect(await list(table)).toEqual([]);
    expect(
      await database.read.selectFrom('webhook_events').select('id').where('id', '=', event).execute(),
    ).toEqual([]);
  });

  test('removes conversations after 30 days', async () => {
    await triggerEvent(at.server);
    await waitForConversations(at.server, at.hook, 1);
    clock.move(31 * 86_400_000);
    await at.server.restart();
    const { read } = at.server.runningServer.database;
    for (const table of ['webhook_conversations', 'webhook_events'] as const)
      await expect.poll(async () => (await read.selectFrom(table).selectAll().execute()).length).toBe(0);
    expect(await listConversations(at.server, at.hook)).toEqual([]);
  });
});
