/** Webhooks get the status changes of experiments and acceptance tests, if they subscribe to them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAcceptanceTest, waitForDecision } from '../../testing/fixtures/acceptance-tests.ts';
import {
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import { createWebhook } from '../../testing/fixtures/webhooks.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../testing/http/webhook-receiver.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let receiver: WebhookReceiver;

beforeAll(async () => {
  server = await startTestServer();
  receiver = await startWebhookReceiver();
  await createExperimentApplication(server, 'app', { left: {}, right: {} }, [{ size: 1 }]);
});
afterAll(async () => {
  await receiver.close();
  await server.close();
});

test('a batch experiment and an acceptance test send an event when they start and when they complete', async () => {
  await createWebhook(server, `${receiver.url}/experiments`, { event_types: ['experiment.status'] });
  await createWebhook(server, `${receiver.url}/runs`, { event_types: ['run.status'] });
  const { id } = await createBatchExperiment(server, 'app', {
    input_set_id: 'sizes',
    instance_ids: ['left', 'right'],
  });
  await waitForBatchEnd(server, 'app', id);
  const events = await receiver.until((all) => {
    const found = all.filter(({ path }) => path.endsWith('/experiments'));
    return found.length >= 2 && found.map(({ event }) => event);
  });
  const inOrder = events.toSorted((one, other) => one.sequence - other.sequence);
  const common = { id, application_id: 'app', type: 'batch', name: 'Any name' };
  expect(inOrder).toMatchObject([
    { event_type: 'experiment.status', data: { ...common, status: 'started' } },
    { event_type: 'experiment.status', data: { ...common, status: 'completed' } },
  ]);

  await createAcceptanceTest(server, 'app', {
    id: 'gate',
    experiment_id: id,
    control: { instance_id: 'left' },
    candidate: { instance_id: 'right' },
  });
  await waitForDecision(server, 'app', 'gate');
  const gate = { id: 'gate', application_id: 'app', type: 'acceptance', name: 'Any name' };
  const gateEvents = await receiver.until((all) => {
    const found = all.map(({ event }) => event).filter((event) => event.data.id === 'gate');
    return found.length >= 2 && found;
  });
  expect(gateEvents.toSorted((one, other) => one.sequence - other.sequence)).toMatchObject([
    { event_type: 'experiment.status', data: { ...gate, status: 'started' } },
    { event_type: 'experiment.status', data: { ...gate, status: 'completed', passed: true } },
  ]);
  const others = receiver.received.filter(({ path }) => path.endsWith('/runs'));
  expect(new Set(others.map(({ event }) => event.event_type))).toEqual(new Set(['run.status']));
});
