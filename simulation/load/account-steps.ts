/** Steps of members of an account: licences, quotas, keys and share links. */
import { ACCOUNTS, APPLICATION } from '../world/setup.ts';
import { pickOf } from './run-steps.ts';
import { changeSetting, checkSetting, SETTINGS, type Setting } from './settings.ts';
import { readNumber, readText, type StepKinds } from './step.ts';

export const ACCOUNT_STEPS: StepKinds = {
  setLicenses: {
    weight: 3,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), total: draws.below(6) }),
    async run(world, step) {
      const change = { account: readNumber(step, 'account'), value: readNumber(step, 'total') };
      const answer = await changeSetting(world, { ...change, name: 'licenses' });
      if (answer && answer.status !== 200) world.ledger.reportRefusal(step, answer);
    },
  },
  setQuotas: {
    weight: 4,
    draw: (draws) => ({
      account: draws.below(ACCOUNTS),
      runs: draws.below(5),
      ofApplication: draws.happens(0.3),
    }),
    async run(world, step) {
      const name = step.ofApplication === true ? 'quotas of the application' : 'quotas';
      const change = { account: readNumber(step, 'account'), value: readNumber(step, 'runs') };
      const answer = await changeSetting(world, { ...change, name });
      if (answer && answer.status !== 200) world.ledger.reportRefusal(step, answer);
    },
  },
  readSetting: {
    weight: 3,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), name: draws.pick(SETTINGS) }),
    run: (world, step) =>
      checkSetting(world, { account: readNumber(step, 'account'), name: readText(step, 'name') as Setting }),
  },
  useKey: {
    weight: 2,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), ms: draws.below(30_000) }),
    async run(world, step) {
      const client = world.clientOf(readNumber(step, 'account'));
      const role = readNumber(step, 'ms') % 2 === 0 ? 'operator' : 'viewer';
      const name = `key ${step.id}`;
      const created = await client.call('POST', '/v1/account/keys', {
        ...{ body: { name, role }, idempotencyKey: `key-${step.id}` },
      });
      if (created?.status !== 201) return;
      const { id, token } = created.body as { id: string; token: string };
      world.ledger.acknowledge('createKey', id);
      const user = world.connect(name, token);
      const list = `/v1/applications/${APPLICATION}/runs`;
      const before = await user.call('GET', list);
      if (before && before.status !== 200)
        world.ledger.report('a key works until its end', `${id} has the status ${before.status}`);
      const written = await user.call('PUT', '/v1/account/quotas', {
        body: { concurrent_runs: 1, core_hours_per_month: null },
      });
      if (written && written.status !== 403)
        world.ledger.report(
          'a key has the rights of its role only',
          `${id} has the status ${written.status}`,
        );
      await world.sleep(readNumber(step, 'ms'));
      const revoked = await client.call('DELETE', `/v1/account/keys/${id}`);
      if (revoked?.status !== 204) return;
      world.ledger.acknowledge('revokeKey', id);
      for (let tries = 0; tries < 3; tries += 1) {
        const after = await user.call('GET', list);
        if (after && after.status !== 401)
          world.ledger.report('a revoked key is refused', `${id} has the status ${after.status}`);
        await world.sleep(20_000);
      }
    },
  },
  shareRun: {
    weight: 2,
    draw: (draws, plan) => pickOf(plan.pick('createRun'), { ms: draws.below(30_000) }),
    async run(world, step) {
      const run = world.ledger.runsOfSteps.get(readNumber(step, 'of'));
      if (!run) return;
      const client = world.clientOf(run.account);
      const path = `/v1/applications/${APPLICATION}/runs/${run.id}/shares`;
      const body = { parts: ['summary'], expires_in_hours: 24 };
      const created = await client.call('POST', path, { body, idempotencyKey: `share-${step.id}` });
      if (created?.status !== 201) return;
      const { id, url } = created.body as { id: string; url: string };
      world.ledger.acknowledge('createShare', id);
      const token = new URL(url).pathname.split('/').at(-1) ?? '';
      await world.sleep(readNumber(step, 'ms'));
      const revoked = await client.call('DELETE', `${path}/${id}`);
      if (revoked?.status !== 204) return;
      world.ledger.acknowledge('revokeShare', id);
      await world.sleep(10_000);
      const viewed = await world.connect('visitor', '').call('GET', `/v1/shared/${token}`);
      if (viewed && viewed.status !== 404)
        world.ledger.report('a revoked share shows nothing', `${id} has the status ${viewed.status}`);
    },
  },
};
