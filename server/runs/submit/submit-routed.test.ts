/** What started tests do to the runs of an instance, told to the server by the rows that such tests write. */
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { createRun, nodeApp, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { acquireRoute, type RunRoute, removeRoutesOfExperiment } from '../store/routes.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 5, 8);

let server: TestServer;
let clock: ManualClock;
let uid: string;
afterEach(() => server.close());

async function start(): Promise<void> {
  clock = createManualClock(START);
  server = await startTestServer({ clock });
  await pushApp(server, 'app', nodeApp('(input) => ({ input })'));
  await server.client.call('createVersion', {
    params: { application_id: 'app' },
    body: { id: 'v1', name: 'One' },
  });
  for (const id of ['baseline', 'candidate'])
    await server.client.call('createInstance', {
      params: { application_id: 'app' },
      body: { id, name: `Instance ${id}`, version_id: 'v1' },
    });
  const row = await server.runningServer.database.read
    .selectFrom('applications')
    .select('uid')
    .executeTakeFirstOrThrow();
  uid = row.uid;
}
const routed = (instance: string, route: RunRoute) =>
  server.runningServer.database.transact((tx) => acquireRoute(tx, uid, instance, route));
const captured = async () =>
  (await server.runningServer.database.read.selectFrom('captured_runs').select('run_id').execute()).map(
    (row) => row.run_id as string,
  );
const metadata = (run: string) =>
  server.client.call('getRunMetadata', { params: { application_id: 'app', run_id: run as never } });

const shadow = (from: number, until: number | null): RunRoute => ({
  experimentUid: 'x1',
  experimentId: 'shadow-test' as ExperimentId,
  rule: { kind: 'shadow', from, until },
});
const switchback = (units: string[]): RunRoute => ({
  experimentUid: 'x2',
  experimentId: 'switchback-test' as ExperimentId,
  rule: { kind: 'switchback', start: START + MINUTE, unitMs: 30 * MINUTE, units },
});

describe('a shadow test', () => {
  test('has the runs of its instance noted from its first instant to its last', async () => {
    await start();
    await routed('baseline', shadow(START + 10, START + 20));
    const make = () => createRun(server, 'app', { instance: 'baseline' });
    await make();
    clock.advance(10);
    const first = await make();
    clock.advance(9);
    const last = await make();
    await createRun(server, 'app', { instance: 'candidate' });
    clock.advance(1);
    await make();
    expect((await captured()).sort()).toEqual([first, last].sort());
  });

  test('of latest has the runs noted that name it devint, or nothing', async () => {
    await start();
    await routed('devint', shadow(START, null));
    const runs = [
      await createRun(server, 'app', { instance: 'latest' }),
      await createRun(server, 'app', { instance: 'devint' }),
      await createRun(server, 'app'),
    ];
    expect((await captured()).sort()).toEqual(runs.sort());
  });

  test('has nothing noted once it is over, and a note goes with its run', async () => {
    await start();
    await routed('baseline', shadow(START, null));
    const run = await createRun(server, 'app', { instance: 'baseline' });
    await server.runningServer.database.transact((tx) => removeRoutesOfExperiment(tx, 'x1', uid));
    await createRun(server, 'app', { instance: 'baseline' });
    expect(await captured()).toEqual([run]);
    await server.request('DELETE', `/v1/applications/app/runs/${run}`);
    expect(await captured()).toEqual([]);
  });

  test('keeps another from the same instance, which is told which one it is', async () => {
    await start();
    expect(await routed('baseline', shadow(START, null))).toBeNull();
    expect(await routed('baseline', switchback(['baseline']))).toEqual({
      experiment_id: 'shadow-test',
      kind: 'shadow',
    });
  });
});

describe('a switchback test', () => {
  test('sends runs by the unit that is on, to the millisecond', async () => {
    await start();
    await routed('baseline', switchback(['candidate', 'baseline', 'candidate']));
    const served = async () => {
      const run = await createRun(server, 'app', { instance: 'baseline' });
      const { application_instance_id, plan_unit_index, experiment_id } = (await metadata(run)).body.metadata;
      return [application_instance_id, plan_unit_index, experiment_id];
    };
    const test = 'switchback-test';
    clock.advance(MINUTE - 1);
    expect(await served()).toEqual(['baseline', undefined, undefined]);
    clock.advance(1);
    expect(await served()).toEqual(['candidate', 0, test]);
    clock.advance(30 * MINUTE - 1);
    expect(await served()).toEqual(['candidate', 0, test]);
    clock.advance(1);
    expect(await served()).toEqual(['baseline', 1, test]);
    clock.advance(60 * MINUTE - 1);
    expect(await served()).toEqual(['candidate', 2, test]);
    clock.advance(1);
    expect(await served()).toEqual(['baseline', undefined, undefined]);
  });

  test('of which the candidate is gone leaves runs to the baseline, unmarked', async () => {
    await start();
    await routed('baseline', switchback(['nowhere']));
    clock.advance(MINUTE);
    const run = await createRun(server, 'app', { instance: 'baseline' });
    const { metadata: shown } = await waitForRunEnd(server, 'app', run);
    expect(shown).toMatchObject({ application_instance_id: 'baseline', status_v2: 'succeeded' });
    expect(shown.experiment_id).toBeUndefined();
  });

  test('does not touch external runs and runs of other instances', async () => {
    await start();
    await routed('baseline', switchback(['candidate']));
    clock.advance(MINUTE);
    const external = await server.request('POST', '/v1/applications/app/runs?instance_id=baseline', {
      body: { configuration: { run_type: { type: 'external' } } },
    });
    expect(external.status).toBe(202);
    const other = await createRun(server, 'app', { instance: 'candidate' });
    for (const run of [(external.body as { run_id: string }).run_id, other])
      expect((await metadata(run)).body.metadata.experiment_id).toBeUndefined();
  });
});
