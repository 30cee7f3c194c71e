/** A retention policy and the usage of runs, on a server that is killed: a real process, SIGKILL. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Eight steps of the clean-up job. */
const RUNS = 400;
const EXTERNAL = { configuration: { run_type: { type: 'external' } } };
const SUCCEEDED = { ...EXTERNAL, result: { status: 'succeeded', execution_duration: 1 } };
const params = { application_id: 'app' };

/** Creates ended runs, and returns the ids of those that a tag or a share link protects. */
async function createRuns({ client, request }: ServerProcess): Promise<string[]> {
  await client.call('createApplication', { body: { id: 'app', name: 'Any name' } });
  const create = () => createRun({ client, request }, 'app', { input: {}, body: SUCCEEDED });
  const runs = await Promise.all(Array.from({ length: RUNS }, create));
  const isProtected = runs.filter((_, number) => number % 40 === 0);
  for (const [number, run] of isProtected.entries()) {
    const path = `/v1/applications/app/runs/${run}`;
    if (number % 2 === 0) await request('PUT', `${path}/tags`, { body: { tags: ['reference'] } });
    else await request('POST', `${path}/shares`, { body: { parts: ['log'] } });
  }
  return isProtected;
}

test('a killed clean-up continues, protected runs stay, and each run is counted and deleted once', async () => {
  const data = mkdtempSync(join(tmpdir(), 'switchyard-retention-'));
  let server = await startServerProcess({ dataFolder: data });
  try {
    const retained = (await createRuns(server)).sort();
    await server.kill();
    const database = new DatabaseSync(join(data, 'switchyard.db'), { timeout: 10_000 });
    database.exec(
      `update runs set created_at = created_at - ${40 * DAY_MS}, finished_at = finished_at - ${40 * DAY_MS}`,
    );
    const listRuns = () =>
      database
        .prepare('select id from runs order by id')
        .all()
        .map(({ id }) => String(id));
    server = await startServerProcess({ dataFolder: data });
    await server.client.call('setRetention', { params, body: { keep_days: 30 } });
    await waitUntil('the first runs are deleted', () => listRuns().length < RUNS);
    await server.kill();
    server = await startServerProcess({ dataFolder: data });
    await waitUntil('the clean-up ends', () => listRuns().length <= retained.length);
    expect(listRuns()).toEqual(retained);
    const entries = database
      .prepare("select resource from audit_entries where operation = 'removeExpiredRuns'")
      .all()
      .map(({ resource }) => JSON.parse(String(resource)).run_ids.split(' '));
    expect(new Set(entries.flat()).size).toBe(RUNS - retained.length);
    expect(entries.flat()).toHaveLength(RUNS - retained.length);
    database.close();
    expect((await server.client.call('getUsage')).body.total.runs).toBe(RUNS);
  } finally {
    await server.kill();
    rmSync(data, { recursive: true, force: true });
  }
});
