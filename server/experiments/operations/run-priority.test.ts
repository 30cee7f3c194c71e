/** F1, F2: runs of experiments wait behind all others, unless their experiment has a priority, and have its limit. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createArithmeticEnsemble } from '../../testing/fixtures/batch-ensembles.ts';
import {
  batchExperimentPath,
  createExperimentApplication,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import { expectError } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '2' } });
  // The instances have a priority of their own, which their experiments do not take.
  await createExperimentApplication(server, 'app', { plain: {}, double: { factor: '2' } }, [{ size: 1 }]);
  for (const instance_id of ['plain', 'double'])
    await server.client.call('updateInstance', {
      params: { application_id: 'app', instance_id },
      body: { configuration: { queuing: { priority: 2 } } },
    });
  await createArithmeticEnsemble(server, 'pair', { low: { factor: '0.9' }, high: { factor: '1.2' } });
});
afterAll(() => server.close());

/** Lists the different settings of the runs of the experiment and of the child runs of its ensembles. */
async function listRunSettings(id: string) {
  await waitForBatchEnd(server, 'app', id);
  return server.runningServer.database.read
    .selectFrom('runs')
    .select(['priority', 'max_duration'])
    .distinct()
    .where((eb) =>
      eb.or([
        eb('experiment_id', '=', id as never),
        eb(
          'parent_run_id',
          'in',
          eb
            .selectFrom('runs')
            .select('id')
            .where('experiment_id', '=', id as never),
        ),
      ]),
    )
    .execute();
}

const SIDES = { instance_ids: ['plain', 'double'], input_set_id: 'sizes' };
const rule = {
  field: 'result.value',
  statistic: 'mean',
  metric_type: 'direct-comparison',
  params: { operator: 'le' },
};

test.each<[string, string, object]>([
  ['a batch experiment', '/experiments/batch', SIDES],
  [
    'a scenario test',
    '/experiments/batch',
    { ...SIDES, type: 'scenario', option_sets: { one: { shift: '1' } } },
  ],
  [
    'a batch experiment with an ensemble',
    '/experiments/batch',
    { input_set_id: 'sizes', runs: [{ instance_id: 'plain' }, { ensemble_id: 'pair' }] },
  ],
  [
    'an acceptance test',
    '/experiments/acceptance',
    {
      control: { instance_id: 'plain' },
      candidate: { instance_id: 'double' },
      metrics: [rule],
      input_set_id: 'sizes',
    },
  ],
])(
  'F1, F2: the runs of %s have the priority 9 and no limit, or those of the experiment',
  async (noun, path, body) => {
    for (const settings of [{}, { priority: 3, max_duration: 60 }]) {
      const { priority } = { priority: undefined, ...settings };
      const id = `${noun.replaceAll(' ', '-')}-${priority ?? 'last'}`.slice(-40).replace(/^-/, '');
      const fields = { id, name: noun, ...body, ...settings };
      const created = await server.request('POST', `/v1/applications/app${path}`, { body: fields });
      expect(created.status, created.text).toBeLessThan(300);
      expect(await listRunSettings(id)).toEqual([{ priority: 9, max_duration: null, ...settings }]);
      const { body: info } = await server.request('GET', batchExperimentPath('app', `/${id}/metadata`));
      expect(info).toMatchObject({ priority: 9, ...settings });
    }
  },
);

test.each([0, 10, 2.5])('F1: the priority %s of an experiment is refused', async (priority) => {
  const body = { id: 'refused', name: 'Refused', ...SIDES, priority };
  expectError(await server.request('POST', batchExperimentPath('app'), { body }), 400, 'priority');
});
