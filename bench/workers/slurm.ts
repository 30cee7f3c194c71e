/**
 * The same trivial jobs on one Slurm cluster: as an array job of `sbatch` alone, and as runs of Switchyard whose provisioner
 * starts the workers there. Both begin on an idle cluster and end with the last job. The time of Switchyard includes the
 * decision, `sbatch`, the start of the workers and the report of each run.
 */
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import { type SlurmCluster, startSlurmCluster } from '../../server/testing/slurm/slurm-cluster.ts';
import {
  BINARY_MANIFEST,
  createRuns,
  parseEndedRuns,
  printLine,
  printRatio,
  pushApp,
  type StartedServer,
  startSwitchyard,
  waitForEndedRuns,
} from '../server/harness.ts';

/** Slurm's own defaults but for the backfill, whose default interval of 30 s suits a cluster with long jobs. */
const SCHEDULER = 'bf_interval=1';
/** Cores of a node. */
export const CORES = 2;
const MEMORY_MB = 1000;
const IDLE_SECONDS = 5;
const POLL_MS = 100;
/** Slurm refuses longer arrays by default. */
const ARRAY_MAX = 1000;
const APP = '#!/bin/sh\necho "{}"\n';

interface SlurmSettings {
  nodes: number;
  /** Runs of Switchyard, and as many tasks of the array, up to its maximum. */
  runs: number;
}

/** Runs both on one cluster and prints their rates. Throws if a run failed, was executed twice, or the cluster stays full. */
export async function compareWithSlurm({ nodes, runs }: SlurmSettings): Promise<void> {
  const cluster = await startSlurmCluster({ nodes, cores: CORES, memoryMb: MEMORY_MB, scheduler: SCHEDULER });
  try {
    const alone = await measureArray(cluster, Math.min(runs, ARRAY_MAX));
    const { total, afterStart, leaveSeconds } = await measureSwitchyard(cluster, { nodes, runs });
    const slots = `${nodes} × ${CORES} cores of Slurm`;
    printRatio(`${runs} trivial jobs on ${slots}, from an idle cluster`, total, alone, total / alone);
    printRatio('the same without the start of the workers', afterStart, alone, afterStart / alone);
    printLine(
      `each run ended once; the cluster was empty ${leaveSeconds.toFixed(1)} s after the last, with an idle time of ${IDLE_SECONDS} s`,
    );
  } finally {
    await cluster.close();
  }
}

/** Returns the jobs a second of an array job of `sbatch`. */
async function measureArray(cluster: SlurmCluster, tasks: number): Promise<number> {
  const start = performance.now();
  await cluster.run(
    'sbatch',
    ...['--wait', '--ntasks=1', '--mem=1M', `--array=1-${tasks}`, '--output=/dev/null', '--wrap=true'],
  );
  return tasks / ((performance.now() - start) / 1000);
}

interface Rates {
  /** Runs a second from the first request to the last end. */
  total: number;
  /** Runs a second from the first end to the last one. */
  afterStart: number;
  leaveSeconds: number;
}

async function measureSwitchyard(cluster: SlurmCluster, { nodes, runs }: SlurmSettings): Promise<Rates> {
  const server = await startSwitchyard({
    SLURM_CONF: cluster.env.SLURM_CONF ?? '',
    SWITCHYARD_CAPACITY: '0',
    SWITCHYARD_PROVISIONER: 'slurm',
    SWITCHYARD_PROVISIONER_MAX: String(nodes),
    SWITCHYARD_PROVISIONER_IDLE: String(IDLE_SECONDS),
    SWITCHYARD_SLURM_ARGS: `--cpus-per-task=${CORES}`,
  });
  try {
    await pushApp(server, await packFiles({ 'app.yaml': BINARY_MANIFEST, main: APP }), 'binary');
    const start = performance.now();
    await createRuns(server, runs);
    await waitForEndedRuns(server, 1, POLL_MS);
    const first = performance.now();
    await waitForEndedRuns(server, runs, POLL_MS);
    const last = performance.now();
    await waitForEmptyCluster(cluster);
    await requireOneEnd(server, runs);
    return {
      total: runs / ((last - start) / 1000),
      afterStart: runs / ((last - first) / 1000),
      leaveSeconds: (performance.now() - last) / 1000,
    };
  } finally {
    await server.stop();
  }
}

/** Throws unless each run has ended once, in its first attempt. */
async function requireOneEnd(server: StartedServer, count: number): Promise<void> {
  const { text } = await server.request('GET', '/metrics');
  const ended = parseEndedRuns(text);
  const requeued = Number(/^switchyard_runs_requeued_total (\d+)/m.exec(text)?.[1]);
  if (ended !== count || requeued !== 0)
    throw new Error(`${count} runs were created, ${ended} ended, and ${requeued} were queued again.`);
}

async function waitForEmptyCluster(cluster: SlurmCluster): Promise<void> {
  while ((await cluster.listJobs()).length > 0) await sleep(POLL_MS);
}
