/** Two processes on one PostgreSQL create, end and cancel ensemble runs concurrently; one process creates and ends each run. */
import { isTerminal } from '@switchyard/contract/states.ts';
import { afterEach, expect, inject, test } from 'vitest';
import { createRun, pushApp } from '../../testing/fixtures/apps.ts';
import { ensembleRunType } from '../../testing/fixtures/ensembles.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { type ServerCluster, startServerCluster } from '../../testing/servers/server-cluster.ts';
import type { ServerProcess } from '../../testing/servers/server-process.ts';

const postgres = inject('postgres');
let cluster: ServerCluster | undefined;

afterEach(async () => {
  await cluster?.close();
  cluster = undefined;
});

/** Prints its option `value` as a statistic, or waits for the cancel when that is `wait`. A shell script starts quickly. */
const APP = {
  main: `#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = "-value" ] && value=$2; shift 2; done
if [ "$value" = "wait" ]; then echo waiting >&2; exec sleep 600; fi
printf '{"statistics":{"schema":"v1","result":{"value":%s}}}' "$value"
`,
};
const params = { application_id: 'app' };

async function waitForEnd(server: ServerProcess, run_id: string) {
  return waitUntil(`the end of ${run_id}`, async () => {
    const { body } = await server.client.call('getRun', { params: { ...params, run_id } });
    return isTerminal(body.status_v2) ? body : null;
  });
}

test.runIf(postgres)('two servers share the work of ensembles and do no step twice', async () => {
  cluster = await startServerCluster(postgres, `ensembles_${process.pid}`);
  const [one, other] = [await cluster.start('all'), await cluster.start('all')];
  await pushApp(one, 'app', APP, { executable_type: 'binary', runtime: 'shell' });
  const define = (id: string, values: string[]) =>
    one.client.call('createEnsemble', {
      params,
      body: {
        id,
        name: 'Any name',
        run_groups: values.map((value, at) => ({
          id: `g${at}`,
          instance_id: 'latest',
          options: { value },
          repetitions: 2,
        })),
        rules: [{ id: 'value', statistics_path: 'result.value', objective: 'minimize', index: 0 }],
      },
    });
  await define('ending', ['5', '3', '4']);
  await define('waiting', ['wait', 'wait']);
  const createEnsembleRun = (server: ServerProcess, id: string) =>
    createRun(server, 'app', { input: {}, body: { configuration: ensembleRunType(id) } });
  const ending = await Promise.all(
    Array.from({ length: 6 }, (_, at) => createEnsembleRun(at % 2 ? one : other, 'ending')),
  );
  const canceled = await Promise.all([one, other].map((server) => createEnsembleRun(server, 'waiting')));
  // One server creates an ensemble run and the other cancels it while child runs are created and claimed.
  const cancel = (server: ServerProcess, run: string | undefined) =>
    server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`);
  for (const response of await Promise.all([cancel(other, canceled[0]), cancel(one, canceled[1])]))
    expectStatus(response, 204);
  for (const [at, run] of ending.entries()) {
    const done = await waitForEnd(at % 2 ? other : one, run);
    expect(done).toMatchObject({
      status_v2: 'succeeded',
      output: { statistics: { result: { value: 3 } } },
    });
  }
  for (const run of canceled) expect((await waitForEnd(one, run)).status_v2).toBe('canceled');

  const childCounts = await cluster.query<{ parent: string; count: string; labels: string }>(
    `select parent_run_id as parent, count(*) as count, count(distinct labels) as labels
       from runs where parent_run_id = any($1) group by parent_run_id`,
    [ending],
  );
  expect(childCounts.map(({ count, labels }) => [Number(count), Number(labels)])).toEqual(
    ending.map(() => [6, 6]),
  );
  const endedTwice = await cluster.query(
    `select run_id, count(*) from run_events where status in ('succeeded', 'failed', 'canceled')
       group by run_id having count(*) <> 1`,
  );
  expect(endedTwice).toEqual([]);
  expect(await cluster.query('select * from planned_runs')).toEqual([]);
  expect(await cluster.query(`select id from runs where finished_at is null`)).toEqual([]);
  // Every content that a run references exists, and no other content does.
  const [contents] = await cluster.query<{ lost: string; extra: string }>(
    `with named as (
         select unnest(array[input_content_id, output_content_id, stdout_content_id, log_content_id]) as id from runs
         union all select content_id from assets
       )
       select (select count(*) from named where id is not null and id not in (select id from contents)) as lost,
              (select count(*) from contents where id not in (select id from named where id is not null)
                 and id not in (select content_id from executables union all
                   select content_id from uploads where content_id is not null)) as extra`,
  );
  expect(contents).toEqual({ lost: '0', extra: '0' });
});
