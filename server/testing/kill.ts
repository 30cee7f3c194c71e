/**
 * Kills a server under load for some minutes and looks whether anything that was acknowledged got lost.
 *
 *   node server/testing/kill.ts --minutes 10 --every 3 [--database postgres] [--experiments]
 *
 * Every few seconds the server, its launcher or an app is killed, or the server is asked to leave; the server is started
 * again. In the end everything acknowledged must have ended exactly once, with what its input gives. With --experiments a
 * batch, an acceptance test, a shadow test and a switchback test go on all the while, and their books must be right to the
 * run. Exit code 1 when anything is wrong.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isTerminal } from '@switchyard/contract/states.ts';
import { pushApp } from './apps.ts';
import {
  checkAnswers,
  checkAssets,
  checkContents,
  checkEvents,
  openQuery,
  type Seen,
} from './kill-checks.ts';
import { checkExperiments, ExperimentLoad, SHADOWED, SWITCHED } from './kill-experiments.ts';
import { APPLICATION, ENSEMBLE, LOAD_APP, Load, pause } from './kill-load.ts';
import { startPostgres } from './postgres-server.ts';
import { type ServerProcess, startServerProcess } from './process.ts';
import { environmentOf, livingApps } from './processes.ts';

const CLIENTS = 32;
const ALL_ENDED_WITHIN_MS = 120_000;
const HIT_SERVER = 0.4;
const HIT_LAUNCHER = 0.65;
const HIT_APP = 0.9;
const LOOKS_FOR_AN_APP = 100;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    every: { type: 'string', default: '3' },
    database: { type: 'string', default: 'sqlite' },
    experiments: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const everySeconds = Number(values.every);
if (!(minutes > 0) || !(everySeconds > 0) || !['sqlite', 'postgres'].includes(values.database))
  throw new Error('Give --minutes and --every as numbers above 0, and --database as sqlite or postgres.');

const data = mkdtempSync(join(tmpdir(), 'switchyard-kill-'));
const postgres = values.database === 'postgres' ? await startPostgres() : null;
const address = postgres?.address ?? '';
const kills: Record<string, number> = { server: 0, launcher: 0, app: 0, 'server, politely': 0 };
/** Runs whose app was killed by us. */
const hit = new Set<string>();
const restartMs: number[] = [];

let server = Promise.resolve(await start());
const target = {
  ask: async (...request: Parameters<ServerProcess['ask']>) => (await server).ask(...request),
};
const load = new Load(target, values.experiments ? ['latest', SHADOWED, SWITCHED] : ['latest']);
const experiments = new ExperimentLoad(target);
await pushApp(await server, APPLICATION, LOAD_APP, { executable_type: 'binary', runtime: 'shell' });
await (await server).ask('POST', `/v1/applications/${APPLICATION}/ensembles`, { body: ENSEMBLE });

for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, async () => {
    await (await server).kill();
    await postgres?.stop();
    process.exit(1);
  });

function start(): Promise<ServerProcess> {
  return startServerProcess({
    data,
    env: {
      SWITCHYARD_CAPACITY: '4',
      SWITCHYARD_LOG_LEVEL: 'error',
      ...(address ? { SWITCHYARD_DATABASE: address } : {}),
    },
    onLog: (line) => process.stderr.write(`${line}\n`),
  });
}

/** One blow. A server that is hit is started again at once. */
async function strike(): Promise<void> {
  const chance = Math.random();
  const current = await server;
  if (chance < HIT_SERVER || chance >= HIT_APP) {
    const politely = chance >= HIT_APP;
    const what = politely ? 'server, politely' : 'server';
    kills[what] = (kills[what] ?? 0) + 1;
    const begun = performance.now();
    server = current.kill(politely ? 'SIGTERM' : 'SIGKILL').then(start);
    await server;
    restartMs.push(performance.now() - begun);
    return;
  }
  if (chance < HIT_LAUNCHER) {
    const launcher = current.launcher();
    if (launcher !== undefined && signal(launcher)) kills.launcher = (kills.launcher ?? 0) + 1;
    return;
  }
  const victims = await someApp(current);
  const run = environmentOf(victims[0] ?? 0, 'NEXTMV_RUN_ID');
  if (run === undefined) return;
  hit.add(run);
  if (victims.filter(signal).length > 0) kills.app = (kills.app ?? 0) + 1;
}

/** The processes of one run, parents first, so that none is left to go on without the others. */
async function someApp(current: ServerProcess): Promise<number[]> {
  for (let look = 0; look < LOOKS_FOR_AN_APP; look += 1) {
    const apps = current.apps().filter((pid) => environmentOf(pid, 'NEXTMV_RUN_ID') !== undefined);
    const run = environmentOf(apps[Math.floor(Math.random() * apps.length)] ?? 0, 'NEXTMV_RUN_ID');
    if (run !== undefined) return apps.filter((pid) => environmentOf(pid, 'NEXTMV_RUN_ID') === run);
    await pause(20);
  }
  return [];
}

function signal(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}

/** Asks for every acknowledged run until all have ended, or it has taken too long. */
async function collect(current: ServerProcess): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>();
  const deadline = performance.now() + ALL_ENDED_WITHIN_MS;
  for (const run of load.acknowledged) {
    for (;;) {
      const path = `/v1/applications/${APPLICATION}/runs/${run.id}`;
      const { body } = await current.ask('GET', path);
      const found = body as Seen;
      if (found.status_v2 !== undefined) seen.set(run.id, found);
      if ((found.status_v2 !== undefined && isTerminal(found.status_v2)) || performance.now() > deadline)
        break;
      await pause(50);
    }
  }
  return seen;
}

if (values.experiments) await experiments.prepare();
const clients = Array.from({ length: CLIENTS }, () => load.client());
if (values.experiments)
  clients.push(
    experiments.batches(),
    experiments.acceptances(),
    experiments.shadows(),
    experiments.switchbacks(),
  );
const end = performance.now() + minutes * 60_000;
while (performance.now() < end) {
  await pause(everySeconds * 1000 * (0.5 + Math.random()));
  await strike();
}
load.stop();
experiments.stop();
await Promise.all(clients);
await experiments.finish();
const last = await server;
const seen = await collect(last);
for (const until = performance.now() + ALL_ENDED_WITHIN_MS; performance.now() < until; await pause(200))
  if ((await experiments.unfinished()).length === 0) break;
await last.kill('SIGTERM');

const { query, close } = await openQuery(data, address);
const answers = checkAnswers(load.acknowledged, seen, hit);
const contents = await checkContents(query, data);
const books = values.experiments ? await checkExperiments(query, experiments) : null;
const ids = new Set((await query('select id from runs')).map((row) => String(row.id)));
const alive = [...livingApps()]
  .filter(([, run]) => ids.has(run))
  .map(([pid, run]) => `process ${pid} of ${run} lives`);
const violations = [
  ...answers.violations,
  ...(await checkEvents(query)),
  ...contents.violations,
  ...(await checkAssets(query)),
  ...alive,
  ...(books?.violations ?? []),
  ...experiments.refused.map((text) => `the server refused: ${text}`),
  ...load.refused.map((text) => `the server refused: ${text}`),
];
const retried = await query('select count(*) as count from runs where fence > 1');
await close();
await postgres?.stop();
if (violations.length === 0) rmSync(data, { recursive: true, force: true });

const median = restartMs.toSorted((one, other) => one - other)[Math.floor(restartMs.length / 2)];
const report = {
  database: values.database,
  minutes,
  ...Object.fromEntries(Object.entries(kills).map(([what, count]) => [`killed: ${what}`, count])),
  'restart, median ms': median === undefined ? 'none' : Math.round(median),
  'acknowledged runs': load.acknowledged.length,
  'requests without an answer': load.unanswered,
  ...answers.counts,
  'runs claimed more than once': Number(retried[0]?.count),
  'runs not acknowledged but there': ids.size - load.acknowledged.length,
  'blobs left to the sweep': contents.unswept,
  ...(books
    ? {
        ...Object.fromEntries(
          Object.entries(experiments.made).map(([kind, made]) => [`${kind} experiments`, made.length]),
        ),
        ...books.counts,
      }
    : {}),
  violations: violations.length,
  lost: answers.lost,
};
for (const [what, value] of Object.entries(report)) process.stdout.write(`${what}: ${value}\n`);
for (const violation of violations.slice(0, 50)) process.stdout.write(`  ${violation}\n`);
if (violations.length > 0) process.stdout.write(`The data folder is kept: ${data}\n`);
process.exitCode = violations.length > 0 ? 1 : 0;
