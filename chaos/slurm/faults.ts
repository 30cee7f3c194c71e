/** The faults of the chaos test on a Slurm cluster. Each leaves the cluster able to work once it resolves. */
import { readFileSync } from 'node:fs';
import type { RandomGenerator } from '../../server/platform/random-generator.ts';
import { findProcessesByCommand } from '../../server/testing/host/processes.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import type { Balancer } from '../../server/testing/servers/balancer.ts';
import type { SlurmCluster } from '../../server/testing/slurm/slurm-cluster.ts';
import { pick } from '../context.ts';

const DAEMON_PAUSE_MS = 3000;
const DRAIN_MS = 5000;
const SERVER_PAUSE_MS = 1000;

export interface SlurmContext {
  cluster: SlurmCluster;
  balancer: Balancer;
  random: RandomGenerator;
  /** How long the network between workers and server is cut. */
  cutMs: number;
  /** Ends the server with SIGKILL, and starts it again after the pause. */
  restartServer(pauseMs: number): Promise<void>;
  /** The address of the server behind the balancer. */
  findServerUrl(): string;
}

/** A fault. `inject` resolves with false when nothing was there that could fail. */
interface SlurmFault {
  name: string;
  inject(context: SlurmContext): Promise<boolean>;
}

export const SLURM_FAULTS: readonly SlurmFault[] = [
  {
    name: 'a worker was killed (SIGKILL)',
    async inject({ random }) {
      const workers = findProcessesByCommand('worker/process.ts').filter((pid) =>
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--job\0switchyard-'),
      );
      const pid = pick(random, workers);
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
      return pid !== undefined;
    },
  },
  {
    name: 'the job of a worker was cancelled (scancel)',
    async inject({ cluster, random }) {
      const name = pick(random, await cluster.listJobs());
      if (name === undefined) return false;
      await cluster.run('scancel', `--name=${name}`);
      return true;
    },
  },
  {
    name: 'slurmd of a node was killed (SIGKILL) and started again',
    async inject({ cluster, random }) {
      const node = pick(random, cluster.nodes) ?? '';
      await cluster.killNode(node);
      await sleep(DAEMON_PAUSE_MS);
      await cluster.startNode(node);
      return true;
    },
  },
  {
    name: 'a node was drained and resumed',
    async inject({ cluster, random }) {
      const node = `NodeName=${pick(random, cluster.nodes)}`;
      await cluster.run('scontrol', 'update', node, 'State=DRAIN', 'Reason=chaos');
      await sleep(DRAIN_MS);
      // A node that went down meanwhile is resumed too.
      await cluster.run('scontrol', 'update', node, 'State=RESUME');
      return true;
    },
  },
  {
    name: 'the server was killed (SIGKILL) and started again',
    async inject({ restartServer }) {
      await restartServer(SERVER_PAUSE_MS);
      return true;
    },
  },
  {
    name: 'the network between workers and server was cut',
    async inject({ balancer, cutMs, findServerUrl }) {
      balancer.use([]);
      balancer.cut();
      await sleep(cutMs);
      balancer.use([findServerUrl()]);
      return true;
    },
  },
];
