/**
 * Runs the chaos test on a Switchyard of its own for some minutes, and reports whether every promise held.
 *
 *   node chaos/main.ts [--minutes 10] [--every 3] [--database sqlite|postgres] [--seed 1]
 *     [--only text] [--clients 12] [--json] [--keep] [--quiet]
 *
 * It kills server, launcher, workers, apps and database at random moments, fills or slows the disk and moves the clock,
 * under a load of runs, cancels, experiments and webhooks. The exit code is 1 if a promise was broken, and 3 if the chaos
 * test itself failed, for example because the code changed. In both cases it keeps the data and the log. It ends every
 * process that it starts, and removes every mount.
 */
import { chmodSync, cpSync, createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildDiskFaults } from '../server/testing/host/disk-faults.ts';
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
    '--minutes and --every must be numbers above 0, and --database must be sqlite or postgres.\n',
  );
  process.exit(2);
}

const mountProblem = await enterMountNamespace();
const code = new CodeSnapshot(join(import.meta.dirname, '..'));
const seed = values.seed ?? String(Math.floor(Math.random() * 1e9));
const folder = mkdtempSync(join(tmpdir(), 'switchyard-chaos-'));
// PostgreSQL does not run as root; its user must be able to traverse this folder.
chmodSync(folder, 0o711);
const logPath = join(folder, 'log');
const log = createWriteStream(logPath);
const disk = mountProblem === '' ? mountDisk(join(folder, 'disk')) : null;
const memoryGroup = createMemoryGroup(basename(folder));
const memory = typeof memoryGroup === 'string' ? null : memoryGroup;
const failing = buildDiskFaults(folder);
const failingDisk = 'env' in failing ? failing : null;
const dataFolder = join(folder, 'disk');
if (!disk) mkdirSync(dataFolder);
const reportProgress = (message: string): void => {
  const line = `${new Date().toISOString()} ${message}\n`;
  log.write(line);
  if (!values.quiet) process.stderr.write(line);
};
const cluster = new Cluster({
  folder: dataFolder,
  database,
  disk,
  failingDisk,
  memory,
  code,
  onLog: (line) => log.write(`${line}\n`),
});

/** Ends every process and unmounts the disk; with `keep`, copies the data into the folder. */
async function cleanUp(keep: boolean): Promise<void> {
  // `pause` does not keep the event loop alive, and after a failed run nothing else does.
  const alive = setInterval(() => undefined, 1000);
  await cluster.close();
  // Launchers outlive a killed server for a moment.
  for (let attempts = 0; memory && !memory.remove() && attempts < 100; attempts += 1) await sleep(50);
  if (keep && disk) cpSync(dataFolder, join(folder, 'data'), { recursive: true, filter: isFile });
  disk?.unmount();
  await new Promise<void>((resolve) => log.end(resolve));
  clearInterval(alive);
  if (!keep) rmSync(folder, { recursive: true, force: true });
  else if (disk) rmSync(dataFolder, { recursive: true, force: true });
}

function isFile(path: string): boolean {
  return !path.endsWith('.sock');
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, () => {
    if (stop.signal.aborted) return;
    stop.abort();
    void cleanUp(values.keep).then(() => process.exit(130));
  });

try {
  const result = await runChaosTest(cluster, {
    minutes,
    faultIntervalSeconds: everySeconds,
    seed,
    only: values.only,
    clients: Math.max(1, Number(values.clients)),
    onProgress: reportProgress,
    signal: stop.signal,
  });
  const mustKeep = values.keep || result.outcome === 'broken';
  const report: Report = {
    ...result,
    unavailable: {
      ...(disk ? {} : { 'the disk was full': `this host does not allow mounts: ${mountProblem}` }),
      ...('problem' in failing ? { 'writes of the SQLite log failed': failing.problem } : {}),
      ...(typeof memoryGroup === 'string' ? { 'an app used all memory': memoryGroup } : {}),
    },
    folder: mustKeep ? folder : null,
  };
  if (mustKeep) writeFileSync(join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  await cleanUp(mustKeep);
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report));
  process.exit(report.outcome === 'held' ? 0 : 1);
} catch (error) {
  if (!stop.signal.aborted) {
    process.stderr.write(
      `The chaos test failed: ${String((error as Error).stack)}\nThe data is in ${folder}\n`,
    );
    await cleanUp(true);
    process.exit(3);
  }
}
