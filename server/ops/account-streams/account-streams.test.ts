/** The stream of an account over HTTP: its own changes, each once, also after a lost connection. */
import type { RunChange } from '@switchyard/contract/account/account-streams.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRunAndWait, pushApp } from '../../testing/fixtures/apps.ts';
import { createBatchExperiment, waitForSubmission } from '../../testing/fixtures/batch-experiments.ts';
import { expectError } from '../../testing/fixtures/resources.ts';
import { type OpenedStream, openStream, type StreamedEvent } from '../../testing/http/event-streams.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const PATH = '/v1/account/events';
/** Returns at once; with the option `wait`, when it is canceled. */
const MAIN = '#!/bin/sh\ncase "$*" in *wait*) exec sleep 60;; esac\necho "{}"\n';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await pushApp(server, 'app', { main: MAIN }, { executable_type: 'binary', runtime: 'native' });
});
afterAll(() => server.close());

const listRunChanges = ({ event, data }: StreamedEvent): RunChange[] =>
  event === 'runs' ? (data.changes as RunChange[]) : [];

/** Reads events until one fulfils the condition, and returns them all. */
async function readUntil(
  stream: OpenedStream,
  isLast: (event: StreamedEvent) => boolean,
): Promise<StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  for (;;) {
    const event = await stream.next();
    if (event === undefined) throw new Error(`The stream ended after ${JSON.stringify(events)}.`);
    events.push(event);
    if (isLast(event)) return events;
  }
}
const matchEnd =
  (run: string) =>
  (event: StreamedEvent): boolean =>
    listRunChanges(event).some(({ run_id, status_v2 }) => run_id === run && status_v2 === 'succeeded');

test('sends changes of runs and of the queue of the account, in order', async () => {
  const other = await createOtherAccount(server);
  const [stream, otherStream] = [
    await openStream(server, PATH),
    await openStream({ url: server.url, token: other.token }, PATH),
  ];
  for (const one of [stream, otherStream])
    expect(await one.next()).toMatchObject({ event: 'runs', data: { changes: [], is_truncated: false } });
  const { id } = await createRunAndWait(server, 'app', { input: {} });
  const events = await readUntil(stream, matchEnd(id));
  const changes = events.flatMap(listRunChanges);
  expect(new Set(changes.map(({ run_id, application_id }) => `${application_id} ${run_id}`))).toEqual(
    new Set([`app ${id}`]),
  );
  expect(changes.map(({ at }) => at)).toEqual(changes.map(({ at }) => at).toSorted());
  expect((await readUntil(stream, ({ event }) => event === 'queue')).at(-1)?.data).toEqual({});
  expect((await otherStream.next())?.event).toBe('queue');
  for (const one of [stream, otherStream]) await one.close();
});

test('continues after the last event, and repeats none', async () => {
  const first = await openStream(server, PATH);
  const { id: before } = await createRunAndWait(server, 'app', { input: {} });
  const last = (await readUntil(first, matchEnd(before))).at(-1);
  await first.close();
  const { id: missed } = await createRunAndWait(server, 'app', { input: {} });
  const second = await openStream(server, PATH, last?.id);
  const { id: after } = await createRunAndWait(server, 'app', { input: {} });
  const events = await readUntil(second, matchEnd(after));
  expect(listRunChanges(events[0] as StreamedEvent)).toMatchObject([
    { run_id: missed, status_v2: 'succeeded' },
  ]);
  const runs = new Set(events.flatMap(listRunChanges).map(({ run_id }) => run_id));
  expect(runs).toEqual(new Set([missed, after]));
  await second.close();
  expectError(
    await server.request('GET', PATH, { headers: { 'last-event-id': 'x' } }),
    400,
    'Last-Event-ID is "x"',
  );
  const unknown = await openStream(server, PATH, '999999999');
  expect((await unknown.next())?.data).toEqual({ changes: [], is_truncated: true });
  await unknown.close();
});

test('has the start and the end of an experiment', async () => {
  const run = await createRunAndWait(server, 'app', { input: {} });
  await server.client.call('createInputSet', {
    params: { application_id: 'app' },
    body: { id: 'set', name: 'A set', run_ids: [run.id] },
  });
  const stream = await openStream(server, PATH);
  await stream.next();
  await createBatchExperiment(server, 'app', {
    id: 'batch',
    input_set_id: 'set',
    option_sets: { waits: { wait: '1' } },
    runs: [{ instance_id: 'latest', option_set: 'waits' }],
  });
  const hasStatus =
    (wanted: string) =>
    ({ event, data }: StreamedEvent): boolean =>
      event === 'experiments' &&
      (data.changes as { status: string }[]).some(({ status }) => status === wanted);
  const started = await readUntil(stream, hasStatus('started'));
  // The event comes as soon as the experiment is stored, and a job creates its run afterwards.
  await waitForSubmission(server, 'batch');
  const { body } = await server.client.call('listBatchExperimentRuns', {
    params: { application_id: 'app', batch_id: 'batch' },
  });
  for (const { id } of body.runs) await server.request('PATCH', `/v1/applications/app/runs/${id}/cancel`);
  const events = [...started, ...(await readUntil(stream, hasStatus('failed')))];
  expect(events.flatMap(({ event, data }) => (event === 'experiments' ? data.changes : []))).toEqual(
    ['started', 'failed'].map((status) => ({
      application_id: 'app',
      experiment_id: 'batch',
      type: 'batch',
      status,
    })),
  );
  await stream.close();
});
