/**
 * Entry point of the launcher: a small process that starts every app, so that the server's own process never forks. It
 * ends every app that it has started when the server ends.
 *
 * Invariants: an app is in `#runs` from before its start until its last process has ended. When the channel to the
 * runner closes, the launcher kills every process of every app before it exits. Signals of the server's terminal do not
 * end it.
 */
import { closeSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { type ExecutableIndex, parseExecutableIndex } from '../archive/executable-index.ts';
import { measureFolders } from '../filesystem/folder-usage.ts';
import { removeTree } from '../filesystem/remove-tree.ts';
import { DiskPool, type RunDisk } from '../filesystem/run-disks.ts';
import { resolveRunFolder } from '../filesystem/run-folder.ts';
import { listMemoryScopes } from '../host/memory-scopes.ts';
import { getErrorMessage, isErrno } from '../process/errors.ts';
import { isHostFault } from '../process/host-faults.ts';
import { CoreAllocator } from '../sandbox/core-allocator.ts';
import type { Confinement, LaunchPlan } from '../sandbox/launch-plan.ts';
import { removeCgroupParents } from '../sandbox/run-cgroups.ts';
import { AppRun } from './app-run.ts';
import { MemoryGuard } from './memory-guard.ts';
import type { LauncherMessage, LauncherRequest } from './protocol.ts';
import { FILE_BLOCK_BYTES } from './spawn-app.ts';
import { SAMPLE_INTERVAL_MS } from './watchdog.ts';

/** The index of an executable with tens of thousands of files takes longer to read than an app to start. */
const MAX_CACHED_INDEXES = 64;

/** `O_CLOEXEC` as `/proc/self/fdinfo` shows it: the same on every architecture that Node supports. */
const CLOSE_ON_EXEC_FLAG = 0o2000000;

class Launcher {
  readonly #confinement: Confinement;
  readonly #runs = new Map<string, AppRun>();
  readonly #pool: DiskPool | undefined;
  /** By folder of the run. */
  readonly #disks = new Map<string, RunDisk>();
  /** By folder of the executable. */
  readonly #indexes = new LRUCache<string, ExecutableIndex>({ max: MAX_CACHED_INDEXES });
  readonly #cores = new CoreAllocator();
  readonly #guard: MemoryGuard;
  #sampling: NodeJS.Timeout | undefined;

  constructor(confinement: Confinement) {
    this.#confinement = confinement;
    this.#pool = confinement.disks === undefined ? undefined : new DiskPool(confinement.disks);
    this.#guard = new MemoryGuard(listMemoryScopes(confinement.reservedMemoryBytes));
  }

  handle(request: LauncherRequest): void {
    if (request.type === 'start') void this.#start(request.plan, request.user);
    if (request.type === 'cancel') this.#runs.get(request.key)?.cancel();
    if (request.type === 'kill') void this.#killAll();
    if (request.type === 'remove') void this.#remove(request.request, request.folder);
  }

  /** Kills every app and removes the cgroups; resolves when no process of an app lives. */
  async close(): Promise<void> {
    clearInterval(this.#sampling);
    await this.#killAll();
    // The runner removes the cgroups too when it closes in order; a second removal has no effect.
    if (this.#confinement.cgroup !== undefined) await removeCgroupParents(this.#confinement.cgroup);
  }

  async #killAll(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.killAll()));
  }

  async #start(plan: LaunchPlan, user: number | undefined): Promise<void> {
    const run = new AppRun({
      confinement: this.#confinement,
      plan,
      user,
      cores: this.#cores,
      events: {
        started: (info) => send({ type: 'started', key: plan.key, ...info }),
        used: (usage) => send({ type: 'usage', key: plan.key, usage }),
        ended: (report) => {
          this.#runs.delete(plan.key);
          if (this.#runs.size === 0) {
            clearInterval(this.#sampling);
            this.#sampling = undefined;
          }
          send({ type: 'ended', key: plan.key, report });
        },
      },
    });
    this.#runs.set(plan.key, run);
    this.#sampling ??= setInterval(() => this.#sample(), SAMPLE_INTERVAL_MS);
    if (this.#pool !== undefined) {
      try {
        run.useDisk(await this.#prepareDisk(plan, this.#pool));
      } catch (error) {
        if (isHostFault(error) && !isErrno(error, 'ENOSPC')) {
          run.failToStart(error);
          return;
        }
        // A container may have few loop devices and never more. A full host fails again without a disk, with a clear error.
        const message = `${getErrorMessage(error)} A watchdog enforces the disk limit of this run.`;
        send({
          type: 'diagnostic',
          diagnostic: { level: 'warn', event: 'no-disk', message, runKey: plan.key },
        });
      }
    }
    run.start(() => this.#readIndex(plan.executableFolder));
  }

  /** Leases a disk with space for the executable, the input and the app's own files, and copies the input to it. */
  async #prepareDisk(plan: LaunchPlan, pool: DiskPool): Promise<RunDisk> {
    const { input } = resolveRunFolder(plan.folder);
    const { entries, unpackedBytes } = this.#readIndex(plan.executableFolder);
    const inputs = measureFolders([input], { bytes: Infinity, entries: Infinity });
    const files = entries.length + inputs.entries;
    const bytes = unpackedBytes + inputs.bytes + files * FILE_BLOCK_BYTES;
    const disk = await pool.lease(plan.limits.fileBytes + bytes, plan.limits.files + files);
    this.#disks.set(plan.folder, disk);
    const folderOnDisk = resolveRunFolder(plan.folder, join(disk.path, 'run'));
    mkdirSync(join(disk.path, 'run'), { mode: 0o711 });
    if (existsSync(input)) await cp(input, folderOnDisk.input, { recursive: true, verbatimSymlinks: true });
    return disk;
  }

  #sample(): void {
    const now = performance.now();
    this.#guard.sample(now, this.#runs.values());
    for (const [key, run] of this.#runs) {
      try {
        run.sample(now);
      } catch (error) {
        // An error on one run must not end the launcher, and with it all others.
        const message = `The limits of a run could not be checked: ${getErrorMessage(error)}`;
        send({
          type: 'diagnostic',
          diagnostic: { level: 'warn', event: 'sample-failed', message, runKey: key },
        });
      }
    }
  }

  #readIndex(folder: string): ExecutableIndex {
    const cached = this.#indexes.get(folder);
    if (cached !== undefined) return cached;
    const index = parseExecutableIndex(readFileSync(join(folder, 'index.json'), 'utf8'));
    this.#indexes.set(folder, index);
    return index;
  }

  async #remove(request: number, folder: string): Promise<void> {
    try {
      const disk = this.#disks.get(folder);
      this.#disks.delete(folder);
      await removeTree(folder).finally(() => disk && this.#pool?.release(disk));
      send({ type: 'removed', request });
    } catch (error) {
      send({ type: 'removed', request, error: getErrorMessage(error) });
    }
  }
}

/** Does nothing when the runner is gone. */
function send(message: LauncherMessage): void {
  if (process.connected) process.send?.(message, () => undefined);
}

// Every file gets its mode where it is created; the start script sets the app's own umask.
process.umask(0);
closeInheritedDescriptors();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);

// Its parent is a process of the same release. A library that checks schemas would take longer to load than an app to start.
const confinement: unknown = JSON.parse(process.argv[2] ?? '{}');
const launcher = new Launcher(confinement as Confinement);
process.on('message', (request: LauncherRequest) => launcher.handle(request));
process.on('disconnect', () => void launcher.close().finally(() => process.exit(0)));
send({ type: 'ready' });

/**
 * Closes every descriptor above stderr that a child process would inherit. Node sets close-on-exec on its own.
 * Without /proc it does nothing: on macOS Node passes on only the descriptors that it names. Every child process
 * inherits them too, sandboxed apps included, and an open folder leads out of any sandbox. The server keeps its own,
 * because somebody may hold a lock through them; the launcher, which starts all apps, does not need them.
 */
function closeInheritedDescriptors(): void {
  if (process.platform !== 'linux') return;
  for (const name of readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    if (fd > 2 && isInherited(fd)) closeSync(fd);
  }
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC_FLAG) === 0;
  } catch {
    // The descriptor of the directory listing, which is closed by now.
    return false;
  }
}
