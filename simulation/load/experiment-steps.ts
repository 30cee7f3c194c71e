/** Steps with experiments and ensembles, which create runs by themselves. */
import { ACCOUNTS, APPLICATION } from '../world/setup.ts';
import { pickOf } from './run-steps.ts';
import { readNumber, readText, type StepKinds } from './step.ts';

const PATH = `/v1/applications/${APPLICATION}`;

export const EXPERIMENT_STEPS: StepKinds = {
  createBatch: {
    weight: 2,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), repetitions: 1 + draws.below(2) }),
    async run(world, step) {
      const id = `batch-${step.id}`;
      const body = {
        ...{ id, name: id, input_set_id: 'inputs', repetitions: readNumber(step, 'repetitions') },
        instance_ids: ['main', 'licensed'],
      };
      const client = world.clientOf(readNumber(step, 'account'));
      const answer = await client.call('POST', `${PATH}/experiments/batch`, { body, idempotencyKey: id });
      if (answer?.status === 201) world.ledger.acknowledgeExperiment(step, 'batch', id);
      else if (answer) world.ledger.reportRefusal(step, answer);
    },
  },
  createShadow: {
    weight: 1,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), runs: 1 + draws.below(6) }),
    async run(world, step) {
      const id = `shadow-${step.id}`;
      const path = `${PATH}/experiments/shadow`;
      const body = {
        ...{ id, name: id },
        comparison: { baseline_instance_id: 'main', candidate_instance_id: 'urgent' },
        termination_events: { maximum_runs: readNumber(step, 'runs') },
      };
      const client = world.clientOf(readNumber(step, 'account'));
      const created = await client.call('POST', path, { body, idempotencyKey: id });
      if (created?.status !== 201) return;
      world.ledger.acknowledgeExperiment(step, 'shadow', id);
      // Another test may act on the instance already.
      await client.call('PUT', `${path}/${id}/start`);
    },
  },
  deleteExperiment: {
    weight: 1,
    draw: (_, plan) => pickOf(plan.pick('createBatch', 'createShadow')),
    async run(world, step) {
      const experiment = world.ledger.experiments.get(readNumber(step, 'of'));
      if (!experiment) return;
      experiment.isDeleteRequested = true;
      const path = `${PATH}/experiments/${experiment.kind}/${experiment.id}`;
      const answer = await world.clientOf(experiment.account).call('DELETE', path);
      if (answer?.status === 204) world.ledger.acknowledge('deleteExperiment', experiment.id);
    },
  },
  runEnsemble: {
    weight: 2,
    draw: (draws) => ({
      account: draws.below(ACCOUNTS),
      ms: draws.below(30_000),
      end: draws.pick(['success', 'exit']),
    }),
    async run(world, step) {
      const input = { n: step.id, ms: readNumber(step, 'ms'), end: readText(step, 'end') };
      const configuration = { run_type: { type: 'ensemble', definition_id: 'three' } };
      const answer = await world.clientOf(readNumber(step, 'account')).call('POST', `${PATH}/runs`, {
        body: { input, configuration },
        idempotencyKey: `ensemble-${step.id}`,
      });
      if (answer?.status === 202)
        world.ledger.acknowledge('createRun', (answer.body as { run_id: string }).run_id);
      else if (answer) world.ledger.reportRefusal(step, answer);
    },
  },
};
