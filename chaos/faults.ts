/**
 * The faults of the chaos test, their frequencies, and the sequence of a seed. A fault draws from a separate generator,
 * so that the draws of one do not affect the next.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { RandomGenerator } from '../server/platform/random-generator.ts';
import { openDiskFaults } from '../server/testing/host/disk-faults.ts';
import { listChildren, readEnvironmentVariable } from '../server/testing/host/processes.ts';
import { sleep } from '../server/testing/host/sleep.ts';
import { MEMORY_HOG } from '../server/testing/load/run-load.ts';
import type { Cluster } from './cluster.ts';
import { type Fault, pick, sendSignal, suspendBeyondLease } from './context.ts';
import { REMOTE_FAULTS } from './remote/remote-faults.ts';
import { wrongDatabase } from './wrong-database.ts';

const CLOCK_JUMP_MAX_MS = 5 * 60_000;
const CLOCK_AHEAD_MAX_MS = 8 * 60_000;
const APP_POLLS_MAX = 100;
const OUTCOME_POLLS_MAX = 300;
const FREE_MEMORY_BYTES = 300 * 1024 * 1024;
const EXIT_TIMEOUT_MS = 500;

const server: Fault = {
  name: 'a server was killed (SIGKILL) and started again',
  weight: 6,
  async inject({ cluster }, draw) {
    await pick(draw, cluster.servers)?.restart('SIGKILL');
    return true;
  },
};

const sigterm: Fault = {
  name: 'a process was stopped (SIGTERM) and started again',
  weight: 2,
  async inject({ cluster }, draw) {
    const candidates = cluster.members.filter(({ isFrozen }) => !isFrozen);
    await pick(draw, candidates)?.restart('SIGTERM');
    return true;
  },
};

const worker: Fault = {
  name: 'a worker was killed (SIGKILL) and started again',
  weight: 4,
  async inject({ cluster }, draw) {
    const candidates = cluster.workers.filter(({ isFrozen }) => !isFrozen);
    await pick(draw, candidates)?.restart('SIGKILL');
    return candidates.length > 0;
  },
};

const launcher: Fault = {
  name: 'a launcher of apps was killed (SIGKILL)',
  weight: 3,
  async inject({ cluster }, draw) {
    const process = await pickRunner(cluster, draw);
    const found = process?.findLauncherPid();
    return found !== undefined && sendSignal(found, 'SIGKILL');
  },
};

const app: Fault = {
  name: 'an app was killed (SIGKILL)',
  weight: 3,
  async inject({ cluster, killedRuns }, draw) {
    const runner = await pickRunner(cluster, draw);
    for (let poll = 0; runner && poll < APP_POLLS_MAX; poll += 1) {
      const apps = runner
        .listAppPids()
        .filter((pid) => readEnvironmentVariable(pid, 'NEXTMV_RUN_ID') !== undefined);
      const run = readEnvironmentVariable(pick(draw, apps) ?? 0, 'NEXTMV_RUN_ID');
      if (run !== undefined) {
        killedRuns.add(run);
        // Parents first, so that no child continues without the others.
        const processes = apps.filter((pid) => readEnvironmentVariable(pid, 'NEXTMV_RUN_ID') === run);
        return processes.filter((pid) => sendSignal(pid, 'SIGKILL')).length > 0;
      }
      await sleep(20);
    }
    return false;
  },
};

const freeze: Fault = {
  name: 'a server was suspended for seconds (SIGSTOP)',
  weight: 1,
  async inject({ cluster }, draw) {
    const suspended = await pick(draw, cluster.servers)?.whenReady;
    const pid = suspended?.pid ?? 0;
    sendSignal(pid, 'SIGSTOP');
    await sleep(2000 + draw.integerBelow(5000));
    return sendSignal(pid, 'SIGCONT');
  },
};

const lateWorker: Fault = {
  name: 'a worker was suspended for longer than its lease, and resumed late (SIGSTOP)',
  weight: 1,
  async inject(context, draw) {
    const { workers } = context.cluster;
    // At least one worker must stay active.
    if (workers.some(({ isFrozen }) => isFrozen)) return false;
    const one = pick(draw, workers);
    if (!one) return false;
    const { pid } = await one.whenReady;
    suspendBeyondLease(one, pid, context);
    return true;
  },
};

const clock: Fault = {
  name: 'the clock was set wrong by up to five minutes, forward or backward',
  weight: 2,
  async inject({ cluster }, draw) {
    const jump = draw.integerBelow(2 * CLOCK_JUMP_MAX_MS) - CLOCK_JUMP_MAX_MS;
    const ahead = cluster.clockAheadMs + jump;
    cluster.setClocks(Math.abs(ahead) <= CLOCK_AHEAD_MAX_MS ? ahead : cluster.clockAheadMs - jump);
    return true;
  },
};

const slowDisk: Fault = {
  name: 'each sync of the disk needed up to two seconds, for some seconds',
  weight: 1,
  async inject({ cluster }, draw) {
    cluster.front.sendFaultSettings({ syncDelayMs: 200 + draw.integerBelow(1800) });
    await sleep(3000 + draw.integerBelow(3000));
    cluster.front.sendFaultSettings({ syncDelayMs: 0 });
    return true;
  },
};

const fullDisk: Fault = {
  name: 'the disk was full for seconds',
  weight: 2,
  async inject(context, draw) {
    const { cluster } = context;
    const { disk } = cluster.settings;
    if (!disk) return false;
    const [durationMs, isKilled] = [2000 + draw.integerBelow(6000), draw.uniform() < 0.3];
    await cluster.duringStorageFault(async () => {
      const window = { from: performance.now(), to: Number.POSITIVE_INFINITY };
      context.diskFullPeriods.push(window);
      disk.fill();
      let restarted = Promise.resolve();
      try {
        await sleep(durationMs / 2);
        // The start cannot succeed while the disk is full.
        if (isKilled) restarted = cluster.front.restart('SIGKILL');
        // Awaited below; an earlier failure of the start must not end this process.
        restarted.catch(() => undefined);
        await sleep(durationMs / 2);
      } finally {
        disk.free();
        window.to = performance.now();
        await restartDatabase(cluster);
      }
      await restarted;
    });
    return true;
  },
};

const failingLog: Fault = {
  name: 'writes or a sync of the SQLite log failed once or twice, then the server was stopped or killed',
  weight: 2,
  async inject({ cluster }, draw) {
    const { failingDisk } = cluster.settings;
    if (!failingDisk) return false;
    const setFault = openDiskFaults(failingDisk.env);
    await cluster.duringStorageFault(async () => {
      const operation = pick(draw, ['write', 'sync'] as const) ?? 'write';
      const error = pick(draw, ['ENOSPC', 'EIO'] as const) ?? 'EIO';
      const [first, count] = [1 + draw.integerBelow(20), 1 + draw.integerBelow(2)];
      setFault({ operation, file: '.db-wal', error, first, count });
      await sleep(500 + draw.integerBelow(500));
      setFault(null);
      await cluster.front.restart(draw.uniform() < 0.5 ? 'SIGTERM' : 'SIGKILL');
    });
    return true;
  },
};

const descriptors: Fault = {
  name: 'the server was short of file descriptors for seconds (prlimit --nofile)',
  weight: 1,
  async inject({ cluster }, draw) {
    const { pid } = await cluster.front.whenReady;
    const before = readDescriptorLimit(pid);
    if (before === undefined) return false;
    let done = false;
    await cluster.duringStorageFault(async () => {
      done = setDescriptorLimit(pid, readdirSync(`/proc/${pid}/fd`).length + draw.integerBelow(4));
      await sleep(2000 + draw.integerBelow(6000));
      setDescriptorLimit(pid, before);
    });
    return done;
  },
};

/** Returns the maximum number of file descriptors of a process; undefined without prlimit. */
function readDescriptorLimit(pid: number): number | undefined {
  const { status, stdout } = spawnSync(
    'prlimit',
    ['--pid', String(pid), '--nofile', '--raw', '--noheadings', '--output', 'SOFT'],
    { encoding: 'utf8' },
  );
  return status === 0 ? Number(stdout) : undefined;
}

function setDescriptorLimit(pid: number, descriptorsMax: number): boolean {
  return spawnSync('prlimit', ['--pid', String(pid), `--nofile=${descriptorsMax}:`]).status === 0;
}

const database: Fault = {
  name: 'PostgreSQL was killed (SIGKILL) and started again',
  weight: 2,
  async inject({ cluster }) {
    await cluster.duringStorageFault(async () => {
      sendSignal(cluster.postgres?.pid ?? 0, 'SIGKILL');
      await restartDatabase(cluster);
    });
    return true;
  },
};

const backend: Fault = {
  name: 'a process of PostgreSQL was killed (SIGKILL), which restarts it with all its connections',
  weight: 2,
  async inject({ cluster }, draw) {
    let found = false;
    await cluster.duringStorageFault(async () => {
      const below = listChildren(cluster.postgres?.pid ?? 0);
      found = sendSignal(pick(draw, below) ?? 0, 'SIGKILL');
      await restartDatabase(cluster);
    });
    return found;
  },
};

const slowDatabase: Fault = {
  name: 'PostgreSQL was suspended nine tenths of the time, for some seconds (SIGSTOP)',
  weight: 1,
  async inject({ cluster }, draw) {
    const pulses = 10 + draw.integerBelow(15);
    for (let pulse = 0; pulse < pulses; pulse += 1) {
      const parent = cluster.postgres?.pid ?? 0;
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
  name: "an app used all memory of the server's cgroup",
  weight: 1,
  async inject({ cluster, memoryExhaustions }) {
    const group = cluster.settings.memory;
    if (!group) return false;
    const before = await Promise.all(cluster.members.map(({ whenReady }) => whenReady));
    try {
      group.setLimit(group.readUsedBytes() + FREE_MEMORY_BYTES);
      const made = await cluster.request('POST', `/v1/applications/${MEMORY_HOG}/runs`, {
        body: { input: {} },
      });
      const { run_id: id } = made.body as { run_id?: string };
      if (id === undefined) return false;
      const end = await waitForOutcome(cluster, id);
      memoryExhaustions.count += 1;
      if (end && !/memory/.test(end.error))
        memoryExhaustions.violations.push(`${id} ended with ${JSON.stringify(end)}`);
      // Without the limit its next attempt would take the memory of the machine.
      await cluster.request('PATCH', `/v1/applications/${MEMORY_HOG}/runs/${id}/cancel`);
    } catch {
      // The connection broke: the server was killed, or another fault is active.
    } finally {
      group.setLimit(null);
    }
    const after = await Promise.all(
      before.map((one) => Promise.race([one.exited, sleep(EXIT_TIMEOUT_MS).then(() => 'lives')])),
    );
    for (const how of after)
      if (how !== 'lives') memoryExhaustions.violations.push(`a server ended with ${how}`);
    return true;
  },
};

/** Returns the outcome of the run; undefined if it has not ended within 30 s. */
async function waitForOutcome(
  cluster: Cluster,
  id: string,
): Promise<{ status: string; error: string } | undefined> {
  for (let poll = 0; poll < OUTCOME_POLLS_MAX; poll += 1) {
    const { body } = await cluster.request('GET', `/v1/applications/${MEMORY_HOG}/runs/${id}/metadata`);
    const run = body as {
      status_v2?: RunStatusV2;
      error?: string;
      metadata?: { waiting?: { reason: string; message: string } };
    };
    if (run.status_v2 && isTerminal(run.status_v2)) return { status: run.status_v2, error: run.error ?? '' };
    const { reason, message = '' } = run.metadata?.waiting ?? {};
    if (reason === 'host_fault') return { status: 'requeued', error: message };
    await sleep(100);
  }
  return undefined;
}

const SQLITE_FAULTS = [
  ...REMOTE_FAULTS,
  server,
  sigterm,
  launcher,
  app,
  freeze,
  clock,
  slowDisk,
  fullDisk,
  failingLog,
  descriptors,
  memory,
  wrongDatabase,
];
const POSTGRES_FAULTS = [
  ...REMOTE_FAULTS,
  ...[server, sigterm, worker, launcher, app, freeze, lateWorker, clock],
  ...[fullDisk, descriptors, database, backend, slowDatabase, memory, wrongDatabase],
];

/** Returns the faults that the database and the host support. */
export function listAvailableFaults(
  kind: 'sqlite' | 'postgres',
  { disk, failingDisk, memory: group }: HostResources,
): Fault[] {
  const all = kind === 'sqlite' ? SQLITE_FAULTS : POSTGRES_FAULTS;
  const missing = [
    ...(disk ? [] : [fullDisk]),
    ...(failingDisk ? [] : [failingLog]),
    ...(group ? [] : [memory]),
  ];
  return all.filter((one) => !missing.includes(one));
}

/** The resources that the host provides. */
type HostResources = Pick<Cluster['settings'], 'disk' | 'failingDisk' | 'memory'>;

/**
 * Generates the endless sequence of a seed: rounds in which each fault occurs as often as its weight, in random order.
 * Each has its own generator, and a delay as a share of the mean interval.
 */
export function* generateFaults(
  faults: readonly Fault[],
  seed: string,
): Sequence<{ fault: Fault; draw: RandomGenerator; wait: number }> {
  const order = new RandomGenerator(`order ${seed}`);
  for (let count = 0; ; ) {
    // Each round begins with one of each fault, so that a short test also injects the rare ones.
    const rounds = [faults.slice(), faults.flatMap((one) => Array<Fault>(one.weight - 1).fill(one))];
    for (const round of rounds) {
      for (let remaining = round.length; remaining > 0; remaining -= 1) {
        const [fault] = round.splice(order.integerBelow(remaining), 1);
        count += 1;
        if (fault)
          yield { fault, draw: new RandomGenerator(`${seed} fault ${count}`), wait: 0.5 + order.uniform() };
      }
    }
  }
}

type Sequence<T> = globalThis.Generator<T, never, unknown>;

/** Restarts a killed database, and returns when it accepts connections. */
async function restartDatabase(cluster: Cluster): Promise<void> {
  const { postgres } = cluster;
  if (!postgres) return;
  for (let attempts = 0; ; attempts += 1) {
    try {
      await postgres.restart();
      await cluster.queryDatabase('select 1');
      return;
    } catch (error) {
      // Processes of the previous database may live for a moment, and keep its memory.
      if (attempts === 300) throw error;
      await sleep(200);
    }
  }
}

async function pickRunner(cluster: Cluster, draw: RandomGenerator) {
  const candidates = cluster.members.filter(({ role, isFrozen }) => role !== 'server' && !isFrozen);
  return pick(draw, candidates)?.whenReady;
}
