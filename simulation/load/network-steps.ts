/** Steps of a network that is worse than usual, and of workers whose clocks are wrong. */
import { drawTime, during, HOUR_MS } from './faults.ts';
import { createRun } from './run-steps.ts';
import { readNumber, type StepKinds } from './step.ts';

const FAULT_MS_MAX = 300_000;
const WORKERS = 4;

export const NETWORK_STEPS: StepKinds = {
  createDistantRun: {
    weight: 14,
    draw: (draws) => ({
      ...{ account: draws.below(3), instance: draws.pick(['main', 'licensed', 'urgent']), priority: 0 },
      ...{ twice: draws.happens(0.2), end: draws.happens(0.8) ? 'success' : 'exit', ms: draws.below(60_000) },
    }),
    run: createRun,
  },
  /** Requests of workers arrive a second time, many minutes after their senders have given up. */
  repeatLate: {
    weight: 6,
    draw: (draws) => ({ percent: 5 + draws.below(60), forMs: drawTime(draws, FAULT_MS_MAX) }),
    run: (world, step) =>
      during(
        world,
        step,
        () => world.network.repeatLate(readNumber(step, 'percent') / 100),
        () => world.network.repeatLate(0),
      ),
  },
  /** The requests of a worker arrive, and it hears no answer. */
  deafenWorker: {
    weight: 5,
    draw: (draws) => ({ worker: draws.below(WORKERS), forMs: drawTime(draws, FAULT_MS_MAX) }),
    run(world, step) {
      const name = world.workerAt(readNumber(step, 'worker'))?.name;
      if (name === undefined) return;
      during(
        world,
        step,
        () => world.network.deafen(name),
        () => world.network.reconnect(name),
      );
    },
  },
  moveWorkerClock: {
    weight: 5,
    draw: (draws) => ({
      worker: draws.below(WORKERS),
      byMs: Math.round(draws.between(-24, 24) * HOUR_MS),
    }),
    run(world, step) {
      world.countFault(step.do);
      world.workerAt(readNumber(step, 'worker'))?.moveClock(readNumber(step, 'byMs'));
    },
  },
  pauseAllWorkers: {
    weight: 2,
    draw: (draws) => ({ forMs: draws.happens(0.5) ? HOUR_MS : draws.below(HOUR_MS) }),
    run: (world, step) => {
      const workers = [...world.workers];
      during(
        world,
        step,
        () => {
          for (const worker of workers) worker.pause();
        },
        () => {
          for (const worker of workers) worker.continue();
        },
      );
    },
  },
};
