/**
 * What is done to it: each kind of blow, how often it comes, and the sequence that a seed gives. A blow draws from a
 * generator of its own, so that what one draws changes nothing for the next.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { LEASE_MS } from '@switchyard/contract/limits.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { Generator } from '../../experiments/statistics/generator.ts';
import { childrenOf, environmentOf } from '../processes.ts';
import { HOARD, pause } from './load.ts';
import type { Member, Stage } from './stage.ts';
import { wrongDatabase } from './wrong-database.ts';

/** A worker is taken for dead when its lease is over and it has been silent for ten seconds more. */
const BEYOND_LEASE_MS = LEASE_MS + 25_000;
const CLOCK_JUMP_MAX_MS = 5 * 60_000;
const CLOCK_AHEAD_MAX_MS = 8 * 60_000;
const LOOKS_FOR_AN_APP = 100;
const LOOKS_FOR_AN_END = 300;
const MEMORY_LEFT_BYTES = 300 * 1024 * 1024;
const GONE_WITHIN_MS = 500;

export interface Ring {
  stage: Stage;
  /** Runs whose app was killed. */
  hit: Set<string>;
  /** When the disk was full, by `performance.now()`. */
  fullDisks: { from: number; to: number }[];
  /** How often an app took all memory, and what it took with it. */
  outlived: { count: number; violations: string[] };
  /** Blows that go on by themselves. */
  pending: Set<Promise<void>>;
}

export interface Blow {
  /** What was done, as a sentence without its subject's article: "the server was killed". */
  name: string;
  /** How many there are of it in a round. */
  weight: number;
  /** false: there was nothing to hit. */
  strike(ring: Ring, draw: Generator): Promise<boolean>;
}

const server: Blow = {
  name: 'the server was killed (SIGKILL) and started again',
  weight: 6,
  async strike({ stage }) {
    await stage.front.restart('SIGKILL');
    return true;
  },
};

const politely: Blow = {
  name: 'a process was asked to leave (SIGTERM) and started again',
  weight: 2,
  async strike({ stage }, draw) {
    const able = stage.members.filter(({ frozen }) => !frozen);
    await able[draw.below(able.length)]?.restart('SIGTERM');
    return true;
  },
};

const worker: Blow = {
  name: 'a worker was killed (SIGKILL) and started again',
  weight: 4,
  async strike({ stage }, draw) {
    const able = stage.workers.filter(({ frozen }) => !frozen);
    await able[draw.below(able.length)]?.restart('SIGKILL');
    return able.length > 0;
  },
};

const launcher: Blow = {
  name: 'a launcher of apps was killed (SIGKILL)',
  weight: 3,
  async strike({ stage }, draw) {
    const process = await someRunner(stage, draw);
    const found = process?.launcher();
    return found !== undefined && signal(found, 'SIGKILL');
  },
};

const app: Blow = {
  name: 'an app was killed (SIGKILL)',
  weight: 3,
  async strike({ stage, hit }, draw) {
    const runner = await someRunner(stage, draw);
    for (let look = 0; runner && look < LOOKS_FOR_AN_APP; look += 1) {
      const apps = runner.apps().filter((pid) => environmentOf(pid, 'NEXTMV_RUN_ID') !== undefined);
      const run = environmentOf(apps[draw.below(apps.length)] ?? 0, 'NEXTMV_RUN_ID');
      if (run !== undefined) {
        hit.add(run);
        // Parents first, so that none is left to go on without the others.
        const its = apps.filter((pid) => environmentOf(pid, 'NEXTMV_RUN_ID') === run);
        return its.filter((pid) => signal(pid, 'SIGKILL')).length > 0;
      }
      await pause(20);
    }
    return false;
  },
};

const freeze: Blow = {
  name: 'the server stood still for seconds (SIGSTOP)',
  weight: 1,
  async strike({ stage }, draw) {
    const { pid } = await stage.front.up;
    signal(pid, 'SIGSTOP');
    await pause(2000 + draw.below(5000));
    return signal(pid, 'SIGCONT');
  },
};

const lateWorker: Blow = {
  name: 'a worker stood still for longer than its lease, and came back late (SIGSTOP)',
  weight: 1,
  async strike({ stage, pending }, draw) {
    // One has to be left that works.
    if (stage.workers.some(({ frozen }) => frozen)) return false;
    const one = stage.workers[draw.below(stage.workers.length)];
    if (!one) return false;
    const { pid } = await one.up;
    one.frozen = true;
    signal(pid, 'SIGSTOP');
    const thaw = pause(BEYOND_LEASE_MS).then(() => {
      signal(pid, 'SIGCONT');
      one.frozen = false;
      pending.delete(thaw);
    });
    pending.add(thaw);
    return true;
  },
};

const clock: Blow = {
  name: 'the clock was set wrong by up to five minutes, forward or backward',
  weight: 2,
  async strike({ stage }, draw) {
    const jump = draw.below(2 * CLOCK_JUMP_MAX_MS) - CLOCK_JUMP_MAX_MS;
    const ahead = stage.clockAheadMs + jump;
    stage.setClocks(Math.abs(ahead) <= CLOCK_AHEAD_MAX_MS ? ahead : stage.clockAheadMs - jump);
    return true;
  },
};

const slowDisk: Blow = {
  name: 'the disk took up to two seconds for each sync, for some seconds',
  weight: 1,
  async strike({ stage }, draw) {
    stage.front.tell({ syncDelayMs: 200 + draw.below(1800) });
    await pause(3000 + draw.below(3000));
    stage.front.tell({ syncDelayMs: 0 });
    return true;
  },
};

const fullDisk: Blow = {
  name: 'the disk was full for seconds',
  weight: 2,
  async strike(ring, draw) {
    const { stage } = ring;
    const { disk } = stage.settings;
    if (!disk) return false;
    const [full, killed] = [2000 + draw.below(6000), draw.unit() < 0.3];
    await stage.troubled(async () => {
      const window = { from: performance.now(), to: Number.POSITIVE_INFINITY };
      ring.fullDisks.push(window);
      disk.fill();
      let back = Promise.resolve();
      try {
        await pause(full / 2);
        // It cannot start as long as there is no room.
        if (killed) back = stage.front.restart('SIGKILL');
        // Awaited below; a start that fails before must not end this process.
        back.catch(() => undefined);
        await pause(full / 2);
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

const descriptors: Blow = {
  name: 'the server was short of descriptors for seconds (prlimit --nofile)',
  weight: 1,
  async strike({ stage }, draw) {
    const { pid } = await stage.front.up;
    const before = limitOf(pid);
    if (before === undefined) return false;
    let done = false;
    await stage.troubled(async () => {
      done = setLimit(pid, readdirSync(`/proc/${pid}/fd`).length + draw.below(4));
      await pause(2000 + draw.below(6000));
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

const database: Blow = {
  name: 'PostgreSQL was killed (SIGKILL) and started again',
  weight: 2,
  async strike({ stage }) {
    await stage.troubled(async () => {
      signal(stage.postgres?.pid ?? 0, 'SIGKILL');
      await reviveDatabase(stage);
    });
    return true;
  },
};

const backend: Blow = {
  name: 'a process of PostgreSQL was killed (SIGKILL), which restarts it with all its connections',
  weight: 2,
  async strike({ stage }, draw) {
    let found = false;
    await stage.troubled(async () => {
      const below = childrenOf(stage.postgres?.pid ?? 0);
      found = signal(below[draw.below(below.length)] ?? 0, 'SIGKILL');
      await reviveDatabase(stage);
    });
    return found;
  },
};

const slowDatabase: Blow = {
  name: 'PostgreSQL stood still nine tenths of the time, for some seconds (SIGSTOP)',
  weight: 1,
  async strike({ stage }, draw) {
    const pulses = 10 + draw.below(15);
    for (let pulse = 0; pulse < pulses; pulse += 1) {
      const parent = stage.postgres?.pid ?? 0;
      const all = [parent, ...childrenOf(parent)];
      for (const pid of all) signal(pid, 'SIGSTOP');
      await pause(180);
      for (const pid of all) signal(pid, 'SIGCONT');
      await pause(20);
    }
    return true;
  },
};

const memory: Blow = {
  name: 'an app took all memory of the cgroup that the server lives in',
  weight: 1,
  async strike({ stage, outlived }) {
    const group = stage.settings.memory;
    if (!group) return false;
    const before = await Promise.all(stage.members.map(({ up }) => up));
    try {
      group.limit(group.usedBytes() + MEMORY_LEFT_BYTES);
      const made = await stage.ask('POST', `/v1/applications/${HOARD}/runs`, { body: { input: {} } });
      const { run_id: id } = made.body as { run_id?: string };
      if (id === undefined) return false;
      const end = await endOf(stage, id);
      outlived.count += 1;
      if (end && !/memory/.test(end.error))
        outlived.violations.push(`${id} ended with ${JSON.stringify(end)}`);
    } catch {
      // The connection broke: the server was ended, or another blow goes on.
    } finally {
      group.limit(null);
    }
    const after = await Promise.all(
      before.map((one) => Promise.race([one.gone, pause(GONE_WITHIN_MS).then(() => 'lives')])),
    );
    for (const how of after) if (how !== 'lives') outlived.violations.push(`a server ended with ${how}`);
    return true;
  },
};

/** How the run ended; undefined when it has not after a while. */
async function endOf(stage: Stage, id: string): Promise<{ status: string; error: string } | undefined> {
  for (let look = 0; look < LOOKS_FOR_AN_END; look += 1) {
    const { body } = await stage.ask('GET', `/v1/applications/${HOARD}/runs/${id}/metadata`);
    const run = body as { status_v2?: RunStatusV2; error?: string };
    if (run.status_v2 && isTerminal(run.status_v2)) return { status: run.status_v2, error: run.error ?? '' };
    await pause(100);
  }
  return undefined;
}

const OF_SQLITE = [
  server,
  politely,
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
  ...[server, politely, worker, launcher, app, freeze, lateWorker, clock],
  ...[fullDisk, descriptors, database, backend, slowDatabase, memory, wrongDatabase],
];

/** Every kind there is for the database. */
export function blowsFor(kind: 'sqlite' | 'postgres', { disk, memory: group }: Means): Blow[] {
  const all = kind === 'sqlite' ? OF_SQLITE : OF_POSTGRES;
  return all.filter((one) => (disk || one !== fullDisk) && (group || one !== memory));
}

/** What the machine lets us have. */
type Means = Pick<Stage['settings'], 'disk' | 'memory'>;

/**
 * The sequence of a seed, without end: round after round in which each kind comes as often as its weight says, shuffled,
 * each with its own generator and how long to wait before it, in shares of the usual time.
 */
export function* sequence(
  blows: readonly Blow[],
  seed: string,
): Sequence<{ blow: Blow; draw: Generator; wait: number }> {
  const order = new Generator(`order ${seed}`);
  for (let count = 0; ; ) {
    // What is rare comes first in the list of its round as often as what is common: each round begins with one of each.
    const rounds = [blows.slice(), blows.flatMap((one) => Array<Blow>(one.weight - 1).fill(one))];
    for (const round of rounds) {
      for (let left = round.length; left > 0; left -= 1) {
        const [blow] = round.splice(order.below(left), 1);
        count += 1;
        if (blow) yield { blow, draw: new Generator(`${seed} blow ${count}`), wait: 0.5 + order.unit() };
      }
    }
  }
}

type Sequence<T> = globalThis.Generator<T, never, unknown>;

/** Starts the database again where it is gone, until it takes connections. */
async function reviveDatabase(stage: Stage): Promise<void> {
  const { postgres } = stage;
  if (!postgres) return;
  for (let looks = 0; ; looks += 1) {
    try {
      await postgres.revive();
      await stage.askDatabase('select 1');
      return;
    } catch (error) {
      // Processes of the one before may live on for a moment, and keep its memory.
      if (looks === 300) throw error;
      await pause(200);
    }
  }
}

async function someRunner(stage: Stage, draw: Generator) {
  const able = stage.members.filter(({ role, frozen }) => role !== 'server' && !frozen);
  const one: Member | undefined = able[draw.below(able.length)];
  return one?.up;
}

/** false when there is no such process. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
