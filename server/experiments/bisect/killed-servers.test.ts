/** A bisect experiment whose server is killed again and again: real processes, SIGKILL, on either database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BisectExperiment } from '@switchyard/contract/experiments/bisect/bisect-experiments.ts';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createDatabase, dropDatabase, TEMPLATE_DATABASE } from '../../testing/database/postgres-server.ts';
import {
  bisectCalls,
  bisectedApp,
  createBisectedApplication,
} from '../../testing/fixtures/bisect-experiments.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';

let data: string;
let address = '';
let name = '';
let server: ServerProcess;

beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'switchyard-bisect-'));
  name = `bisect_${process.pid}_${performance.now().toFixed(0)}`;
  const postgres = inject('postgres');
  address = postgres ? await createDatabase(postgres, name, TEMPLATE_DATABASE) : '';
  await start();
});
afterEach(async () => {
  await server.kill();
  rmSync(data, { recursive: true, force: true });
  if (address) await dropDatabase(inject('postgres'), name);
});

async function start(): Promise<void> {
  server = await startServerProcess({
    dataFolder: data,
    env: { SWITCHYARD_CAPACITY: '2', ...(address ? { SWITCHYARD_DATABASE: address } : {}) },
  });
}

test('a search whose server is killed loses no run, repeats none, and ends in the same version', async () => {
  const [good, worse] = [bisectedApp(1), bisectedApp(1.05)];
  const versions = { v1: good, v2: good, v3: good, v4: worse, v5: worse };
  await createBisectedApplication(server, versions, { plain: { size: 100 } });
  const { create, get, path } = bisectCalls(() => server, {
    name: 'Dearer since spring',
    input_ids: ['plain'],
    indicator: 'result.value',
    good_version_id: 'v1',
    bad_version_id: 'v5',
    difference: { type: 'relative', value: 0.02 },
  });
  expectStatus(await create('search'), 201);
  const waitFor = (what: string, holds: (search: BisectExperiment) => boolean) =>
    waitUntil(what, async () => {
      const search = await get('search');
      return holds(search) ? search : null;
    });
  // Each step has eight rounds of two runs. The kills are in the middle of a step, and at its end, while the next one is planned.
  for (const runs of [4, 32]) {
    await waitFor(`${runs} runs have ended`, ({ number_of_completed_runs: ended }) => ended >= runs);
    await server.kill();
    await start();
  }
  const ended = await waitFor('the search has ended', ({ status }) => status !== 'started');
  expect(ended).toMatchObject({
    status: 'completed',
    verdict: 'found',
    last_good_version_id: 'v3',
    first_bad_version_id: 'v4',
    number_of_requested_runs: 48,
    number_of_completed_runs: 48,
    number_of_failed_runs: 0,
  });
  const { runs } = (await server.request('GET', path('search', '/runs'))).body as {
    runs: { scenario_id: string; repetition: number; version_id: string; status_v2: string }[];
  };
  const cells = runs.map((run) => `${run.scenario_id} ${run.repetition} ${run.version_id}`);
  // Three steps of eight rounds, each with the tested and the good version.
  const expected = ['v5', 'v3', 'v4'].flatMap((step) =>
    Array.from({ length: 8 }, (_, round) => [`${step} ${round} v1`, `${step} ${round} ${step}`]).flat(),
  );
  expect(cells.sort()).toEqual(expected.sort());
  expect(new Set(runs.map(({ status_v2 }) => status_v2))).toEqual(new Set(['succeeded']));
});
