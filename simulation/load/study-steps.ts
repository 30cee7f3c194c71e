/** Steps with replays, drained workers, and the experiments that compare versions and instances. */
import { LATE_MS_MAX } from '../model/registers.ts';
import { ACCOUNTS, APPLICATION } from '../world/setup.ts';
import type { World } from '../world/world.ts';
import type { Client } from './client.ts';
import { createRun, pickOf } from './run-steps.ts';
import { readNumber, type Step, type StepKinds } from './step.ts';

const PATH = `/v1/applications/${APPLICATION}`;
const POLL_MS = 500;

/** Creates an experiment of a kind; returns true when the server acknowledged it. */
async function createExperiment(
  world: World,
  step: Step,
  { kind, body }: { kind: string; body: object },
): Promise<boolean> {
  const id = `${kind}-${step.id}`;
  const client = world.clientOf(readNumber(step, 'account'));
  const answer = await client.call('POST', `${PATH}/experiments/${kind}`, {
    body: { id, name: id, ...body },
    idempotencyKey: id,
  });
  if (answer?.status === 201) world.ledger.acknowledgeExperiment(step, kind, id);
  else if (answer) world.ledger.reportRefusal(step, answer);
  return answer?.status === 201;
}

/** Lets a worker drain for a time, and checks that it starts no run in it. */
async function drainWorker(world: World, step: Step): Promise<void> {
  const root = world.connect('root', world.rootToken);
  const { drained } = world.ledger;
  const workers = await listWorkers(root);
  const worker = workers[readNumber(step, 'worker') % workers.length];
  // The end of another drain would end this one too.
  if (!worker || drained.has(worker.id)) return;
  drained.add(worker.id);
  const path = drainPath(worker.id);
  const answer = await root.call('POST', path);
  if (answer?.status === 200) {
    const known = new Set(world.listAttempts(worker.id));
    const endsAt = world.scheduler.now + readNumber(step, 'forMs');
    while (world.scheduler.now < endsAt) {
      const started = world.listAttempts(worker.id).find((attempt) => !known.has(attempt));
      if (started !== undefined)
        return world.ledger.report('a drained worker starts no run', `${worker.id} started ${started}`);
      await world.sleep(POLL_MS);
    }
  }
  while ((await root.call('DELETE', path)) === null);
  await world.sleep(LATE_MS_MAX);
  drained.delete(worker.id);
}

interface ListedWorker {
  id: string;
  status: string;
}

async function listWorkers(root: Client): Promise<ListedWorker[]> {
  const list = await root.call('GET', '/v1/account/workers');
  return list?.status === 200 ? (list.body as { items: ListedWorker[] }).items : [];
}

const drainPath = (worker: string): string => `/v1/account/workers/${worker}/drain`;

/** Ends the drains that a late request began again, once no step drains a worker any more. */
export async function endDrains(world: World): Promise<void> {
  if (!world.faults.has('drainWorker')) return;
  while (world.ledger.drained.size > 0) await world.sleep(POLL_MS);
  const root = world.connect('root', world.rootToken);
  for (const { id, status } of await listWorkers(root))
    if (status === 'draining') await root.call('DELETE', drainPath(id));
}

async function replayRun(world: World, step: Step): Promise<void> {
  const original = world.ledger.runsOfSteps.get(readNumber(step, 'of'));
  if (!original) return;
  const name = `step-${step.id}`;
  const client = world.clientOf(original.account);
  const answer = await client.call('POST', `${PATH}/runs/${original.id}/replay`, {
    body: { name },
    idempotencyKey: `replay-${step.id}`,
  });
  // It has not ended yet, was deleted, or has no executable any more.
  if (answer?.status !== 202) return;
  const { run_id: id } = answer.body as { run_id: string };
  const flags = { isCancelRequested: false, isDeleteRequested: false, isDeleted: false, isCanceled: false };
  world.ledger.acknowledgeRun(step, { ...original, id, name, ...flags }, 'replayRun');
}

const METRIC = {
  ...{ field: 'result.value', statistic: 'mean', metric_type: 'direct-comparison' },
  params: { operator: 'le', tolerance: { type: 'relative', value: 0.1 } },
};

export const STUDY_STEPS: StepKinds = {
  createStudyRun: {
    weight: 14,
    draw: (draws) => ({
      ...{ account: draws.below(ACCOUNTS), instance: draws.pick(['main', 'urgent']), priority: 0 },
      ...{ twice: draws.happens(0.2), end: 'success', ms: draws.below(20_000) },
    }),
    run: createRun,
  },
  replayRun: {
    weight: 8,
    draw: (_, plan) => pickOf(plan.pick('createStudyRun', 'createRun')),
    run: replayRun,
  },
  drainWorker: {
    weight: 5,
    draw: (draws) => ({ worker: draws.below(4), forMs: 2000 + draws.below(120_000) }),
    run(world, step) {
      world.countFault(step.do);
      return drainWorker(world, step);
    },
  },
  createAcceptance: {
    weight: 4,
    draw: (draws) => ({ account: draws.below(ACCOUNTS) }),
    async run(world, step) {
      const body = {
        ...{ control: { instance_id: 'main' }, candidate: { instance_id: 'urgent' } },
        ...{ metrics: [METRIC], input_set_id: 'inputs' },
      };
      await createExperiment(world, step, { kind: 'acceptance', body });
    },
  },
  createBisect: {
    weight: 2,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), runs: 60 + draws.below(20) }),
    async run(world, step) {
      const body = {
        ...{
          input_ids: ['first', 'second'],
          indicator: 'result.value',
          maximum_runs: readNumber(step, 'runs'),
        },
        ...{ good_version_id: 'v1', bad_version_id: 'v3', difference: { type: 'absolute', value: 1 } },
      };
      await createExperiment(world, step, { kind: 'bisect', body });
    },
  },
  createSwitchback: {
    weight: 4,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), units: 1 + draws.below(6) }),
    async run(world, step) {
      const body = {
        comparison: { baseline_instance_id: 'main', candidate_instance_id: 'urgent' },
        generate_random_plan: { unit_duration_minutes: 1, units: readNumber(step, 'units') },
      };
      if (!(await createExperiment(world, step, { kind: 'switchback', body }))) return;
      // Another test may act on the instance already.
      const client = world.clientOf(readNumber(step, 'account'));
      await client.call('PUT', `${PATH}/experiments/switchback/switchback-${step.id}/start`);
    },
  },
  stopStudy: {
    weight: 2,
    draw: (_, plan) => pickOf(plan.pick('createBisect', 'createSwitchback')),
    async run(world, step) {
      const study = world.ledger.experiments.get(readNumber(step, 'of'));
      if (!study) return;
      const client = world.clientOf(study.account);
      await client.call('PUT', `${PATH}/experiments/${study.kind}/${study.id}/stop`);
    },
  },
  deleteStudy: {
    weight: 2,
    draw: (_, plan) => pickOf(plan.pick('createBisect', 'createSwitchback', 'createAcceptance')),
    async run(world, step) {
      const study = world.ledger.experiments.get(readNumber(step, 'of'));
      if (!study) return;
      study.isDeleteRequested = true;
      const client = world.clientOf(study.account);
      await client.call('DELETE', `${PATH}/experiments/${study.kind}/${study.id}`);
    },
  },
};
