/** Deliveries of webhooks: their requests, retries and conversations. */
import { WEBHOOK_RETRY_SECONDS } from '@switchyard/contract/limits.ts';
import { describe, expect, test } from 'vitest';
import { createRun, createRunAndWait, nodeApp, pushApp, waitForRunEnd } from '../testing/fixtures/apps.ts';
import { createApplication, expectError, expectStatus } from '../testing/fixtures/resources.ts';
import { startServerWithReceiver } from '../testing/fixtures/webhook-server.ts';
import {
  computeSignature,
  computeStandardSignature,
  createTimeoutClock,
  createWebhook,
  fetchSecret,
  listConversations,
  parseSignature,
  triggerEvent,
  waitForConversations,
} from '../testing/fixtures/webhooks.ts';
import { respondWith, startWebhookReceiver } from '../testing/http/webhook-receiver.ts';

const clock = createTimeoutClock();
const at = startServerWithReceiver(clock);
const { ask } = at;
/** Advances the clock, so that the server sends the deliveries that are due. */
const advance = (ms: number): void => {
  clock.move(ms);
  at.server.runningServer.database.notify('webhooks-due');
};

describe('of a run', () => {
  test('each status change is sent once, signed, with a sequence number', async () => {
    const application = await createApplication(at.server);
    await pushApp(
      at.server,
      application,
      nodeApp("() => ({ statistics: { schema: 'v1', result: { value: 7 } } })"),
    );
    const run = await createRunAndWait(at.server, application, {
      body: { name: 'Monday', options: { secret: 'x' } },
    });
    const deliveries = await at.receiver.until((all) => all.length === 3 && all);
    const inOrder = [...deliveries].sort((a, b) => a.event.sequence - b.event.sequence);
    expect(inOrder.map((one) => one.event.data.status_v2)).toEqual(['queued', 'running', 'succeeded']);
    expect(inOrder.map((one) => one.event.data.status)).toEqual(['running', 'running', 'succeeded']);
    expect(new Set(deliveries.map((one) => one.event.event_id)).size).toBe(3);
    expect(new Set(deliveries.map((one) => one.event.sequence)).size).toBe(3);
    const last = inOrder[2]?.event;
    expect(last).toMatchObject({
      event_type: 'run.status',
      api_version: '1.7.0',
      data: {
        id: run.id,
        name: 'Monday',
        application_id: application,
        application_instance_id: 'latest',
        run_type: { type: 'standard' },
        statistics: { status: 'success', indicators: [{ name: 'result.value', value: 7 }] },
      },
    });
    expect(inOrder[0]?.event.data).toMatchObject({ statistics: { status: 'none', indicators: [] } });
    for (const { text } of deliveries) expect(text).not.toContain('"options"');

    const secret = await fetchSecret(at.server, at.hook);
    for (const one of deliveries) {
      expect(one).toMatchObject({ method: 'POST', path: '/hook' });
      expect(one.headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': 'Switchyard/1.7.0',
        'webhook-id': one.event.event_id,
      });
      const own = parseSignature(one.headers['switchyard-signature']);
      expect(own.t).toBe(one.headers['webhook-timestamp']);
      expect(own.v1).toEqual([computeSignature(secret, one)]);
      expect(one.headers['nextmv-signature']).toBe(one.headers['switchyard-signature']);
      expect(one.headers['webhook-signature']).toBe(computeStandardSignature(secret, one));
      // Existing receivers accept timestamps from five minutes ago to one minute ahead.
      expect(Math.abs(Number(own.t) - clock.now() / 1000)).toBeLessThan(60);
    }

    const conversations = await waitForConversations(at.server, at.hook, 3);
    for (const one of conversations) {
      expect(one).toMatchObject({
        webhook_id: at.hook,
        attempt: 1,
        status: 'succeeded',
        http_status: 200,
        error: '',
        response_body: 'ok',
      });
      expect(one).not.toHaveProperty('next_attempt_at');
      expect(deliveries.map((other) => other.event)).toContainEqual(one.request_body);
      const read = await ask('GET', `/conversations/${one.id}`);
      expect(read.body).toEqual(one);
    }
  });

  test('that ended before the webhook existed, no event is sent; another account gets none', async () => {
    const application = await createApplication(at.server);
    await pushApp(at.server, application, nodeApp('() => ({})'));
    expectStatus(await ask('DELETE', ''), 204);
    await createRunAndWait(at.server, application);
    const later = await createWebhook(at.server, at.receiver.url, { id: at.hook });
    expect(later.id).toBe(at.hook);
    const run = await createRunAndWait(at.server, application);
    await at.receiver.until((all) => all.length >= 3);
    await waitForConversations(at.server, at.hook, 3);
    expect(new Set(at.receiver.received.map((one) => one.event.data.id))).toEqual(new Set([run.id]));
  });

  test('fifty concurrent runs: each event is sent once, in rising sequence', async () => {
    const application = await createApplication(at.server);
    await pushApp(at.server, application, nodeApp('() => ({})'));
    const runs = await Promise.all(Array.from({ length: 50 }, () => createRun(at.server, application)));
    await Promise.all(runs.map((run) => waitForRunEnd(at.server, application, run)));
    await at.receiver.until((all) => all.length >= 150);
    await at.server.waitUntil('webhooks-told', async () => {
      const rows = await at.server.runningServer.database.read
        .selectFrom('webhook_deliveries')
        .select('id')
        .execute();
      return rows.length === 0;
    });
    expect(at.receiver.received).toHaveLength(150);
    for (const id of runs) {
      const mine = at.receiver.received
        .map((one) => one.event)
        .filter((one) => one.data.id === id)
        .sort((a, b) => a.sequence - b.sequence);
      expect(mine.map((one) => one.data.status_v2)).toEqual(['queued', 'running', 'succeeded']);
    }
  });

  test('that was deleted before the delivery, the events have its id and statuses', async () => {
    const application = await createApplication(at.server);
    // The run is deleted before the fan-out of its events.
    const body = { configuration: { run_type: { type: 'external' } } };
    const run = await createRun(at.server, application, { body });
    const path = `/v1/applications/${application}/runs/${run}`;
    expectStatus(await at.server.request('DELETE', path), 204);
    const deliveries = await at.receiver.until((all) => all.length >= 1 && all);
    const [first] = [...deliveries].sort((a, b) => a.event.sequence - b.event.sequence);
    expect(first?.event.data).toMatchObject({
      id: run,
      application_id: application,
      status: 'running',
      status_v2: 'none',
    });
  });
});

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

describe('a conversation', () => {
  test('can be replayed, with the same id and body and a new signature', async () => {
    const event = await triggerEvent(at.server);
    const [first] = await waitForConversations(at.server, at.hook, 1);
    clock.move(60_000);
    const response = await ask('POST', `/conversations/${first?.id}/replay`);
    expectStatus(response, 202);
    expect(response.body).toEqual({ event_id: event, webhook_ids: [at.hook] });
    const [second] = await waitForConversations(at.server, at.hook, 2);
    expect(second).toMatchObject({ event_id: event, attempt: 1, request_body: first?.request_body });
    const [before, after] = at.receiver.received;
    expect(after?.text).toBe(before?.text);
    expect(after?.headers['webhook-id']).toBe(event);
    expect(after?.headers['webhook-timestamp']).not.toBe(before?.headers['webhook-timestamp']);
    expectError(await ask('GET', '/conversations/missing'), 404, 'no conversation "missing"');
    expectError(await ask('POST', '/conversations/missing/replay'), 404, 'no conversation "missing"');
  });

  test('is on one page of the list', async () => {
    for (let count = 1; count <= 5; count += 1) {
      await triggerEvent(at.server);
      await waitForConversations(at.server, at.hook, count);
    }
    const seen: string[] = [];
    for (let token: string | undefined = ''; token !== undefined; ) {
      const rest: string = token === '' ? '' : `&pagetoken=${encodeURIComponent(token)}`;
      const { body } = await ask('GET', `/conversations?limit=2${rest}`);
      const page = body as { items: { id: string }[]; next_page_token?: string };
      seen.push(...page.items.map((one) => one.id));
      token = page.next_page_token;
    }
    expect(seen).toEqual((await listConversations(at.server, at.hook)).map((one) => one.id));
    expect(new Set(seen).size).toBe(5);
  });
});
