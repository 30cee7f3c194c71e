/**
 * The faults of the chaos test, how often each is injected, and the sequence that a seed gives. A fault draws from a
 * separate generator, so that the draws of one do not affect the next.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { LEASE_DURATION_MS } from '@switchyard/contract/limits.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { RandomGenerator } from '../server/experiments/statistics/random-generator.ts';
import { listChildren, readEnvironmentVariable } from '../server/testing/host/processes.ts';
import { sleep } from '../server/testing/host/sleep.ts';
import { MEMORY_HOG } from '../server/testing/load/run-load.ts';
import type { Cluster, ClusterMember } from './cluster.ts';
import type { Fault } from './context.ts';
import { wrongDatabase } from './wrong-database.ts';

/** A worker is taken for dead when its lease is over and it has been silent for ten seconds more. */
const BEYOND_LEASE_MS = LEASE_DURATION_MS + 25_000;
const CLOCK_JUMP_MAX_MS = 5 * 60_000;
const CLOCK_AHEAD_MAX_MS = 8 * 60_000;
const LOOKS_FOR_AN_APP = 100;
const LOOKS_FOR_AN_END = 300;
const MEMORY_LEFT_BYTES = 300 * 1024 * 1024;
const GONE_WITHIN_MS = 500;

const server: Fault = {
  name: 'the server was killed (SIGKILL) and started again',
  weight: 6,
  async inject({ cluster: stage }) {
    await stage.front.restart('SIGKILL');
    return true;
  },
};

const sigterm: Fault = {
  name: 'a process was asked to leave (SIGTERM) and started again',
  weight: 2,
  async inject({ cluster: stage }, draw) {
    const able = stage.members.filter(({ isFrozen: frozen }) => !frozen);
    await able[draw.integerBelow(able.length)]?.restart('SIGTERM');
    return true;
  },
};

const worker: Fault = {
  name: 'a worker was killed (SIGKILL) and started again',
  weight: 4,
  async inject({ cluster: stage }, draw) {
    const able = stage.workers.filter(({ isFrozen: frozen }) => !frozen);
    await able[draw.integerBelow(able.length)]?.restart('SIGKILL');
    return able.length > 0;
  },
};

const launcher: Fault = {
  name: 'a launcher of apps was killed (SIGKILL)',
  weight: 3,
  async inject({ cluster: stage }, draw) {
    const process = await someRunner(stage, draw);
    const found = process?.findLauncherPid();
    return found !== undefined && sendSignal(found, 'SIGKILL');
  },
};

const app: Fault = {
  name: 'an app was killed (SIGKILL)',
  weight: 3,
  async inject({ cluster: stage, killedRuns: hit }, draw) {
    const runner = await someRunner(stage, draw);
    for (let look = 0; runner && look < LOOKS_FOR_AN_APP; look += 1) {
      const apps = runner
        .listAppPids()
        .filter((pid) => readEnvironmentVariable(pid, 'NEXTMV_RUN_ID') !== undefined);
      const run = readEnvironmentVariable(apps[draw.integerBelow(apps.length)] ?? 0, 'NEXTMV_RUN_ID');
      if (run !== undefined) {
        hit.add(run);
        // Parents first, so that none is left to go on without the others.
        const its = apps.filter((pid) => readEnvironmentVariable(pid, 'NEXTMV_RUN_ID') === run);
        return its.filter((pid) => sendSignal(pid, 'SIGKILL')).length > 0;
      }
      await sleep(20);
    }
    return false;
  },
};

const freeze: Fault = {
  name: 'the server stood still for seconds (SIGSTOP)',
  weight: 1,
  async inject({ cluster: stage }, draw) {
    const { pid } = await stage.front.whenReady;
    sendSignal(pid, 'SIGSTOP');
    await sleep(2000 + draw.integerBelow(5000));
    return sendSignal(pid, 'SIGCONT');
  },
};

const lateWorker: Fault = {
  name: 'a worker stood still for longer than its lease, and came back late (SIGSTOP)',
  weight: 1,
  async inject({ cluster: stage, background: pending }, draw) {
    // One has to be left that works.
    if (stage.workers.some(({ isFrozen: frozen }) => frozen)) return false;
    const one = stage.workers[draw.integerBelow(stage.workers.length)];
    if (!one) return false;
    const { pid } = await one.whenReady;
    one.isFrozen = true;
    sendSignal(pid, 'SIGSTOP');
    const thaw = sleep(BEYOND_LEASE_MS).then(() => {
      sendSignal(pid, 'SIGCONT');
      one.isFrozen = false;
      pending.delete(thaw);
    });
    pending.add(thaw);
    return true;
  },
};

const clock: Fault = {
  name: 'the clock was set wrong by up to five minutes, forward or backward',
  weight: 2,
  async inject({ cluster: stage }, draw) {
    const jump = draw.integerBelow(2 * CLOCK_JUMP_MAX_MS) - CLOCK_JUMP_MAX_MS;
    const ahead = stage.clockAheadMs + jump;
    stage.setClocks(Math.abs(ahead) <= CLOCK_AHEAD_MAX_MS ? ahead : stage.clockAheadMs - jump);
    return true;
  },
};

const slowDisk: Fault = {
  name: 'the disk took up to two seconds for each sync, for some seconds',
  weight: 1,
  async inject({ cluster: stage }, draw) {
    stage.front.sendFaultSettings({ syncDelayMs: 200 + draw.integerBelow(1800) });
    await sleep(3000 + draw.integerBelow(3000));
    stage.front.sendFaultSettings({ syncDelayMs: 0 });
    return true;
  },
};

const fullDisk: Fault = {
  name: 'the disk was full for seconds',
  weight: 2,
  async inject(context, draw) {
    const { cluster: stage } = context;
    const { disk } = stage.settings;
    if (!disk) return false;
    const [full, killed] = [2000 + draw.integerBelow(6000), draw.uniform() < 0.3];
    await stage.duringStorageFault(async () => {
      const window = { from: performance.now(), to: Number.POSITIVE_INFINITY };
      context.diskFullPeriods.push(window);
      disk.fill();
      let back = Promise.resolve();
      try {
        await sleep(full / 2);
        // It cannot start as long as there is no room.
        if (killed) back = stage.front.restart('SIGKILL');
        // Awaited below; a start that fails before must not end this process.
        back.catch(() => undefined);
        await sleep(full / 2);
      } finally {
        disk.free();
        window.to = performance.now();
        await reviveDatabase(stage);
      }
      await back;
    });
    return true;
  },
};

const descriptors: Fault = {
  name: 'the server was short of descriptors for seconds (prlimit --nofile)',
  weight: 1,
  async inject({ cluster: stage }, draw) {
    const { pid } = await stage.front.whenReady;
    const before = limitOf(pid);
    if (before === undefined) return false;
    let done = false;
    await stage.duringStorageFault(async () => {
      done = setLimit(pid, readdirSync(`/proc/${pid}/fd`).length + draw.integerBelow(4));
      await sleep(2000 + draw.integerBelow(6000));
      setLimit(pid, before);
    });
    return done;
  },
};

/** How many descriptors a process may have; undefined where nobody says. */
function limitOf(pid: number): number | undefined {
  const { status, stdout } = spawnSync(
    'prlimit',
    ['--pid', String(pid), '--nofile', '--raw', '--noheadings', '--output', 'SOFT'],
    { encoding: 'utf8' },
  );
  return status === 0 ? Number(stdout) : undefined;
}

function setLimit(pid: number, most: number): boolean {
  return spawnSync('prlimit', ['--pid', String(pid), `--nofile=${most}:`]).status === 0;
}

const database: Fault = {
  name: 'PostgreSQL was killed (SIGKILL) and started again',
  weight: 2,
  async inject({ cluster: stage }) {
    await stage.duringStorageFault(async () => {
      sendSignal(stage.postgres?.pid ?? 0, 'SIGKILL');
      await reviveDatabase(stage);
    });
    return true;
  },
};

const backend: Fault = {
  name: 'a process of PostgreSQL was killed (SIGKILL), which restarts it with all its connections',
  weight: 2,
  async inject({ cluster: stage }, draw) {
    let found = false;
    await stage.duringStorageFault(async () => {
      const below = listChildren(stage.postgres?.pid ?? 0);
      found = sendSignal(below[draw.integerBelow(below.length)] ?? 0, 'SIGKILL');
      await reviveDatabase(stage);
    });
    return found;
  },
};

const slowDatabase: Fault = {
  name: 'PostgreSQL stood still nine tenths of the time, for some seconds (SIGSTOP)',
  weight: 1,
  async inject({ cluster: stage }, draw) {
    const pulses = 10 + draw.integerBelow(15);
    for (let pulse = 0; pulse < pulses; pulse += 1) {
      const parent = stage.postgres?.pid ?? 0;
      const all = [parent, ...listChildren(parent)];
      for (const pid of all) sendSignal(pid, 'SIGSTOP');
      await sleep(180);
      for (const pid of all) sendSignal(pid, 'SIGCONT');
      await sleep(20);
    }
    return true;
  },
};

const memory: Fault = {
  name: 'an app took all memory of the cgroup that the server lives in',
  weight: 1,
  async inject({ cluster: stage, memoryExhaustions: outlived }) {
    const group = stage.settings.memory;
    if (!group) return false;
    const before = await Promise.all(stage.members.map(({ whenReady: up }) => up));
    try {
      group.setLimit(group.readUsedBytes() + MEMORY_LEFT_BYTES);
      const made = await stage.request('POST', `/v1/applications/${MEMORY_HOG}/runs`, {
        body: { input: {} },
      });
      const { run_id: id } = made.body as { run_id?: string };
      if (id === undefined) return false;
      const end = await endOf(stage, id);
      outlived.count += 1;
      if (end && !/memory/.test(end.error))
        outlived.violations.push(`${id} ended with ${JSON.stringify(end)}`);
    } catch {
      // The connection broke: the server was killed, or another fault is active.
    } finally {
      group.setLimit(null);
    }
    const after = await Promise.all(
      before.map((one) => Promise.race([one.exited, sleep(GONE_WITHIN_MS).then(() => 'lives')])),
    );
    for (const how of after) if (how !== 'lives') outlived.violations.push(`a server ended with ${how}`);
    return true;
  },
};

/** How the run ended; undefined when it has not after a while. */
async function endOf(stage: Cluster, id: string): Promise<{ status: string; error: string } | undefined> {
  for (let look = 0; look < LOOKS_FOR_AN_END; look += 1) {
    const { body } = await stage.request('GET', `/v1/applications/${MEMORY_HOG}/runs/${id}/metadata`);
    const run = body as { status_v2?: RunStatusV2; error?: string };
    if (run.status_v2 && isTerminal(run.status_v2)) return { status: run.status_v2, error: run.error ?? '' };
    await sleep(100);
  }
  return undefined;
}

const OF_SQLITE = [
  server,
  sigterm,
  launcher,
  app,
  freeze,
  clock,
  slowDisk,
  fullDisk,
  descriptors,
  memory,
  wrongDatabase,
];
const OF_POSTGRES = [
  ...[server, sigterm, worker, launcher, app, freeze, lateWorker, clock],
  ...[fullDisk, descriptors, database, backend, slowDatabase, memory, wrongDatabase],
];

/** Every kind there is for the database. */
export function availableFaults(kind: 'sqlite' | 'postgres', { disk, memory: group }: Means): Fault[] {
  const all = kind === 'sqlite' ? OF_SQLITE : OF_POSTGRES;
  return all.filter((one) => (disk || one !== fullDisk) && (group || one !== memory));
}

/** What the machine lets us have. */
type Means = Pick<Cluster['settings'], 'disk' | 'memory'>;

/**
 * The sequence of a seed, without end: round after round in which each kind comes as often as its weight says, shuffled,
 * each with its own generator and how long to wait before it, in shares of the usual time.
 */
export function* faultSequence(
  faults: readonly Fault[],
  seed: string,
): Sequence<{ fault: Fault; draw: RandomGenerator; wait: number }> {
  const order = new RandomGenerator(`order ${seed}`);
  for (let count = 0; ; ) {
    // What is rare comes first in the list of its round as often as what is common: each round begins with one of each.
    const rounds = [faults.slice(), faults.flatMap((one) => Array<Fault>(one.weight - 1).fill(one))];
    for (const round of rounds) {
      for (let left = round.length; left > 0; left -= 1) {
        const [fault] = round.splice(order.integerBelow(left), 1);
        count += 1;
        if (fault)
          yield { fault, draw: new RandomGenerator(`${seed} blow ${count}`), wait: 0.5 + order.uniform() };
      }
    }
  }
}

type Sequence<T> = globalThis.Generator<T, never, unknown>;

/** Starts the database again where it is gone, until it takes connections. */
async function reviveDatabase(stage: Cluster): Promise<void> {
  const { postgres } = stage;
  if (!postgres) return;
  for (let looks = 0; ; looks += 1) {
    try {
      await postgres.restart();
      await stage.queryDatabase('select 1');
      return;
    } catch (error) {
      // Processes of the one before may live on for a moment, and keep its memory.
      if (looks === 300) throw error;
      await sleep(200);
    }
  }
}

async function someRunner(stage: Cluster, draw: RandomGenerator) {
  const able = stage.members.filter(({ role, isFrozen: frozen }) => role !== 'server' && !frozen);
  const one: ClusterMember | undefined = able[draw.integerBelow(able.length)];
  return one?.whenReady;
}

/** false when there is no such process. */
function sendSignal(pid: number, name: NodeJS.Signals): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
