/**
 * The cache of unpacked executables: `executables/<hash>/root/…` with an `index.json` beside it.
 *
 * What must stay true: a folder named by a hash is complete and never changes (it is unpacked under another name and
 * renamed once whole). Two processes may unpack the same hash; the first rename wins. What a run uses is not dropped.
 * After a restart of the machine the cache is not trusted, because a rename can outlive the bytes it named.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../process/errors.ts';
import type { RunSpec } from '../types.ts';
import { unpackArchive } from './archive.ts';
import { type ArchiveEntry, InvalidArchiveError } from './archive-rules.ts';

/** What `index.json` holds. */
export interface ExecutableIndex {
  entries: ArchiveEntry[];
  unpackedBytes: number;
  /** Paths that a sandbox binds read-only instead of copying: dependency folders and large programs. */
  shared: string[];
}

/** Parts of `compiled/` in the folder of the executable that a sandbox mounts read-only. */
export interface CompiledPlan {
  /** Paths that are bound from `compiled/root/` and not from `root/`. */
  shared: string[];
  /** How Node names its cache in `compiled/node/`, but for the user's id that it appends. */
  nodeVersion?: string;
}

/** Content of `compiled/index.json`, which launcher/executable-compiler.ts writes. */
export interface CompiledIndex extends CompiledPlan {
  /** For which runtime. */
  runtime: string;
  bytes: number;
}

export async function readCompiledIndex(folder: string): Promise<CompiledIndex | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, 'compiled', 'index.json'), 'utf8')) as CompiledIndex;
  } catch {
    return undefined;
  }
}

export interface CachedExecutable {
  folder: string;
  index: ExecutableIndex;
  entriesByPath: Map<string, ArchiveEntry>;
  /** The caller no longer needs the folder. */
  release(): void;
  /** Something was laid beside the executable, which the limit of the cache counts too. */
  addBytes(bytes: number): void;
}

interface Slot {
  folder: string;
  index: ExecutableIndex;
  byPath: Map<string, ArchiveEntry>;
  bytes: number;
  lastUsed: number;
  users: number;
}

const LARGE_PROGRAM_BYTES = 1024 ** 2;
const DEPENDENCY_FOLDERS = ['.nextmv/python/deps', 'node_modules'];

export class ExecutableCache {
  readonly #root: string;
  readonly #limitBytes: number;
  readonly #slots = new Map<string, Promise<Slot>>();

  constructor(root: string, limitBytes: number) {
    this.#root = root;
    this.#limitBytes = limitBytes;
  }

  /** Removes half-made folders, and everything when the machine was started anew since. */
  async open(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    const boot = await bootId();
    const noted = await readFile(join(this.#root, 'boot'), 'utf8').catch(() => '');
    for (const name of await readdir(this.#root)) {
      const whole = /^[0-9a-f]{64}$/.test(name);
      if (name !== 'boot' && (!whole || boot !== noted)) {
        await rm(join(this.#root, name), { recursive: true, force: true });
      }
    }
    if (boot !== noted) await writeFile(join(this.#root, 'boot'), boot);
    for (const name of await readdir(this.#root)) {
      if (name !== 'boot') this.#slots.set(name, this.#load(name));
    }
    for (const [name, slot] of this.#slots) {
      slot.catch(() => this.#slots.delete(name));
    }
    await Promise.allSettled(this.#slots.values());
  }

  /** Unpacks on a miss. Throws ArchiveRefused when the archive is not fit or not the one the hash names. */
  async acquire(executable: RunSpec['executable']): Promise<CachedExecutable> {
    if (!/^[0-9a-f]{64}$/.test(executable.hash)) {
      throw new InvalidArchiveError(
        `"${executable.hash}" is not the SHA-256 of an executable (64 hex digits).`,
      );
    }
    let pending = this.#slots.get(executable.hash);
    if (pending === undefined) {
      pending = this.#unpack(executable);
      this.#slots.set(executable.hash, pending);
      pending.then(
        () => this.#makeRoom(),
        () => this.#slots.delete(executable.hash),
      );
    }
    const slot = await pending;
    // Dropped between our looking and our taking it: start over.
    if (this.#slots.get(executable.hash) !== pending) return await this.acquire(executable);
    slot.users += 1;
    slot.lastUsed = Date.now();
    let held = true;
    const release = (): void => {
      if (held) slot.users -= 1;
      held = false;
    };
    const grew = (bytes: number): void => {
      slot.bytes += bytes;
      this.#makeRoom();
    };
    return { folder: slot.folder, index: slot.index, entriesByPath: slot.byPath, release, addBytes: grew };
  }

  async #load(hash: string): Promise<Slot> {
    const folder = join(this.#root, hash);
    const index: ExecutableIndex = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8'));
    const { mtimeMs } = await stat(join(folder, 'index.json'));
    const bytes = index.unpackedBytes + ((await readCompiledIndex(folder))?.bytes ?? 0);
    return { folder, index, byPath: byPath(index), bytes, lastUsed: mtimeMs, users: 0 };
  }

  async #unpack(executable: RunSpec['executable']): Promise<Slot> {
    const draft = join(this.#root, `draft-${randomUUID()}`);
    const folder = join(this.#root, executable.hash);
    try {
      await mkdir(join(draft, 'root'), { recursive: true });
      const { hash, entries, unpackedBytes } = await unpackArchive(
        await executable.open(),
        join(draft, 'root'),
      );
      if (hash !== executable.hash) {
        throw new InvalidArchiveError(
          `The executable's bytes have the SHA-256 ${hash}, not ${executable.hash}.`,
        );
      }
      const index: ExecutableIndex = { entries, unpackedBytes, shared: sharedPaths(entries) };
      await writeFile(join(draft, 'index.json'), JSON.stringify(index));
      await rename(draft, folder).catch((error: unknown) => {
        if (!isErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error;
      });
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    return await this.#load(executable.hash);
  }

  /** What cannot be dropped now stays on the disk until the next start. */
  #makeRoom(): void {
    this.#shrink().catch(() => undefined);
  }

  /** Drops what was used longest ago until the rest fits; what is in use stays whatever its size. */
  async #shrink(): Promise<void> {
    const settled = await Promise.allSettled([...this.#slots.values()]);
    const slots = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    slots.sort((a, b) => b.lastUsed - a.lastUsed);
    let sum = 0;
    for (const [place, slot] of slots.entries()) {
      sum += slot.bytes;
      const hash = slot.folder.slice(this.#root.length + 1);
      if (sum <= this.#limitBytes || slot.users > 0 || place === 0) {
        const now = new Date(slot.lastUsed);
        await utimes(join(slot.folder, 'index.json'), now, now).catch(() => undefined);
        continue;
      }
      this.#slots.delete(hash);
      const gone = join(this.#root, `draft-${randomUUID()}`);
      await rename(slot.folder, gone);
      await rm(gone, { recursive: true, force: true });
    }
  }
}

function byPath(index: ExecutableIndex): Map<string, ArchiveEntry> {
  return new Map(index.entries.map((entry) => [entry.path, entry]));
}

function sharedPaths(entries: ArchiveEntry[]): string[] {
  const folders = DEPENDENCY_FOLDERS.filter((folder) =>
    entries.some((entry) => entry.path.startsWith(`${folder}/`)),
  );
  const programs = entries
    .filter((entry) => entry.kind === 'file' && entry.executable && entry.size >= LARGE_PROGRAM_BYTES)
    .map((entry) => entry.path)
    .filter((path) => !folders.some((folder) => path.startsWith(`${folder}/`)));
  return [...folders, ...programs.slice(0, 8)];
}

async function bootId(): Promise<string> {
  return await readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
}
