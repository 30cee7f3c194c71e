/** Deliveries of webhooks: the events of runs, and conversations. */
import { describe, expect, test } from 'vitest';
import { createRun, createRunAndWait, nodeApp, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { createApplication, expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startServerWithReceiver } from '../../testing/fixtures/webhook-server.ts';
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
} from '../../testing/fixtures/webhooks.ts';

const clock = createTimeoutClock();
const at = startServerWithReceiver(clock);
const { ask } = at;

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
    expect(inOrder.map((one) => one.event.data)).toMatchObject([
      { status_v2: 'queued', status: 'running' },
      { status_v2: 'running', status: 'running' },
      { status_v2: 'succeeded', status: 'succeeded' },
    ]);
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
      expect(mine.map((one) => one.data)).toMatchObject([
        { status_v2: 'queued' },
        { status_v2: 'running' },
        { status_v2: 'succeeded' },
      ]);
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
    const succeeded = await listConversations(at.server, at.hook, '?status=succeeded');
    expect(succeeded.map((one) => one.id)).toEqual(seen);
  });
});
