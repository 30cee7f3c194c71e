/** Steps of a cluster on which the server starts workers: runs that only those execute, and the faults of the cluster. */
import type { ClusterFaults } from '../peers/cluster-faults.ts';
import { NO_CLUSTER_FAULTS } from '../peers/cluster-faults.ts';
import type { ClusterSettings } from '../peers/peers.ts';
import { APP_ENDS } from '../workers/app-behavior.ts';
import { ACCOUNTS, APPLICATION } from '../world/setup.ts';
import type { World } from '../world/world.ts';
import { cutOff, drawTime, during, readFault } from './faults.ts';
import { createRun, pickOf } from './run-steps.ts';
import { readNumber, readText, type Step, type StepKinds } from './step.ts';

/** The label of runs that no other worker executes, and the instance that asks for it. */
const LABEL = 'cluster';
const INSTANCE = 'on-cluster';
const ADAPTERS: ClusterSettings['adapter'][] = ['command', 'slurm', 'kubernetes'];
const FAULT_MS_MAX = 300_000;

function readCluster(step: Step, labels: readonly string[]): ClusterSettings {
  return {
    adapter: readText(step, 'adapter') as ClusterSettings['adapter'],
    max: readNumber(step, 'max'),
    idleSeconds: readNumber(step, 'idle'),
    cores: readNumber(step, 'cores'),
    labels,
  };
}

/** Creates the instance of the account; returns false when the server did not. */
async function prepareInstance(world: World, account: number): Promise<boolean> {
  const answer = await world.clientOf(account).call('POST', `/v1/applications/${APPLICATION}/instances`, {
    body: {
      ...{ id: INSTANCE, name: INSTANCE, version_id: 'v1' },
      configuration: { requirements: { labels: [LABEL] } },
    },
    idempotencyKey: `instance-${INSTANCE}`,
  });
  return answer !== null && (answer.status === 201 || answer.status === 409);
}

export const CLUSTER_STEPS: StepKinds = {
  useCluster: {
    weight: 0,
    draw: (draws) => ({
      adapter: draws.pick(ADAPTERS),
      max: 1 + draws.below(4),
      idle: draws.pick([5, 20, 60, 300]),
      cores: 1 + draws.below(3),
    }),
    prepare: (world, step) => world.peers.useCluster(readCluster(step, [LABEL])),
    run() {},
  },
  createClusterRun: {
    weight: 12,
    draw: (draws) => ({
      ...{ account: draws.below(ACCOUNTS), instance: INSTANCE, priority: 0, twice: false },
      end: draws.happens(0.8) ? 'success' : draws.pick(APP_ENDS),
      ms: draws.happens(0.5) ? draws.below(5000) : draws.below(240_000),
    }),
    async run(world, step) {
      if (await prepareInstance(world, readNumber(step, 'account'))) await createRun(world, step);
    },
  },
  cancelClusterRun: {
    weight: 2,
    draw: (_, plan) => pickOf(plan.pick('createClusterRun')),
    async run(world, step) {
      const run = world.ledger.runsOfSteps.get(readNumber(step, 'of'));
      if (!run) return;
      run.isCancelRequested = true;
      const path = `/v1/applications/${APPLICATION}/runs/${run.id}/cancel`;
      const answer = await world.clientOf(run.account).call('PATCH', path, { body: {} });
      if (answer?.status === 204) world.ledger.acknowledge('cancelRun', run.id);
    },
  },
  badCluster: {
    weight: 8,
    draw: (draws) => ({
      fault: draws.pick(Object.keys(NO_CLUSTER_FAULTS)),
      percent: draws.happens(0.5) ? 100 : 20 + draws.below(80),
      forMs: draws.happens(0.5) ? drawTime(draws, FAULT_MS_MAX) : 60_000 + draws.below(FAULT_MS_MAX),
    }),
    run(world, step) {
      const { cluster } = world.peers;
      if (!cluster) return;
      const change = (percent: number): void => {
        const fault = readText(step, 'fault') as keyof ClusterFaults;
        cluster.faults = { ...cluster.faults, [fault]: percent };
      };
      during(
        world,
        step,
        () => change(Object.values(readFault(step))[0] ?? 0),
        () => change(0),
      );
    },
  },
  failNode: {
    weight: 3,
    draw: (draws) => ({ job: draws.below(4) }),
    run(world, step) {
      world.countFault(step.do);
      world.peers.cluster?.failNode(readNumber(step, 'job'));
    },
  },
  cutOffJob: {
    weight: 2,
    draw: (draws) => ({ job: draws.below(4), forMs: drawTime(draws, FAULT_MS_MAX) }),
    run(world, step) {
      const live = world.peers.cluster?.live ?? [];
      cutOff(world, step, live[readNumber(step, 'job') % live.length]?.worker?.name);
    },
  },
  /** An operator stops the server, and starts it with other settings of its cluster on the same disk. */
  changeCluster: {
    weight: 2,
    draw: (draws) => ({
      adapter: '',
      max: 1 + draws.below(4),
      idle: draws.pick([5, 60]),
      cores: 1 + draws.below(3),
    }),
    run(world, step) {
      const { peers, server } = world;
      if (!peers.cluster) return;
      world.countFault(step.do);
      const adapter = peers.settings.SWITCHYARD_PROVISIONER as ClusterSettings['adapter'];
      peers.useCluster({ ...readCluster(step, [LABEL]), adapter });
      return server.restart();
    },
  },
};
