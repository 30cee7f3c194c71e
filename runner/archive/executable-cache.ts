/**
 * The cache of unpacked executables: `executables/<hash>/root/…` with an `index.json` beside it.
 *
 * Invariants: a folder with a hash as its name is complete and never changes (it is unpacked under another name and
 * renamed once complete). When two processes unpack the same hash, the first rename wins. An executable in use is not
 * evicted. After a restart of the machine the cache is discarded, because a rename can survive the bytes of its files.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { isErrno } from '../process/errors.ts';
import type { RunSpec } from '../types.ts';
import { unpackArchive } from './archive.ts';
import { type ArchiveEntry, InvalidArchiveError } from './archive-rules.ts';
import { type CompiledIndex, type ExecutableIndex, parseExecutableIndex } from './executable-index.ts';

/** Reads `compiled/index.json` of an executable; undefined when it is missing or unreadable. */
export async function readCompiledIndex(folder: string): Promise<CompiledIndex | undefined> {
  try {
    const index: unknown = JSON.parse(await readFile(join(folder, 'compiled', 'index.json'), 'utf8'));
    return isCompiledIndex(index) ? index : undefined;
  } catch {
    return undefined;
  }
}

function isCompiledIndex(value: unknown): value is CompiledIndex {
  return (
    isRecord(value) &&
    Array.isArray(value.shared) &&
    typeof value.runtime === 'string' &&
    typeof value.bytes === 'number'
  );
}

/** An unpacked executable that its holder keeps in the cache until release. */
export interface CachedExecutable {
  folder: string;
  index: ExecutableIndex;
  entriesByPath: Map<string, ArchiveEntry>;
  /** Results of the checks of programs, by path: an executable never changes, so one check serves all its runs. */
  programChecks: Map<string, Promise<void>>;
  /** Allows the cache to evict the executable once it has no holder. */
  release(): void;
  /** Adds the size of further files in the folder to the size of the cache. */
  addBytes(bytes: number): void;
}

interface CacheEntry {
  folder: string;
  index: ExecutableIndex;
  entriesByPath: Map<string, ArchiveEntry>;
  programChecks: Map<string, Promise<void>>;
  bytes: number;
  lastUsedAt: number;
  holders: number;
}

/** Executable files of at least this size are shared between runs instead of copied. */
const LARGE_PROGRAM_BYTES = 1024 ** 2;
const MAX_SHARED_PROGRAMS = 8;
const DEPENDENCY_FOLDERS = ['.nextmv/python/deps', 'node_modules'];

/** Unpacks executables and evicts the least recently used ones beyond a size. */
export class ExecutableCache {
  readonly #root: string;
  readonly #limitBytes: number;
  readonly #entries = new Map<string, Promise<CacheEntry>>();

  /** @param root folder of the cache. */
  constructor(root: string, limitBytes: number) {
    this.#root = root;
    this.#limitBytes = limitBytes;
  }

  /** Loads the cache from the disk. Removes incomplete folders, and all folders after a restart of the machine. */
  async open(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    const bootId = await readBootId();
    const storedBootId = await readFile(join(this.#root, 'boot'), 'utf8').catch(() => '');
    for (const name of await readdir(this.#root)) {
      const isComplete = /^[0-9a-f]{64}$/.test(name);
      if (name !== 'boot' && (!isComplete || bootId !== storedBootId)) {
        await rm(join(this.#root, name), { recursive: true, force: true });
      }
    }
    if (bootId !== storedBootId) await writeFile(join(this.#root, 'boot'), bootId);
    for (const name of await readdir(this.#root)) {
      if (name !== 'boot') this.#entries.set(name, this.#load(name));
    }
    for (const [name, entry] of this.#entries) {
      entry.catch(() => this.#entries.delete(name));
    }
    await Promise.allSettled(this.#entries.values());
  }

  /** Returns an executable, unpacked on a miss. Throws InvalidArchiveError for a bad archive or a different hash. */
  async acquire(executable: RunSpec['executable']): Promise<CachedExecutable> {
    if (!/^[0-9a-f]{64}$/.test(executable.hash)) {
      throw new InvalidArchiveError(
        `"${executable.hash}" is not the SHA-256 of an executable (64 hex digits).`,
      );
    }
    let pending = this.#entries.get(executable.hash);
    if (pending === undefined) {
      pending = this.#unpack(executable);
      this.#entries.set(executable.hash, pending);
      pending.then(
        () => this.#evictInBackground(),
        () => this.#entries.delete(executable.hash),
      );
    }
    const entry = await pending;
    // The entry was evicted during the wait: start over.
    if (this.#entries.get(executable.hash) !== pending) return await this.acquire(executable);
    entry.holders += 1;
    entry.lastUsedAt = Date.now();
    let isHeld = true;
    const release = (): void => {
      if (isHeld) entry.holders -= 1;
      isHeld = false;
    };
    const addBytes = (bytes: number): void => {
      entry.bytes += bytes;
      this.#evictInBackground();
    };
    const { folder, index, entriesByPath, programChecks } = entry;
    return { folder, index, entriesByPath, programChecks, release, addBytes };
  }

  async #load(hash: string): Promise<CacheEntry> {
    const folder = join(this.#root, hash);
    const index = parseExecutableIndex(await readFile(join(folder, 'index.json'), 'utf8'));
    const { mtimeMs } = await stat(join(folder, 'index.json'));
    const bytes = index.unpackedBytes + ((await readCompiledIndex(folder))?.bytes ?? 0);
    const entriesByPath = new Map(index.entries.map((entry) => [entry.path, entry]));
    return { folder, index, entriesByPath, programChecks: new Map(), bytes, lastUsedAt: mtimeMs, holders: 0 };
  }

  async #unpack(executable: RunSpec['executable']): Promise<CacheEntry> {
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
      const index: ExecutableIndex = { entries, unpackedBytes, shared: selectSharedPaths(entries) };
      await writeFile(join(draft, 'index.json'), JSON.stringify(index));
      await rename(draft, folder).catch((error: unknown) => {
        if (!isErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error;
      });
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    return await this.#load(executable.hash);
  }

  /** A folder that cannot be removed now stays on the disk until the next start. */
  #evictInBackground(): void {
    this.#evict().catch(() => undefined);
  }

  /** Evicts the least recently used entries until the rest fits; entries in use stay, whatever their size. */
  async #evict(): Promise<void> {
    const loaded = await Promise.allSettled([...this.#entries.values()]);
    const entries = loaded.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    entries.sort((a, b) => b.lastUsedAt - a.lastUsedAt);
    let sum = 0;
    for (const [index, entry] of entries.entries()) {
      sum += entry.bytes;
      const hash = entry.folder.slice(this.#root.length + 1);
      if (sum <= this.#limitBytes || entry.holders > 0 || index === 0) {
        const usedAt = new Date(entry.lastUsedAt);
        await utimes(join(entry.folder, 'index.json'), usedAt, usedAt).catch(() => undefined);
        continue;
      }
      this.#entries.delete(hash);
      const evicted = join(this.#root, `draft-${randomUUID()}`);
      await rename(entry.folder, evicted);
      await rm(evicted, { recursive: true, force: true });
    }
  }
}

/** Dependency folders, and large programs outside of them: the parts that take longest to copy. */
function selectSharedPaths(entries: ArchiveEntry[]): string[] {
  const folders = DEPENDENCY_FOLDERS.filter((folder) =>
    entries.some((entry) => entry.path.startsWith(`${folder}/`)),
  );
  const programs = entries
    .filter((entry) => entry.kind === 'file' && entry.executable && entry.size >= LARGE_PROGRAM_BYTES)
    .map((entry) => entry.path)
    .filter((path) => !folders.some((folder) => path.startsWith(`${folder}/`)));
  return [...folders, ...programs.slice(0, MAX_SHARED_PROGRAMS)];
}

/** Returns the id of the current boot; '' where the kernel has none. */
async function readBootId(): Promise<string> {
  return await readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
}
