/**
 * Tortures a Switchyard of its own for some minutes, and tells whether everything held that is promised.
 *
 *   node chaos/main.ts [--minutes 10] [--every 3] [--database sqlite|postgres] [--seed 1]
 *     [--only text] [--clients 12] [--json] [--keep] [--quiet]
 *
 * Server, launcher, workers, apps and database are killed at moments drawn by chance, the disk is full or slow, the clock
 * is set wrong, all under a load of runs, cancels, experiments and webhooks. Exit code 1 when anything was broken, 3 when
 * the run itself failed, as when the code changed meanwhile; then the data and the log are kept. Everything it starts and
 * mounts is gone in the end.
 */
import { chmodSync, cpSync, createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { createMemoryGroup } from '../server/testing/host/memory-group.ts';
import { sleep } from '../server/testing/host/sleep.ts';
import { runChaosTest } from './chaos.ts';
import { Cluster } from './cluster.ts';
import { CodeSnapshot } from './code-snapshot.ts';
import { enterMountNamespace, mountDisk, NAMESPACE_FLAG } from './disk.ts';
import { formatReport, type Report } from './report.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    every: { type: 'string', default: '3' },
    database: { type: 'string', default: 'sqlite' },
    seed: { type: 'string' },
    only: { type: 'string', default: '' },
    clients: { type: 'string', default: '12' },
    json: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
    [NAMESPACE_FLAG]: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const everySeconds = Number(values.every);
const { database } = values;
if (!(minutes > 0) || !(everySeconds > 0) || (database !== 'sqlite' && database !== 'postgres')) {
  process.stderr.write(
    'Give --minutes and --every as numbers above 0, and --database as sqlite or postgres.\n',
  );
  process.exit(2);
}

const whyNoDisk = await enterMountNamespace();
const code = new CodeSnapshot(join(import.meta.dirname, '..'));
const seed = values.seed ?? String(Math.floor(Math.random() * 1e9));
const folder = mkdtempSync(join(tmpdir(), 'switchyard-torture-'));
// PostgreSQL does not run as root; who it steps down to passes through here.
chmodSync(folder, 0o711);
const logPath = join(folder, 'log');
const log = createWriteStream(logPath);
const disk = whyNoDisk === '' ? mountDisk(join(folder, 'disk')) : null;
const grouped = createMemoryGroup(basename(folder));
const memory = typeof grouped === 'string' ? null : grouped;
const place = join(folder, 'disk');
if (!disk) mkdirSync(place);
const news = (sentence: string): void => {
  const line = `${new Date().toISOString()} ${sentence}\n`;
  log.write(line);
  if (!values.quiet) process.stderr.write(line);
};
const stage = new Cluster({
  folder: place,
  database,
  disk,
  memory,
  code,
  onLog: (line) => log.write(`${line}\n`),
});

/** Ends every process, and takes away what was mounted; what is kept lies in the folder then. */
async function clear(keep: boolean): Promise<void> {
  // `pause` keeps no process alive, and after a failed run nothing else does.
  const alive = setInterval(() => undefined, 1000);
  await stage.close();
  // Launchers outlive a server that is killed by a moment.
  for (let looks = 0; memory && !memory.remove() && looks < 100; looks += 1) await sleep(50);
  if (keep && disk) cpSync(place, join(folder, 'data'), { recursive: true, filter: isFile });
  disk?.unmount();
  await new Promise<void>((resolve) => log.end(resolve));
  clearInterval(alive);
  if (!keep) rmSync(folder, { recursive: true, force: true });
  else if (disk) rmSync(place, { recursive: true, force: true });
}

function isFile(path: string): boolean {
  return !path.endsWith('.sock');
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, () => {
    if (stop.signal.aborted) return;
    stop.abort();
    void clear(values.keep).then(() => process.exit(130));
  });

try {
  const told = await runChaosTest(stage, {
    minutes,
    faultIntervalSeconds: everySeconds,
    seed,
    only: values.only,
    clients: Math.max(1, Number(values.clients)),
    onProgress: news,
    signal: stop.signal,
  });
  const keeps = values.keep || told.verdict === 'broken';
  const report: Report = {
    ...told,
    not_done: {
      ...(disk ? {} : { 'the disk was full': `this host lets nobody mount a disk: ${whyNoDisk}` }),
      ...(typeof grouped === 'string' ? { 'an app took all memory': grouped } : {}),
    },
    kept: keeps ? folder : null,
  };
  if (keeps) writeFileSync(join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  await clear(keeps);
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report));
  process.exit(report.verdict === 'held' ? 0 : 1);
} catch (error) {
  if (!stop.signal.aborted) {
    process.stderr.write(
      `The torture itself failed: ${String((error as Error).stack)}\nThe data is kept: ${folder}\n`,
    );
    await clear(true);
    process.exit(3);
  }
}
