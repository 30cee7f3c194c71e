/** Attempts of a delivery: failures, retries, and what is stored of the response. */
import { WEBHOOK_RETRY_SECONDS } from '@switchyard/contract/limits.ts';
import { describe, expect, test } from 'vitest';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startServerWithReceiver } from '../../testing/fixtures/webhook-server.ts';
import {
  createTimeoutClock,
  listConversations,
  triggerEvent,
  waitForConversations,
} from '../../testing/fixtures/webhooks.ts';
import { respondWith, startWebhookReceiver } from '../../testing/http/webhook-receiver.ts';

const clock = createTimeoutClock();
const at = startServerWithReceiver(clock);
const { ask } = at;
/** Advances the clock, so that the server sends the deliveries that are due. */
const advance = (ms: number): void => {
  clock.move(ms);
  at.server.runningServer.database.notify('webhooks-due');
};

describe('an attempt that fails', () => {
  test('is repeated after 5 s, 5 min, 30 min and so on, ten times in all, with one id and one body', async () => {
    at.receiver.respond = respondWith(500, {}, 'no');
    const event = await triggerEvent(at.server);
    for (const [index, seconds] of [...WEBHOOK_RETRY_SECONDS, null].entries()) {
      const [newest] = await waitForConversations(at.server, at.hook, index + 1);
      expect(newest).toMatchObject({
        event_id: event,
        attempt: index + 1,
        status: 'failed',
        http_status: 500,
        error: expect.stringContaining('returned 500'),
        response_body: 'no',
      });
      if (seconds === null) {
        expect(newest).not.toHaveProperty('next_attempt_at');
        break;
      }
      const planned = Date.parse(newest?.next_attempt_at ?? '');
      expect((planned - clock.now()) / 1000).toBeLessThanOrEqual(seconds);
      expect((planned - clock.now()) / 1000).toBeGreaterThan(seconds - 5);
      advance(seconds * 1000);
    }
    expect(new Set(at.receiver.received.map((one) => one.text)).size).toBe(1);
    expect(new Set(at.receiver.received.map((one) => one.headers['webhook-id']))).toEqual(new Set([event]));
    expect(new Set(at.receiver.received.map((one) => one.headers['webhook-timestamp'])).size).toBe(10);
    advance(7 * 86_400_000);
    await triggerEvent(at.server);
    await waitForConversations(at.server, at.hook, 11);
    expect(at.receiver.received).toHaveLength(11);
  });

  test('is not repeated after a success', async () => {
    at.receiver.respond = respondWith(503);
    await triggerEvent(at.server);
    await waitForConversations(at.server, at.hook, 1);
    at.receiver.respond = respondWith(204, {}, '');
    advance(5000);
    expect((await waitForConversations(at.server, at.hook, 2)).map((one) => one.status)).toEqual([
      'succeeded',
      'failed',
    ]);
    expect((await listConversations(at.server, at.hook, '?status=failed')).map((one) => one.attempt)).toEqual(
      [1],
    );
    expect(
      (await listConversations(at.server, at.hook, '?status=succeeded')).map((one) => one.attempt),
    ).toEqual([2]);
  });

  test('waits for the time that Retry-After requests', async () => {
    at.receiver.respond = respondWith(429, { 'retry-after': '120' });
    await triggerEvent(at.server);
    const [first] = await waitForConversations(at.server, at.hook, 1);
    const seconds = (Date.parse(first?.next_attempt_at ?? '') - clock.now()) / 1000;
    expect(seconds).toBeGreaterThan(115);
    expect(seconds).toBeLessThanOrEqual(120);
  });

  test.each([301, 302, 307, 308])('with the redirect %d is not followed', async (status) => {
    const other = await startWebhookReceiver();
    at.receiver.respond = respondWith(status, { location: other.url });
    await triggerEvent(at.server);
    const [one] = await waitForConversations(at.server, at.hook, 1);
    expect(one).toMatchObject({ status: 'failed', http_status: status });
    expect(other.received).toEqual([]);
    await other.close();
  });

  test('without a response in time has the status timed_out', async () => {
    at.receiver.respond = () => {};
    await triggerEvent(at.server);
    await at.receiver.until((all) => all.length === 1);
    clock.timeOut();
    const [one] = await waitForConversations(at.server, at.hook, 1);
    expect(one).toMatchObject({
      status: 'timed_out',
      http_status: 0,
      error: expect.stringContaining('15 s'),
    });
    expect(one).toHaveProperty('next_attempt_at');
  });

  test('at a closed port reports the refused connection', async () => {
    await at.receiver.close();
    await triggerEvent(at.server);
    const [one] = await waitForConversations(at.server, at.hook, 1);
    expect(one).toMatchObject({ status: 'failed', http_status: 0 });
    expect(one?.error).toContain('ECONNREFUSED');
  });

  test('with 410 disables the webhook until its next update', async () => {
    at.receiver.respond = respondWith(410);
    await triggerEvent(at.server);
    await waitForConversations(at.server, at.hook, 1);
    expect((await ask('GET', '')).body).toHaveProperty('disabled_at');
    expect(
      (await at.server.request('POST', '/v1/events/trigger', { body: { event_type: 'run.status' } })).body,
    ).toMatchObject({ webhook_ids: [] });
    const [one] = await listConversations(at.server, at.hook);
    expectError(await ask('POST', `/conversations/${one?.id}/replay`), 400, 'disabled');
    advance(86_400_000);
    at.receiver.respond = respondWith(200);
    expectStatus(await ask('PUT', '', { description: 'Back again' }), 204);
    expect((await ask('GET', '')).body).not.toHaveProperty('disabled_at');
    await triggerEvent(at.server);
    await waitForConversations(at.server, at.hook, 2);
    expect(at.receiver.received).toHaveLength(2);
  });
});

describe('the response of the receiver', () => {
  test('is stored up to 64 KiB without waiting for the rest', async () => {
    at.receiver.respond = (response) => {
      response.writeHead(200);
      response.write('a'.repeat(100_000));
      // The response never ends.
    };
    await triggerEvent(at.server);
    const [one] = await waitForConversations(at.server, at.hook, 1);
    expect(one).toMatchObject({ status: 'succeeded', http_status: 200 });
    expect(one?.response_body).toBe('a'.repeat(65_536));
  });

  test('counts when its head arrives in time, also when its body does not', async () => {
    at.receiver.respond = (response) => response.writeHead(200).write('so far');
    const event = await triggerEvent(at.server);
    await at.receiver.until((all) => all.length === 1);
    // A second delivery completes first, so the head of the first response has arrived by then.
    at.receiver.respond = respondWith(200);
    await triggerEvent(at.server);
    await waitForConversations(at.server, at.hook, 1);
    clock.timeOut();
    const all = await waitForConversations(at.server, at.hook, 2);
    expect(all.find((one) => one.event_id === event)).toMatchObject({
      status: 'succeeded',
      http_status: 200,
      response_body: 'so far',
    });
  });

  test('is text in the conversation, also for bytes that are not UTF-8', async () => {
    at.receiver.respond = (response) => response.writeHead(200).end(Buffer.from([0, 255, 254, 65]));
    await triggerEvent(at.server);
    const [one] = await waitForConversations(at.server, at.hook, 1);
    expect(one?.response_body).toBe('\ufffd\ufffd\ufffdA');
  });
});
