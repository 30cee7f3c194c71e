/** Steps with applications, instances and webhooks. */
import { ACCOUNTS } from '../world/setup.ts';
import { changeSetting } from './settings.ts';
import { readNumber, readText, type StepKinds } from './step.ts';

/** More than a row holds, so that the input becomes a blob. */
const LARGE_CHARS = 70_000;

export const APPLICATION_STEPS: StepKinds = {
  promote: {
    weight: 2,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), version: draws.pick(['v1', 'v2', 'v3']) }),
    async run(world, step) {
      const change = { account: readNumber(step, 'account'), value: readText(step, 'version') };
      const answer = await changeSetting(world, { ...change, name: 'version of main' });
      if (answer?.status === 200) world.ledger.acknowledge('updateInstance', 'main');
      else if (answer) world.ledger.reportRefusal(step, answer);
    },
  },
  useApplication: {
    weight: 2,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), runs: draws.below(4), ms: draws.below(20_000) }),
    async run(world, step) {
      const client = world.clientOf(readNumber(step, 'account'));
      const id = `temporary-${step.id}`;
      const path = `/v1/applications/${id}`;
      const created = await client.call('POST', '/v1/applications', {
        ...{ body: { id, name: id }, idempotencyKey: `application-${step.id}` },
      });
      if (created?.status !== 201) return;
      await world.pushApp(client, id);
      for (let n = 0; n < readNumber(step, 'runs'); n += 1) {
        const input = { n: step.id, ms: 3000, end: 'success', filler: 'x'.repeat(LARGE_CHARS) };
        await client.call('POST', `${path}/runs`, { body: { input }, idempotencyKey: `run-${step.id}-${n}` });
      }
      await world.sleep(readNumber(step, 'ms'));
      const deleted = await client.call('DELETE', path);
      if (deleted?.status !== 204) return;
      world.ledger.acknowledge('deleteApplication', id);
      const found = await client.call('GET', path);
      if (found && found.status !== 404)
        world.ledger.report('a deleted application is gone', `${id} has the status ${found.status}`);
    },
  },
  useWebhook: {
    weight: 2,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), ms: draws.below(120_000) }),
    async run(world, step) {
      const client = world.clientOf(readNumber(step, 'account'));
      const id = `hook-${step.id}`;
      const body = {
        ...{ id, event_types: ['run.status'], description: '' },
        endpoint_url: `https://${id}.example.com/hook`,
      };
      world.ledger.webhooks.set(`${id}.example.com`, readNumber(step, 'account'));
      const created = await client.call('POST', '/v1/webhooks', { body, idempotencyKey: id });
      if (created?.status !== 201) return;
      world.ledger.acknowledge('createWebhook', id);
      await world.sleep(readNumber(step, 'ms'));
      const deleted = await client.call('DELETE', `/v1/webhooks/${id}`);
      if (deleted?.status !== 204) return;
      world.ledger.acknowledge('deleteWebhook', id);
      world.ledger.deletedWebhooks.set(`${id}.example.com`, world.scheduler.now);
    },
  },
};
