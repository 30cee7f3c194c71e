/** Steps of the environment of several servers on one PostgreSQL. */
import { drawTime, during, HOUR_MS, readFault } from '../load/faults.ts';
import { readNumber, type StepKinds } from '../load/step.ts';
import type { World } from '../world/world.ts';
import type { Cluster } from './cluster.ts';
import { NO_CONNECTION_FAULTS } from './connection-faults.ts';

/** The longest time of most faults. */
const FAULT_MS_MAX = 120_000;
/** Indices of servers; a cluster of fewer takes the remainder. */
const SERVERS = 6;

function clusterOf({ storage }: World): Cluster {
  if (!storage) throw new Error('The step needs several servers.');
  return storage.cluster;
}

export const POSTGRES_STEPS: StepKinds = {
  crashServer: {
    weight: 5,
    draw: (draws) => ({ server: draws.below(SERVERS) }),
    run(world, step) {
      world.countFault(step.do);
      clusterOf(world).serverAt(readNumber(step, 'server')).crash('kill');
    },
  },
  crashAllServers: {
    weight: 1,
    draw: () => ({}),
    run(world, step) {
      world.countFault(step.do);
      clusterOf(world).crash('kill');
    },
  },
  crashLeader: {
    weight: 3,
    draw: () => ({}),
    run(world, step) {
      world.countFault(step.do);
      clusterOf(world).findLeader()?.crash('kill');
    },
  },
  stopServer: {
    weight: 2,
    draw: (draws) => ({ server: draws.below(SERVERS) }),
    run(world, step) {
      world.countFault(step.do);
      return clusterOf(world).serverAt(readNumber(step, 'server')).restart();
    },
  },
  pauseOneServer: {
    weight: 3,
    draw: (draws) => ({ server: draws.below(SERVERS), forMs: drawTime(draws, FAULT_MS_MAX) }),
    run(world, step) {
      const server = clusterOf(world).serverAt(readNumber(step, 'server'));
      during(
        world,
        step,
        () => server.pause(),
        () => server.continue(),
      );
    },
  },
  pauseLeader: {
    weight: 5,
    draw: (draws) => ({ forMs: 2500 + draws.below(20_000) }),
    run(world, step) {
      const leader = clusterOf(world).findLeader();
      during(
        world,
        step,
        () => leader?.pause(),
        () => leader?.continue(),
      );
    },
  },
  moveServerClock: {
    weight: 2,
    draw: (draws) => ({
      server: draws.below(SERVERS),
      byMs: Math.round(draws.between(-HOUR_MS, HOUR_MS) / 2),
    }),
    run(world, step) {
      world.countFault(step.do);
      clusterOf(world).serverAt(readNumber(step, 'server')).moveClock(readNumber(step, 'byMs'));
    },
  },
  moveDatabaseClock: {
    weight: 1,
    draw: (draws) => ({ byMs: Math.round(draws.between(-60_000, 60_000)) }),
    run(world, step) {
      world.countFault(step.do);
      clusterOf(world).postgres.clockOffset += readNumber(step, 'byMs');
    },
  },
  loseConnections: {
    weight: 6,
    draw: (draws) => ({
      server: draws.below(SERVERS),
      fault: draws.pick(['lostStatements', 'lostAnswers']),
      percent: 1 + draws.below(draws.happens(0.5) ? 5 : 40),
      forMs: drawTime(draws, FAULT_MS_MAX),
    }),
    run(world, step) {
      const cluster = clusterOf(world);
      const { postgres } = cluster;
      const host = cluster.hostAt(readNumber(step, 'server'));
      during(
        world,
        step,
        () => {
          postgres.faults = new Map([
            ...postgres.faults,
            [host, { ...NO_CONNECTION_FAULTS, ...readFault(step) }],
          ]);
        },
        () => {
          postgres.faults = new Map([...postgres.faults].filter(([name]) => name !== host));
        },
      );
    },
  },
  breakConnections: {
    weight: 4,
    draw: (draws) => ({ server: draws.below(SERVERS) }),
    run(world, step) {
      world.countFault(step.do);
      const cluster = clusterOf(world);
      cluster.postgres.breakConnections(cluster.hostAt(readNumber(step, 'server')));
    },
  },
  cutOffServer: {
    weight: 4,
    draw: (draws) => ({ server: draws.below(SERVERS), forMs: drawTime(draws, FAULT_MS_MAX) }),
    run(world, step) {
      const cluster = clusterOf(world);
      const host = cluster.hostAt(readNumber(step, 'server'));
      during(
        world,
        step,
        () => cluster.postgres.cut.add(host),
        () => cluster.postgres.cut.delete(host),
      );
    },
  },
  failOver: {
    weight: 3,
    draw: (draws) => ({ server: draws.below(SERVERS), forMs: drawTime(draws, FAULT_MS_MAX) }),
    run(world, step) {
      const cluster = clusterOf(world);
      during(
        world,
        step,
        () => cluster.prefer(readNumber(step, 'server')),
        () => cluster.prefer(null),
      );
    },
  },
  crashDatabase: {
    weight: 1,
    draw: (draws) => ({ downMs: 100 + draws.below(20_000) }),
    run(world, step) {
      world.countFault(step.do);
      clusterOf(world).postgres.crash(readNumber(step, 'downMs'));
    },
  },
};
