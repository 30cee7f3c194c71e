/**
 * A real Slurm cluster on this machine, for tests and benchmarks: one `slurmctld`, a `slurmd` for each node and `munged`. They
 * are children of this process on loopback, with every file in a temporary folder. Node sizes are made up, so that a
 * machine with two cores has nodes of any size.
 *
 * It needs root and the Debian packages below, which it installs itself.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installDebianPackages } from '../host/debian-packages.ts';
import { findFreePorts } from '../host/free-ports.ts';
import { sleep } from '../host/sleep.ts';

const run = promisify(execFile);

const PACKAGES = ['slurmctld', 'slurmd', 'slurm-client', 'munge'];
const PROGRAMS = ['/usr/sbin/slurmctld', '/usr/sbin/slurmd', '/usr/sbin/munged', '/usr/bin/sbatch'];
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;
const POLL_MS = 100;
const EAGER_SCHEDULER = 'bf_interval=1,sched_interval=1,sched_min_interval=0';

export interface SlurmCluster {
  /** The environment in which `sbatch`, `squeue` and `scancel` reach the cluster. */
  readonly env: NodeJS.ProcessEnv;
  /** Names of the nodes. */
  readonly nodes: readonly string[];
  /** Runs a command of Slurm and returns its standard output. */
  run(program: string, ...args: string[]): Promise<string>;
  /** Names of the jobs that wait or run. */
  listJobs(): Promise<string[]>;
  /** Ends the daemon of a node with SIGKILL; the processes of its jobs stay, as on a machine whose daemon has crashed. */
  killNode(node: string): Promise<void>;
  startNode(node: string): Promise<void>;
  /** Cancels all jobs and ends all daemons. */
  close(): Promise<void>;
}

/**
 * Installs Slurm when it is missing. Returns null when a cluster can be started, else the reason why not, which it also
 * writes to standard error: nobody should take a skipped test for a passed one.
 */
export async function findSlurmProblem(): Promise<string | null> {
  const problem = await installSlurm();
  if (problem !== null) process.stderr.write(`\nNOT TESTED ON A SLURM CLUSTER: ${problem}\n\n`);
  return problem;
}

async function installSlurm(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'the tests do not run as root, which the daemons of Slurm need.';
  return installDebianPackages(PACKAGES, PROGRAMS);
}

interface ClusterSettings {
  nodes: number;
  /** Cores and megabytes of each node. */
  cores: number;
  memoryMb: number;
  /** `SchedulerParameters`; by default a scheduler that starts jobs as soon as it can, so that tests are short. */
  scheduler?: string;
}

/** Starts a cluster and resolves once all its nodes are idle. */
export async function startSlurmCluster({
  nodes,
  cores,
  memoryMb,
  scheduler = EAGER_SCHEDULER,
}: ClusterSettings): Promise<SlurmCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'slurm-'));
  const names = Array.from({ length: nodes }, (_, index) => `n${index + 1}`);
  const [controllerPort = 0, ...nodePorts] = await findFreePorts(nodes + 1);
  const config = join(folder, 'slurm.conf');
  writeFileSync(
    config,
    formatConfig(folder, controllerPort, [
      `SchedulerParameters=${scheduler}`,
      ...names.map(
        (name, index) =>
          `NodeName=${name} NodeHostname=${hostname().split('.')[0]} NodeAddr=127.0.0.1 Port=${nodePorts[index]} CPUs=${cores} RealMemory=${memoryMb} State=UNKNOWN`,
      ),
    ]),
  );
  for (const name of ['state', ...names]) mkdirSync(join(folder, name));
  const env = { ...process.env, SLURM_CONF: config };
  const daemons = new Daemons(folder, env);
  const cluster: SlurmCluster = {
    env,
    nodes: names,
    run: async (program, ...args) => (await run(program, args, { env, maxBuffer: 2 ** 28 })).stdout,
    listJobs: async () => {
      const output = await cluster.run('squeue', '--noheader', '--format=%j');
      return output.split('\n').filter((line) => line !== '');
    },
    killNode: (node) => daemons.end(node, 'SIGKILL'),
    startNode: async (node) => daemons.startNode(node),
    async close() {
      await cluster.run('scancel', '--user', 'root').catch(() => {});
      await pollUntil(STOP_TIMEOUT_MS, async () => (await cluster.listJobs()).length === 0).catch(() => {});
      await daemons.endAll();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await startDaemons(daemons, folder, names);
    await pollUntil(START_TIMEOUT_MS, async () => (await countIdleNodes(cluster)) === nodes);
  } catch (error) {
    const log = readLog(join(folder, 'slurmctld.log'));
    await daemons.endAll();
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`The Slurm cluster did not start: ${error}\n${log}`);
  }
  return cluster;
}

async function startDaemons(daemons: Daemons, folder: string, nodes: readonly string[]): Promise<void> {
  const key = join(folder, 'munge.key');
  const socket = join(folder, 'munge.socket');
  writeFileSync(key, randomBytes(128), { mode: 0o600 });
  daemons.start('munged', '/usr/sbin/munged', [
    ...['--foreground', '--force', `--key-file=${key}`, `--socket=${socket}`],
    ...[`--pid-file=${join(folder, 'munged.pid')}`, `--seed-file=${join(folder, 'munge.seed')}`],
    `--log-file=${join(folder, 'munged.log')}`,
  ]);
  await pollUntil(START_TIMEOUT_MS, async () => existsSync(socket));
  daemons.start('slurmctld', '/usr/sbin/slurmctld', ['-D']);
  for (const node of nodes) daemons.startNode(node);
}

const readLog = (path: string): string =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(-20).join('\n') : '';

async function countIdleNodes(cluster: SlurmCluster): Promise<number> {
  const output = await cluster.run('sinfo', '--noheader', '--states=idle', '--format=%D').catch(() => '');
  return output.split('\n').reduce((sum, line) => sum + Number(line || 0), 0);
}

/** No cgroups and no systemd: a container has neither. Short times, so that a test sees a dead node. */
function formatConfig(folder: string, port: number, lines: readonly string[]): string {
  return [
    'ClusterName=switchyard-test',
    `SlurmctldHost=${hostname().split('.')[0]}(127.0.0.1)`,
    `SlurmctldPort=${port}`,
    'AuthType=auth/munge',
    'CredType=cred/munge',
    `AuthInfo=socket=${join(folder, 'munge.socket')}`,
    'SlurmUser=root',
    'SlurmdUser=root',
    `StateSaveLocation=${join(folder, 'state')}`,
    `SlurmdSpoolDir=${join(folder, '%n')}`,
    `SlurmctldPidFile=${join(folder, 'slurmctld.pid')}`,
    `SlurmdPidFile=${join(folder, '%n.pid')}`,
    `SlurmctldLogFile=${join(folder, 'slurmctld.log')}`,
    `SlurmdLogFile=${join(folder, '%n.log')}`,
    'ProctrackType=proctrack/linuxproc',
    'TaskPlugin=task/none',
    'SelectType=select/cons_tres',
    'SelectTypeParameters=CR_Core_Memory',
    'SwitchType=switch/none',
    'MpiDefault=none',
    'SlurmdParameters=config_overrides',
    'ReturnToService=2',
    'SlurmctldTimeout=10',
    'SlurmdTimeout=10',
    'KillWait=5',
    'MinJobAge=60',
    ...lines,
    'PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP',
    '',
  ].join('\n');
}

/** The daemons of a cluster, as children of this process. */
class Daemons {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #children = new Map<string, ChildProcess>();

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#env = env;
  }

  start(name: string, program: string, args: readonly string[]): void {
    this.#children.set(name, spawn(program, args, { cwd: this.#folder, env: this.#env, stdio: 'ignore' }));
  }

  startNode(node: string): void {
    this.start(node, '/usr/sbin/slurmd', ['-D', '-N', node]);
  }

  /** Resolves once the daemon has ended. */
  async end(name: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#children.get(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  }

  /** The nodes end first, because they report to the controller, and both need munged. */
  async endAll(): Promise<void> {
    for (const name of [...this.#children.keys()].reverse()) await this.end(name);
  }
}

async function pollUntil(timeoutMs: number, check: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`The condition does not hold after ${timeoutMs} ms.`);
    await sleep(POLL_MS);
  }
}
