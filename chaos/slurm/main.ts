/**
 * Runs a batch of runs on workers that a provisioner starts on a Slurm cluster. Every third run needs a licence token. Injects
 * faults until all have ended, and checks that none was lost, none finished twice, and the tokens were never exceeded.
 *
 *   node chaos/slurm/main.ts [--runs 1000] [--database sqlite|postgres] [--nodes 4] [--every 4] [--cut 60] [--seed 1]
 *
 * It needs root, and installs Slurm on Debian and Ubuntu. The exit code is 1 if a promise was broken.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { RandomGenerator } from '../../server/platform/random-generator.ts';
import { createDatabase, startPostgres } from '../../server/testing/database/postgres-server.ts';
import { createRun, pushApp } from '../../server/testing/fixtures/apps.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import { checkRunEvents, openQuery } from '../../server/testing/load/invariants.ts';
import { checkTokens, LOAD_LICENSE } from '../../server/testing/load/license-history.ts';
import { startBalancer } from '../../server/testing/servers/balancer.ts';
import { type ServerProcess, startServerProcess } from '../../server/testing/servers/server-process.ts';
import { findSlurmProblem, startSlurmCluster } from '../../server/testing/slurm/slurm-cluster.ts';
import { SLURM_FAULTS, type SlurmContext } from './faults.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    database: { type: 'string', default: 'sqlite' },
    nodes: { type: 'string', default: '4' },
    every: { type: 'string', default: '4' },
    cut: { type: 'string', default: '60' },
    seed: { type: 'string' },
  },
});
const RUNS = Number(values.runs);
const NODES = Number(values.nodes);
const EVERY_MS = Number(values.every) * 1000;
const CUT_MS = Number(values.cut) * 1000;
if (values.database !== 'sqlite' && values.database !== 'postgres') {
  process.stderr.write('--database must be sqlite or postgres.\n');
  process.exit(2);
}
const isOnPostgres = values.database === 'postgres';
const seed = values.seed ?? String(Math.floor(Math.random() * 1e9));
const CORES = 2;
const IDLE_SECONDS = 5;
const POLL_MS = 500;
/** The cluster must be empty this long after the last run. */
const EMPTY_TIMEOUT_MS = 10 * 60_000;
const APPLICATION = { application_id: 'chaos' };
const BINARY = { executable_type: 'binary', runtime: 'native' } as const;
const APP = '#!/bin/sh\nsleep 0.2\necho "{}"\n';
const LICENSED_INSTANCE = 'licensed';
/** One of so many runs needs a licence token. */
const LICENSED_SHARE = 3;

/** The data folder and the database of the server. */
interface Storage {
  data: string;
  /** The address of its database on PostgreSQL; empty on SQLite. */
  databaseUrl: string;
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function createApplication(server: ServerProcess): Promise<void> {
  const { client } = server;
  await pushApp(server, APPLICATION.application_id, { main: APP }, BINARY);
  await client.call('setLicenses', { body: { licenses: [LOAD_LICENSE] } });
  await client.call('createVersion', { params: APPLICATION, body: { id: 'v1', name: 'Version one' } });
  const requirements = { licenses: { [LOAD_LICENSE.name]: 1 } };
  const instance = { id: LICENSED_INSTANCE, name: 'Needs a licence', version_id: 'v1' } as const;
  await client.call('createInstance', {
    params: APPLICATION,
    body: { ...instance, configuration: { requirements } },
  });
}

async function createRuns(server: ServerProcess): Promise<void> {
  for (let run = 0; run < RUNS; run += 1) {
    const instance = run % LICENSED_SHARE === 0 ? LICENSED_INSTANCE : 'latest';
    await createRun(server, APPLICATION.application_id, { instance, input: {} });
  }
}

/** Counts the runs that have not ended. The server may be down. */
async function countOpenRuns({ data, databaseUrl }: Storage): Promise<number> {
  const { query, close } = await openQuery(data, databaseUrl);
  try {
    const [row] = await query(`select count(*) as count from runs where status in ('queued', 'running')`);
    return Number(row?.count);
  } finally {
    await close();
  }
}

function startServer({ data, databaseUrl }: Storage, env: Record<string, string>): Promise<ServerProcess> {
  return startServerProcess({
    dataFolder: data,
    env: {
      SWITCHYARD_LOG_LEVEL: 'error',
      SWITCHYARD_CAPACITY: '0',
      SWITCHYARD_PROVISIONER: 'slurm',
      SWITCHYARD_PROVISIONER_MAX: String(NODES),
      SWITCHYARD_PROVISIONER_IDLE: String(IDLE_SECONDS),
      SWITCHYARD_SLURM_ARGS: `--cpus-per-task=${CORES}`,
      ...(databaseUrl === '' ? {} : { SWITCHYARD_DATABASE: databaseUrl }),
      ...env,
    },
    onLog: (line) => print(`server: ${line.slice(0, 300)}`),
  });
}

async function test(storage: Storage): Promise<string[]> {
  const cluster = await startSlurmCluster({ nodes: NODES, cores: CORES, memoryMb: 1000 });
  const balancer = await startBalancer();
  const start = async (): Promise<ServerProcess> => {
    const started = await startServer(storage, {
      SLURM_CONF: cluster.env.SLURM_CONF ?? '',
      SWITCHYARD_PUBLIC_URL: balancer.url,
    });
    balancer.use([started.url]);
    return started;
  };
  let server = await start();
  try {
    await createApplication(server);
    await createRuns(server);
    const context: SlurmContext = {
      ...{ cluster, balancer, cutMs: CUT_MS, random: new RandomGenerator(seed) },
      findServerUrl: () => server.url,
      async restartServer(pauseMs) {
        await server.kill('SIGKILL');
        await sleep(pauseMs);
        server = await start();
      },
    };
    await injectFaults(context, storage);
    return await check(context, storage);
  } finally {
    await server.kill('SIGTERM');
    await balancer.close();
    await cluster.close();
  }
}

/** Injects each fault in turn, in a random order, again and again until all runs have ended. */
async function injectFaults(context: SlurmContext, storage: Storage): Promise<void> {
  const injected = new Map<string, number>();
  let round: (typeof SLURM_FAULTS)[number][] = [];
  let open = RUNS;
  // The first workers need a moment.
  await sleep(EVERY_MS);
  while (open > 0) {
    if (round.length === 0) round = [...SLURM_FAULTS];
    const [fault] = round.splice(context.random.integerBelow(round.length), 1);
    if (fault && (await fault.inject(context))) injected.set(fault.name, (injected.get(fault.name) ?? 0) + 1);
    open = await countOpenRuns(storage);
    print(`${RUNS - open} of ${RUNS} runs have ended; ${fault?.name}`);
    await sleep(EVERY_MS);
  }
  print(`${values.database}, seed ${seed}`);
  for (const [name, count] of injected) print(`${String(count).padStart(4)} × ${name}`);
}

/** Returns the violations, once the cluster is empty. */
async function check({ cluster }: SlurmContext, { data, databaseUrl }: Storage): Promise<string[]> {
  const violations: string[] = [];
  const end = performance.now() + EMPTY_TIMEOUT_MS;
  while ((await cluster.listJobs()).length > 0 && performance.now() < end) await sleep(POLL_MS);
  const jobs = await cluster.listJobs();
  if (jobs.length > 0) violations.push(`the cluster is not empty: ${jobs.join(', ')}`);
  const { query, close } = await openQuery(data, databaseUrl);
  try {
    const ends = await query('select status, count(*) as count from runs group by status');
    for (const { status, count } of ends) print(`${count} runs ${status}`);
    const total = ends.reduce((sum, { count }) => sum + Number(count), 0);
    if (total !== RUNS) violations.push(`${RUNS} runs were acknowledged, and ${total} exist`);
    const attempts = await query('select fence, count(*) as count from runs group by fence order by fence');
    for (const { fence, count } of attempts) print(`${count} runs were claimed ${fence} times`);
    violations.push(...(await checkRunEvents(query)));
    const tokens = await checkTokens(query, LOAD_LICENSE.name, LOAD_LICENSE.total);
    print(
      `${tokens.starts} starts with a licence token, at most ${tokens.peak} of ${LOAD_LICENSE.total} at once`,
    );
    violations.push(...tokens.violations);
  } finally {
    await close();
  }
  return violations;
}

const problem = await findSlurmProblem();
if (problem !== null) {
  print(`The chaos test on Slurm did not run: ${problem}`);
  process.exit(3);
}
const folder = mkdtempSync(join(tmpdir(), 'switchyard-slurm-chaos-'));
const began = performance.now();
// PostgreSQL does not run as root; its user must be able to traverse this folder.
chmodSync(folder, 0o711);
const postgres = isOnPostgres ? await startPostgres({ parentFolder: folder, isDurable: true }) : null;
const databaseUrl = postgres === null ? '' : await createDatabase(postgres.url, 'switchyard');
const violations = await test({ data: join(folder, 'data'), databaseUrl });
await postgres?.stop();
rmSync(folder, { recursive: true, force: true });
const seconds = Math.round((performance.now() - began) / 1000);
for (const violation of violations) print(`BROKEN: ${violation}`);
print(
  violations.length === 0
    ? `Every run ended once, and the cluster is empty, after ${seconds} s.`
    : `${violations.length} promises were broken.`,
);
process.exit(violations.length === 0 ? 0 : 1);
