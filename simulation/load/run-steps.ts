/** Steps of clients with runs. */
import type { Draws } from '../kernel/draws.ts';
import type { AcknowledgedRun } from '../model/ledger.ts';
import { checkList } from '../model/read-back.ts';
import { APP_ENDS, type AppEnd, type AppInput, computeOutput } from '../workers/app-behavior.ts';
import { ACCOUNTS, APPLICATION, INSTANCES } from '../world/setup.ts';
import type { World } from '../world/world.ts';
import { readNumber, readText, type Step, type StepKinds, type StepValue } from './step.ts';

const PATH = `/v1/applications/${APPLICATION}/runs`;

/** Draws the behaviour of an app: most apps succeed soon. */
function drawApp(draws: Draws): Record<string, StepValue> {
  const end = draws.happens(0.6) ? 'success' : draws.pick(APP_ENDS);
  const ms = draws.below(draws.pick([500, 2000, 2000, 10_000, 50_000, 50_000]));
  return { end, ms };
}

/** Returns the input of the run that a step creates; its number is that of the step. */
function readInput(step: Step): AppInput {
  return { n: step.id, ms: readNumber(step, 'ms'), end: readText(step, 'end') as AppEnd };
}

/** Returns the acknowledged run of the step to which this one refers; null when there is none. */
function findRun(world: World, step: Step): AcknowledgedRun | null {
  return world.ledger.runsOfSteps.get(readNumber(step, 'of')) ?? null;
}

/** Creates the run of a step, and notes what the server acknowledged. */
export async function createRun(world: World, step: Step): Promise<void> {
  const account = readNumber(step, 'account');
  const instance = readText(step, 'instance');
  const name = `step-${step.id}`;
  const input = readInput(step);
  const priority = readNumber(step, 'priority');
  const body = { input, name, configuration: { queuing: priority === 0 ? {} : { priority } } };
  const create = async (): Promise<void> => {
    const answer = await world
      .clientOf(account)
      .call('POST', `${PATH}?instance_id=${instance}`, { body, idempotencyKey: `key-${step.id}` });
    if (!answer) return;
    if (answer.status !== 202) {
      world.ledger.reportRefusal(step, answer);
      return;
    }
    const { run_id: id } = answer.body as { run_id: string };
    const flags = { isCancelRequested: false, isDeleteRequested: false, isDeleted: false, isCanceled: false };
    const run = { id, account, application: APPLICATION, instance, name, input, ...flags };
    world.ledger.acknowledgeRun(step, run);
  };
  // Two senders of one request share its key: a client that was restarted, for example.
  await Promise.all(step.twice === true ? [create(), create()] : [create()]);
}

export const RUN_STEPS: StepKinds = {
  createRun: {
    weight: 30,
    draw: (draws) => ({
      account: draws.below(ACCOUNTS),
      instance: draws.pick(INSTANCES),
      priority: draws.happens(0.3) ? 1 + draws.below(9) : 0,
      twice: draws.happens(0.2),
      ...drawApp(draws),
    }),
    run: createRun,
  },
  createRuns: {
    weight: 5,
    draw: (draws) => ({
      ...{ account: draws.below(ACCOUNTS), instance: draws.pick(INSTANCES), count: 2 + draws.below(7) },
      ...{ priority: 0, twice: false, end: 'success', ms: draws.below(draws.pick([500, 20_000])) },
    }),
    async run(world, step) {
      const ids = Array.from({ length: readNumber(step, 'count') }, (_, index) => step.id * 1000 + index);
      await Promise.all(ids.map((id) => createRun(world, { ...step, id })));
    },
  },
  cancelRun: {
    weight: 6,
    draw: (_, plan) => pickOf(plan.pick('createRun')),
    async run(world, step) {
      const run = findRun(world, step);
      if (!run) return;
      run.isCancelRequested = true;
      const answer = await world
        .clientOf(run.account)
        .call('PATCH', `${PATH}/${run.id}/cancel`, { body: {} });
      if (answer?.status === 204) {
        run.isCanceled = true;
        world.ledger.acknowledge('cancelRun', run.id);
      } else if (answer && !(answer.status === 404 && run.isDeleteRequested))
        world.ledger.reportRefusal(step, answer);
    },
  },
  deleteRun: {
    weight: 4,
    draw: (_, plan) => pickOf(plan.pick('createRun')),
    async run(world, step) {
      const run = findRun(world, step);
      if (!run) return;
      const wasRequested = run.isDeleteRequested;
      run.isDeleteRequested = true;
      const answer = await world.clientOf(run.account).call('DELETE', `${PATH}/${run.id}`);
      if (answer?.status === 204) {
        run.isDeleted = true;
        world.ledger.acknowledge('deleteRun', run.id);
      } else if (answer?.status === 404 && wasRequested) return;
      // A repeated deletion finds nothing: the first one was done, and its answer was lost.
      else if (answer && answer.status !== 404) world.ledger.reportRefusal(step, answer);
    },
  },
  waitForRun: {
    weight: 5,
    draw: (draws, plan) => pickOf(plan.pick('createRun'), { seconds: 1 + draws.below(30) }),
    async run(world, step) {
      const run = findRun(world, step);
      if (!run) return;
      const path = `${PATH}/${run.id}?wait_seconds=${readNumber(step, 'seconds')}`;
      const answer = await world.clientOf(run.account).call('GET', path);
      if (answer?.status === 200) world.ledger.noteRead(run, answer.body);
      else if (answer && !(answer.status === 404 && run.isDeleteRequested))
        world.ledger.reportRefusal(step, answer);
    },
  },
  readOutput: {
    weight: 3,
    draw: (_, plan) => pickOf(plan.pick('createRun')),
    async run(world, step) {
      const run = findRun(world, step);
      if (!run) return;
      const answer = await world.clientOf(run.account).call('GET', `${PATH}/${run.id}/output`);
      // A run that has not ended has none, and one that failed may have none.
      if (answer?.status !== 200 || world.ledger.readEnds.get(run.id) !== 'succeeded') return;
      const { output } = answer.body as { output?: unknown };
      if (JSON.stringify(output) !== JSON.stringify(computeOutput(run.input)))
        world.ledger.report(
          'an output is that of the app',
          `${run.id}: ${JSON.stringify(answer.body).slice(0, 300)}`,
        );
    },
  },
  listRuns: {
    weight: 2,
    draw: (draws) => ({ account: draws.below(ACCOUNTS) }),
    run: (world, step) => checkList(world, readNumber(step, 'account')),
  },
  readForeignRun: {
    weight: 2,
    draw: (draws, plan) =>
      pickOf(plan.pick('createRun'), { part: draws.pick(['', '/output', '/input', '/logs/live']) }),
    async run(world, step) {
      const run = findRun(world, step);
      if (!run) return;
      const path = `${PATH}/${run.id}${readText(step, 'part')}`;
      const answer = await world.clientOf(run.account + 1).call('GET', path);
      if (answer && answer.status !== 404)
        world.ledger.report('a foreign run is a 404', `${path} has the status ${answer.status}`);
    },
  },
  changeForeignRun: {
    weight: 1,
    draw: (draws, plan) => pickOf(plan.pick('createRun'), { deletes: draws.happens(0.5) }),
    async run(world, step) {
      const run = findRun(world, step);
      if (!run) return;
      const client = world.clientOf(run.account + 1);
      const answer = await (step.deletes === true
        ? client.call('DELETE', `${PATH}/${run.id}`)
        : client.call('PATCH', `${PATH}/${run.id}/cancel`, { body: {} }));
      if (answer && answer.status !== 404)
        world.ledger.report(
          'a foreign run is a 404',
          `a change of ${run.id} has the status ${answer.status}`,
        );
    },
  },
};

/** Returns the arguments of a step that refers to another one; null when there is none. */
export function pickOf(
  of: number | null,
  others: Record<string, StepValue> = {},
): Record<string, StepValue> | null {
  return of === null ? null : { of, ...others };
}
