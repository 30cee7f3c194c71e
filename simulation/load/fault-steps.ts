/** Steps of the environment: what fails, for how long. */
import type { Draws } from '../kernel/draws.ts';
import { type NetworkFaults, NO_NETWORK_FAULTS } from '../network/network.ts';
import { NO_RECEIVER_FAULTS, type ReceiverFaults } from '../network/receivers.ts';
import { ACCOUNTS } from '../world/setup.ts';
import type { World } from '../world/world.ts';
import { readNumber, readText, type Step, type StepKinds } from './step.ts';

const HOUR_MS = 3_600_000;

/** Draws how long a fault lasts: mostly seconds, sometimes minutes. */
const drawTime = (draws: Draws): number =>
  draws.happens(0.7) ? 200 + draws.below(8000) : draws.below(180_000);

/** Begins a fault now and ends it after the time of the step. */
function during(world: World, step: Step, begin: () => void, end: () => void): void {
  world.countFault(step.do);
  begin();
  world.scheduler.after(readNumber(step, 'forMs'), '', end);
}

const NETWORK: (keyof NetworkFaults)[] = ['lostRequests', 'lostResponses', 'doubledRequests', 'lateMessages'];
const RECEIVERS: (keyof ReceiverFaults)[] = ['refused', 'failed', 'silent', 'lostAnswers'];

export const FAULT_STEPS: StepKinds = {
  killServer: {
    weight: 3,
    draw: () => ({}),
    run(world, step) {
      world.countFault(step.do);
      world.crashServer('kill');
    },
  },
  cutPower: {
    weight: 4,
    draw: () => ({}),
    run(world, step) {
      world.countFault(step.do);
      world.crashServer('power');
    },
  },
  endServerAtAnswer: {
    weight: 5,
    draw: (draws) => ({ answers: 1 + draws.below(8), byPower: draws.happens(0.7) }),
    run(world, step) {
      world.countFault(step.do);
      world.endServerAtAnswer(readNumber(step, 'answers'), step.byPower === true ? 'power' : 'kill');
    },
  },
  restartServer: {
    weight: 1,
    draw: () => ({}),
    run(world, step) {
      world.countFault(step.do);
      return world.server.restart();
    },
  },
  pauseServer: {
    weight: 1,
    draw: (draws) => ({ forMs: draws.happens(0.8) ? draws.below(60_000) : draws.below(HOUR_MS / 4) }),
    run: (world, step) =>
      during(
        world,
        step,
        () => world.server.pause(),
        () => world.server.continue(),
      ),
  },
  failSyncs: {
    weight: 2,
    draw: (draws) => ({ forMs: drawTime(draws) }),
    run: (world, step) =>
      during(
        world,
        step,
        () => {
          world.disk.faults.failsSyncs = true;
        },
        () => {
          world.disk.faults.failsSyncs = false;
        },
      ),
  },
  slowDisk: {
    weight: 2,
    draw: (draws) => ({ forMs: drawTime(draws), factor: 10 + draws.below(500) }),
    run: (world, step) =>
      during(
        world,
        step,
        () => {
          world.disk.faults.slowness = readNumber(step, 'factor');
        },
        () => {
          world.disk.faults.slowness = 1;
        },
      ),
  },
  fullDisk: {
    weight: 2,
    draw: (draws) => ({ forMs: drawTime(draws), pages: draws.below(4) }),
    run: (world, step) =>
      during(
        world,
        step,
        () => world.disk.limitGrowth(readNumber(step, 'pages')),
        () => world.disk.limitGrowth(null),
      ),
  },
  failBlobs: {
    weight: 2,
    draw: (draws) => ({ forMs: drawTime(draws), percent: 10 + draws.below(90) }),
    run: (world, step) =>
      during(
        world,
        step,
        () => {
          world.blobs.failureRate = readNumber(step, 'percent') / 100;
        },
        () => {
          world.blobs.failureRate = 0;
        },
      ),
  },
  slowBlobs: {
    weight: 2,
    draw: (draws) => ({ forMs: drawTime(draws), factor: 100 + draws.below(20_000) }),
    run: (world, step) =>
      during(
        world,
        step,
        () => {
          world.blobs.slowness = readNumber(step, 'factor');
        },
        () => {
          world.blobs.slowness = 1;
        },
      ),
  },
  crashWorker: {
    weight: 3,
    draw: (draws) => ({ worker: draws.below(4) }),
    run(world, step) {
      world.countFault(step.do);
      world.workerAt(readNumber(step, 'worker'))?.crash();
    },
  },
  stopWorker: {
    weight: 1,
    draw: (draws) => ({ worker: draws.below(4) }),
    run(world, step) {
      world.countFault(step.do);
      world.workerAt(readNumber(step, 'worker'))?.stop();
    },
  },
  pauseWorker: {
    weight: 4,
    draw: (draws) => ({ worker: draws.below(4), forMs: draws.happens(0.7) ? draws.below(90_000) : HOUR_MS }),
    run(world, step) {
      const worker = world.workerAt(readNumber(step, 'worker'));
      during(
        world,
        step,
        () => worker?.pause(),
        () => worker?.continue(),
      );
    },
  },
  cutOffWorker: {
    weight: 3,
    draw: (draws) => ({ worker: draws.below(4), forMs: drawTime(draws) }),
    run(world, step) {
      const name = world.workerAt(readNumber(step, 'worker'))?.name ?? '';
      during(
        world,
        step,
        () => world.network.cutOff(name),
        () => world.network.reconnect(name),
      );
    },
  },
  cutOffClient: {
    weight: 1,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), forMs: drawTime(draws) }),
    run(world, step) {
      const name = world.accounts[readNumber(step, 'account')]?.name ?? '';
      during(
        world,
        step,
        () => world.network.cutOff(name),
        () => world.network.reconnect(name),
      );
    },
  },
  badNetwork: {
    weight: 4,
    draw: (draws) => ({ fault: draws.pick(NETWORK), percent: 2 + draws.below(50), forMs: drawTime(draws) }),
    run: (world, step) =>
      during(
        world,
        step,
        () => {
          const fault = { [readText(step, 'fault')]: readNumber(step, 'percent') / 100 };
          world.network.faults = { ...world.network.faults, ...fault };
        },
        () => {
          world.network.faults = NO_NETWORK_FAULTS;
        },
      ),
  },
  badReceivers: {
    weight: 3,
    draw: (draws) => ({
      fault: draws.pick(RECEIVERS),
      percent: 10 + draws.below(90),
      forMs: drawTime(draws),
    }),
    run: (world, step) =>
      during(
        world,
        step,
        () => {
          const fault = { [readText(step, 'fault')]: readNumber(step, 'percent') / 100 };
          world.receivers.faults = { ...world.receivers.faults, ...fault };
        },
        () => {
          world.receivers.faults = NO_RECEIVER_FAULTS;
        },
      ),
  },
  moveClock: {
    weight: 1,
    draw: (draws) => ({ byMs: Math.round(draws.between(-HOUR_MS, HOUR_MS)) }),
    run(world, step) {
      world.countFault(step.do);
      world.server.moveClock(readNumber(step, 'byMs'));
    },
  },
};
