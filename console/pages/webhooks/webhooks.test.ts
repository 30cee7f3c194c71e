/** Webhooks in the console, with a receiver that fails first. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import {
  createWebhook,
  fetchSecret,
  waitForConversations,
} from '@switchyard/server/testing/fixtures/webhooks.ts';
import {
  respondWith,
  startWebhookReceiver,
  type WebhookReceiver,
} from '@switchyard/server/testing/http/webhook-receiver.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

const HOSTILE_BODY = '<img src=x onerror=alert(1)>';

describe.skipIf(!hasBrowser)('webhooks', () => {
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    receiver = await startWebhookReceiver(respondWith(500, {}, HOSTILE_BODY));
  });
  afterAll(() => receiver.close());
  const at = setUpConsole();

  test('a webhook is created, fails, and gets the event again', async () => {
    const page = await at.open('/webhooks');
    await page.getByText('No webhook yet').waitFor();
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByLabel('Id', { exact: true }).fill('desk');
    await page.getByLabel('Address').fill('ftp://example.com');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByRole('alert').filter({ hasText: 'endpoint_url' }).waitFor();
    await page.getByLabel('Address').fill(receiver.url);
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByRole('heading', { name: 'desk' }).waitFor();

    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByRole('row', { name: /^run.status Failed 1 500/ }).waitFor();
    await page.getByText(/^Failing: the first attempt failed .*none has succeeded since/).waitFor();
    await page.getByText('No event has arrived yet.').waitFor();
    await page.getByRole('link', { name: 'run.status' }).click();
    await page.getByLabel('Response').filter({ hasText: HOSTILE_BODY }).waitFor();
    await page.getByRole('treeitem').filter({ hasText: 'run-example' }).first().waitFor();
    receiver.respond = respondWith(200);
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The event is on its way again.').waitFor();
    await page.getByRole('row', { name: /^run.status Succeeded 1 200/ }).waitFor();
    await page.getByText('Delivering. The last event arrived').waitFor();
    const events = receiver.received.map(({ event }) => event.event_id);
    expect(new Set(events).size).toBe(1);

    await page.getByLabel('Status').selectOption('failed');
    await page.getByRole('row', { name: /Succeeded/ }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?status=failed');
  });

  test('the secret is revealed and rotated, and the webhook edited and deleted', async () => {
    const { id } = await createWebhook(at.server, receiver.url);
    const page = await at.open(`/webhooks/${id}`);
    await page.getByRole('button', { name: 'Reveal secret' }).click();
    const secret = await page.getByRole('dialog').locator('code').textContent();
    expect(secret).toBe(await fetchSecret(at.server, id));
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByLabel('Overlap in hours').fill('2');
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog', { name: `Secret of ${id}` }).waitFor();
    const rotated = await page.getByRole('dialog').locator('code').textContent();
    expect(rotated).toBe(await fetchSecret(at.server, id));
    expect(rotated).not.toBe(secret);
    await page.getByRole('button', { name: 'Done' }).click();

    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Description').fill('The dispatch desk');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The dispatch desk').waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel(`Type ${id} to confirm`).fill(id);
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    expect(await page.getByRole('link', { name: id }).count()).toBe(0);
  });

  test('a webhook that its receiver disabled says how to enable it; an operator sees no secret', async () => {
    receiver.respond = respondWith(410);
    const { id } = await createWebhook(at.server, receiver.url);
    await at.server.request('POST', '/v1/events/trigger', { body: { event_type: 'run.status' } });
    await waitForConversations(at.server, id, 1);
    const page = await at.open(`/webhooks/${id}`, { role: 'operator' });
    await page.getByText('the receiver responded 410 Gone').waitFor();
    for (const name of ['Reveal secret', 'Edit', 'More actions', 'Send test event'])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    const phone = await at.openOnPhone('/webhooks');
    await phone.getByRole('link', { name: id }).click();
    await phone.getByRole('link', { name: 'run.status' }).click();
    await phone.getByRole('heading', { name: 'Request' }).waitFor();
    expect(await findAccessibilityProblems(phone)).toEqual([]);
  });
});
