/**
 * The launcher: a small process that starts every app, so that the server's own process never forks, and that ends
 * every app it has started when the server goes away.
 *
 * What must stay true: an app is in `runs` from before its start until nothing of it lives; when the channel to the
 * runner closes, every app is killed to the last process and only then does the launcher leave. Signals meant for the
 * server's terminal do not end it.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutableIndex } from '../archive/executable-cache.ts';
import { measureFolders } from '../filesystem/folder-usage.ts';
import { removeTree } from '../filesystem/remove-tree.ts';
import { DiskPool, type RunDisk } from '../filesystem/run-disks.ts';
import { resolveRunFolder } from '../filesystem/run-folder.ts';
import { listMemoryScopes } from '../host/memory-scopes.ts';
import { getErrorMessage, isErrno } from '../process/errors.ts';
import { isHostFault } from '../process/host-faults.ts';
import { closeInheritedDescriptors } from '../process/inherited-descriptors.ts';
import type { Confinement, LaunchPlan } from '../sandbox/launch-plan.ts';
import { removeCgroupParents } from '../sandbox/run-cgroups.ts';
import { AppRun, FILE_BLOCK_BYTES } from './app-run.ts';
import { MemoryGuard } from './memory-guard.ts';
import type { LauncherMessage, LauncherRequest } from './protocol.ts';
import { SAMPLE_INTERVAL_MS } from './watchdog.ts';

/** Indexes of executables with tens of thousands of files are not read anew for every run. */
const INDEXES_KEPT = 64;

const confinement: Confinement = JSON.parse(process.argv[2] ?? '{}');
const runs = new Map<string, AppRun>();
const pool = confinement.disks === undefined ? undefined : new DiskPool(confinement.disks);
/** By the folder of the run. */
const disks = new Map<string, RunDisk>();
const indexes = new Map<string, ExecutableIndex>();
const guard = new MemoryGuard(listMemoryScopes(confinement.keepFreeBytes));
let sampling: NodeJS.Timeout | undefined;

// Every mode is said where a file is made; the start script sets the app's own umask.
process.umask(0);
closeInheritedDescriptors();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);

process.on('message', (message: LauncherRequest) => {
  if (message.type === 'start') void start(message.plan);
  if (message.type === 'cancel') runs.get(message.key)?.cancel();
  if (message.type === 'kill') void killAll();
  if (message.type === 'remove') void remove(message.request, message.folder);
});

process.on('disconnect', () => {
  clearInterval(sampling);
  // The runner is gone, or closes the groups itself, to which once more does no harm.
  void killAll()
    .then(() => confinement.cgroup && removeCgroupParents(confinement.cgroup))
    .finally(() => process.exit(0));
});

tell({ type: 'ready' });

async function killAll(): Promise<void> {
  await Promise.all([...runs.values()].map((run) => run.killAll()));
}

async function start(plan: LaunchPlan): Promise<void> {
  const run = new AppRun(confinement, plan, {
    started: (info) => tell({ type: 'started', key: plan.key, ...info }),
    ended: (report) => {
      runs.delete(plan.key);
      if (runs.size === 0) {
        clearInterval(sampling);
        sampling = undefined;
      }
      tell({ type: 'ended', key: plan.key, report });
    },
  });
  runs.set(plan.key, run);
  sampling ??= setInterval(sample, SAMPLE_INTERVAL_MS);
  if (pool !== undefined) {
    try {
      run.useDisk(await diskFor(plan, pool));
    } catch (error) {
      if (isHostFault(error) && !isErrno(error, 'ENOSPC')) {
        run.failToStart(error);
        return;
      }
      // It may never be otherwise, as in a container with few loop devices. A full host says so again, without a disk.
      const message = `${getErrorMessage(error)} A watchdog holds its disk space.`;
      tell({
        type: 'diagnostic',
        diagnostic: { level: 'warn', event: 'no-disk', message, runKey: plan.key },
      });
    }
  }
  run.start(() => indexOf(plan.executableFolder));
}

/** A disk with the input on it, that has room for the executable and for what the app may write. */
async function diskFor(plan: LaunchPlan, from: DiskPool): Promise<RunDisk> {
  const { input } = resolveRunFolder(plan.folder);
  const { entries, unpackedBytes } = indexOf(plan.executableFolder);
  const inputs = measureFolders([input], { bytes: Infinity, entries: Infinity });
  const files = entries.length + inputs.entries;
  const bytes = unpackedBytes + inputs.bytes + files * FILE_BLOCK_BYTES;
  const disk = await from.lease(plan.limits.fileBytes + bytes, plan.limits.files + files);
  disks.set(plan.folder, disk);
  const own = resolveRunFolder(plan.folder, join(disk.path, 'run'));
  mkdirSync(join(disk.path, 'run'), { mode: 0o711 });
  if (existsSync(input)) await cp(input, own.input, { recursive: true, verbatimSymlinks: true });
  return disk;
}

function sample(): void {
  const now = performance.now();
  guard.sample(now, runs.values());
  for (const [key, run] of runs) {
    try {
      run.sample(now);
    } catch (error) {
      // One run that cannot be looked at must not end the launcher, and with it all others.
      const message = `The limits of a run could not be looked at: ${getErrorMessage(error)}`;
      tell({
        type: 'diagnostic',
        diagnostic: { level: 'warn', event: 'sample-failed', message, runKey: key },
      });
    }
  }
}

function indexOf(folder: string): ExecutableIndex {
  const known = indexes.get(folder);
  if (known !== undefined) return known;
  const [oldest] = indexes.keys();
  if (indexes.size >= INDEXES_KEPT && oldest !== undefined) indexes.delete(oldest);
  const index: ExecutableIndex = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
  indexes.set(folder, index);
  return index;
}

async function remove(request: number, folder: string): Promise<void> {
  try {
    const disk = disks.get(folder);
    disks.delete(folder);
    await removeTree(folder).finally(() => disk && pool?.release(disk));
    tell({ type: 'removed', request });
  } catch (error) {
    tell({ type: 'removed', request, error: getErrorMessage(error) });
  }
}

/** The runner may be gone already; then nobody is there to be told. */
function tell(message: LauncherMessage): void {
  if (process.connected) process.send?.(message, () => undefined);
}
