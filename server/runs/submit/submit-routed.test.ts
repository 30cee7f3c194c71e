/** Capture and routing of the runs of an instance, by the rows that shadow and switchback tests write. */
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
const insertRoute = (instance: string, route: RunRoute) =>
  server.runningServer.database.transact((tx) => acquireRoute(tx, uid, instance, route));
const listCaptured = async () =>
  (await server.runningServer.database.read.selectFrom('captured_runs').select('run_id').execute()).map(
    (row) => row.run_id as string,
  );
const getMetadata = (run: string) =>
  server.client.call('getRunMetadata', { params: { application_id: 'app', run_id: run as never } });

const createShadowRoute = (from: number, until: number | null): RunRoute => ({
  experimentUid: 'x1',
  experimentId: 'shadow-test' as ExperimentId,
  rule: { kind: 'shadow', from, until },
});
const createSwitchbackRoute = (units: string[]): RunRoute => ({
  experimentUid: 'x2',
  experimentId: 'switchback-test' as ExperimentId,
  rule: { kind: 'switchback', start: START + MINUTE, unitMs: 30 * MINUTE, units },
});

describe('a shadow test', () => {
  test('captures the runs of its instance from its start to its end', async () => {
    await start();
    await insertRoute('baseline', createShadowRoute(START + 10, START + 20));
    const createBaselineRun = () => createRun(server, 'app', { instance: 'baseline' });
    await createBaselineRun();
    clock.advance(10);
    const first = await createBaselineRun();
    clock.advance(9);
    const last = await createBaselineRun();
    await createRun(server, 'app', { instance: 'candidate' });
    clock.advance(1);
    await createBaselineRun();
    expect((await listCaptured()).sort()).toEqual([first, last].sort());
  });

  test('on latest captures runs that request devint, or no instance', async () => {
    await start();
    await insertRoute('devint', createShadowRoute(START, null));
    const runs = [
      await createRun(server, 'app', { instance: 'latest' }),
      await createRun(server, 'app', { instance: 'devint' }),
      await createRun(server, 'app'),
    ];
    expect((await listCaptured()).sort()).toEqual(runs.sort());
  });

  test('captures nothing after its end, and a capture is deleted with its run', async () => {
    await start();
    await insertRoute('baseline', createShadowRoute(START, null));
    const run = await createRun(server, 'app', { instance: 'baseline' });
    await server.runningServer.database.transact((tx) => removeRoutesOfExperiment(tx, 'x1', uid));
    await createRun(server, 'app', { instance: 'baseline' });
    expect(await listCaptured()).toEqual([run]);
    await server.request('DELETE', `/v1/applications/app/runs/${run}`);
    expect(await listCaptured()).toEqual([]);
  });

  test('blocks another test on the same instance, whose error names it', async () => {
    await start();
    expect(await insertRoute('baseline', createShadowRoute(START, null))).toBeNull();
    expect(await insertRoute('baseline', createSwitchbackRoute(['baseline']))).toEqual({
      experiment_id: 'shadow-test',
      kind: 'shadow',
    });
  });
});

describe('a switchback test', () => {
  test('sends runs to the instance of the current unit, to the millisecond', async () => {
    await start();
    await insertRoute('baseline', createSwitchbackRoute(['candidate', 'baseline', 'candidate']));
    const createAndReadRoute = async () => {
      const run = await createRun(server, 'app', { instance: 'baseline' });
      const { application_instance_id, plan_unit_index, experiment_id } = (await getMetadata(run)).body
        .metadata;
      return [application_instance_id, plan_unit_index, experiment_id];
    };
    const test = 'switchback-test';
    clock.advance(MINUTE - 1);
    expect(await createAndReadRoute()).toEqual(['baseline', undefined, undefined]);
    clock.advance(1);
    expect(await createAndReadRoute()).toEqual(['candidate', 0, test]);
    clock.advance(30 * MINUTE - 1);
    expect(await createAndReadRoute()).toEqual(['candidate', 0, test]);
    clock.advance(1);
    expect(await createAndReadRoute()).toEqual(['baseline', 1, test]);
    clock.advance(60 * MINUTE - 1);
    expect(await createAndReadRoute()).toEqual(['candidate', 2, test]);
    clock.advance(1);
    expect(await createAndReadRoute()).toEqual(['baseline', undefined, undefined]);
  });

  test('without its candidate leaves runs on the baseline, in the units of the candidate', async () => {
    await start();
    await insertRoute('baseline', createSwitchbackRoute(['nowhere']));
    clock.advance(MINUTE);
    const run = await createRun(server, 'app', { instance: 'baseline' });
    const { metadata } = await waitForRunEnd(server, 'app', run);
    expect(metadata).toMatchObject({
      application_instance_id: 'baseline',
      status_v2: 'succeeded',
      experiment_id: 'switchback-test',
      plan_unit_index: 0,
    });
  });

  test('does not touch external runs and runs of other instances', async () => {
    await start();
    await insertRoute('baseline', createSwitchbackRoute(['candidate']));
    clock.advance(MINUTE);
    const external = await server.request('POST', '/v1/applications/app/runs?instance_id=baseline', {
      body: { configuration: { run_type: { type: 'external' } } },
    });
    expect(external.status).toBe(202);
    const other = await createRun(server, 'app', { instance: 'candidate' });
    for (const run of [(external.body as { run_id: string }).run_id, other])
      expect((await getMetadata(run)).body.metadata.experiment_id).toBeUndefined();
  });
});
