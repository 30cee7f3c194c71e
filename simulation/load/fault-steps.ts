/** Steps of the environment: what fails, for how long. */
import { type NetworkFaults, NO_NETWORK_FAULTS } from '../network/network.ts';
import { NO_RECEIVER_FAULTS, type ReceiverFaults } from '../network/receivers.ts';
import { ACCOUNTS } from '../world/setup.ts';
import { cutOff, drawTime, during, HOUR_MS, readFault } from './faults.ts';
import { readNumber, type StepKinds } from './step.ts';

/** The longest time of most faults. */
const FAULT_MS_MAX = 180_000;

/** A worker that is away for less than half a minute keeps its runs. */
const ABSENCES_MS = [8000, 70_000, 70_000, HOUR_MS];

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
    draw: (draws) => ({ forMs: drawTime(draws, FAULT_MS_MAX) }),
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
    draw: (draws) => ({ forMs: drawTime(draws, FAULT_MS_MAX), factor: 10 + draws.below(500) }),
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
    draw: (draws) => ({ forMs: drawTime(draws, FAULT_MS_MAX), pages: draws.below(4) }),
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
    draw: (draws) => ({ forMs: drawTime(draws, FAULT_MS_MAX), percent: 10 + draws.below(90) }),
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
    draw: (draws) => ({ forMs: drawTime(draws, FAULT_MS_MAX), factor: 100 + draws.below(20_000) }),
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
  crashWorkerOften: {
    weight: 2,
    draw: (draws) => ({
      worker: draws.below(4),
      times: 2 + draws.below(8),
      everyMs: 2500 + draws.below(draws.pick([3000, 50_000])),
    }),
    run(world, step) {
      world.countFault(step.do);
      for (let n = 0; n < readNumber(step, 'times'); n += 1)
        world.scheduler.after(n * readNumber(step, 'everyMs'), '', () =>
          world.workerAt(readNumber(step, 'worker'))?.crash(),
        );
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
    draw: (draws) => ({ worker: draws.below(4), forMs: draws.below(draws.pick(ABSENCES_MS)) }),
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
    draw: (draws) => ({ worker: draws.below(4), forMs: draws.below(draws.pick(ABSENCES_MS)) }),
    run: (world, step) => cutOff(world, step, world.workerAt(readNumber(step, 'worker'))?.name),
  },
  cutOffClient: {
    weight: 1,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), forMs: drawTime(draws, FAULT_MS_MAX) }),
    run: (world, step) => cutOff(world, step, world.accounts[readNumber(step, 'account')]?.name),
  },
  badNetwork: {
    weight: 4,
    draw: (draws) => ({
      fault: draws.pick(NETWORK),
      percent: 2 + draws.below(50),
      forMs: drawTime(draws, FAULT_MS_MAX),
    }),
    run: (world, step) =>
      during(
        world,
        step,
        () => {
          world.network.faults = { ...world.network.faults, ...readFault(step) };
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
      forMs: drawTime(draws, FAULT_MS_MAX),
    }),
    run: (world, step) =>
      during(
        world,
        step,
        () => {
          world.receivers.faults = { ...world.receivers.faults, ...readFault(step) };
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
