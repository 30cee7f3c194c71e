/**
 * Which entries an archive may hold. Pure: it sees names, types and sizes, never the disk, so that inspecting a push
 * and unpacking for a run refuse exactly the same archives.
 *
 * What must stay true: an archive accepted here can be written below a folder without a single write or read leaving
 * that folder. Files never lie below a link, links are made after all files, and every link is resolved over the
 * whole set of links before it is accepted.
 */
export const ARCHIVE_LIMITS = {
  /** Folders that are there only because something lies in them count beside the entries, up to as many again. */
  entries: 20_000,
  unpackedBytes: 2 * 1024 ** 3,
  manifestBytes: 1024 ** 2,
  /** Of a whole path, and of what a link says. Every system takes them; what is longer takes the square of the time. */
  pathBytes: 1024,
  /** Of one part of a path: what file systems take. */
  nameBytes: 255,
  levels: 64,
} as const;

/** The archive cannot be accepted; the message is a sentence that names the entry. */
export class InvalidArchiveError extends Error {
  override name = 'InvalidArchiveError';
}

type EntryKind = 'file' | 'directory' | 'symlink' | 'hardlink';

export interface ArchiveEntry {
  /** Normalised: no leading `./`, no empty parts. */
  path: string;
  kind: EntryKind;
  size: number;
  executable: boolean;
  /** symlink: its target as written; hardlink: the normalised path of an earlier file. */
  target?: string;
}

/** What tar-stream says about an entry, as far as it is looked at. */
export interface TarHeader {
  name: string;
  type?: string | null;
  size?: number;
  mode?: number;
  linkname?: string | null;
}

const MAX_LINK_STEPS = 40;
/** Of all links together: an archive of links through links through links takes minutes to look at. */
const STEPS_MAX = 200_000;
const DEVICES = new Set(['character-device', 'block-device', 'fifo']);

/** Feed every header through accept, in order, then call finish once. */
export class ArchiveValidator {
  readonly entries = new Map<string, ArchiveEntry>();
  /** Folders that exist because something lies in them. */
  readonly #folders = new Set<string>();
  #entryCount = 0;
  #bytes = 0;
  #steps = 0;
  readonly #fold: (path: string) => string;

  /** @param foldCase for file systems where `A` and `a`, composed and decomposed, are one name (macOS). */
  constructor(foldCase = process.platform === 'darwin') {
    this.#fold = foldCase ? (path) => path.normalize('NFC').toLowerCase() : (path) => path;
  }

  get count(): number {
    return this.#entryCount;
  }

  get unpackedBytes(): number {
    return this.#bytes;
  }

  /** Returns the entry to unpack, or undefined for the root itself. Throws ArchiveRefused. */
  accept(header: TarHeader): ArchiveEntry | undefined {
    this.#entryCount += 1;
    if (this.#entryCount > ARCHIVE_LIMITS.entries) {
      throw new InvalidArchiveError(`The archive has more than ${ARCHIVE_LIMITS.entries} entries.`);
    }
    const path = normalizeRelativePath(header.name);
    const kind = kindOf(header);
    if (path === '') {
      if (kind === 'directory') return undefined;
      throw new InvalidArchiveError(`The archive entry "${truncateName(header.name)}" names no file.`);
    }
    const entry: ArchiveEntry = {
      path,
      kind,
      size: kind === 'file' ? (header.size ?? 0) : 0,
      executable: ((header.mode ?? 0) & 0o111) !== 0,
    };
    this.#checkPlace(entry);
    if (kind === 'symlink') entry.target = this.#symlinkTarget(entry, header.linkname ?? '');
    if (kind === 'hardlink') this.#followHardLink(entry, header.linkname ?? '');
    this.#bytes += entry.size;
    if (this.#bytes > ARCHIVE_LIMITS.unpackedBytes) {
      throw new InvalidArchiveError(
        `The archive unpacks to more than ${ARCHIVE_LIMITS.unpackedBytes} bytes; "${path}" is the entry that goes beyond.`,
      );
    }
    this.entries.set(this.#fold(path), entry);
    return entry;
  }

  /** Checks what only the whole set can tell: where every link leads. */
  finish(): void {
    for (const entry of this.entries.values()) {
      if (entry.kind === 'symlink') this.#resolve(entry);
    }
  }

  #checkPlace(entry: ArchiveEntry): void {
    const key = this.#fold(entry.path);
    if (entry.kind !== 'directory' && this.#folders.has(key)) {
      throw new InvalidArchiveError(`The archive has "${entry.path}" as a folder and as something else.`);
    }
    for (const parent of listParentPaths(entry.path)) {
      const above = this.entries.get(this.#fold(parent));
      if (above !== undefined && above.kind !== 'directory') {
        const what = above.kind === 'symlink' ? 'a link' : 'a file';
        throw new InvalidArchiveError(
          `The archive entry "${entry.path}" lies below "${parent}", which is ${what}.`,
        );
      }
      this.#folders.add(this.#fold(parent));
    }
    if (this.#folders.size > ARCHIVE_LIMITS.entries)
      throw new InvalidArchiveError(`The archive has more than ${ARCHIVE_LIMITS.entries} folders.`);
    const before = this.entries.get(key);
    if (before === undefined) return;
    const both = new Set([before.kind, entry.kind]);
    if (both.has('symlink') || both.has('hardlink')) {
      throw new InvalidArchiveError(`The archive has "${entry.path}" twice, and one of the two is a link.`);
    }
    if (before.kind !== entry.kind) {
      throw new InvalidArchiveError(`The archive has "${entry.path}" as a folder and as something else.`);
    }
  }

  #symlinkTarget(entry: ArchiveEntry, target: string): string {
    if (target === '' || target.startsWith('/')) throw leaves(entry.path, target);
    if (target.includes('\0') || Buffer.byteLength(target) > ARCHIVE_LIMITS.pathBytes)
      throw new InvalidArchiveError(
        `The archive entry "${entry.path}" is a link to "${truncateName(target)}", which is no path that a system takes.`,
      );
    return target;
  }

  #followHardLink(entry: ArchiveEntry, target: string): void {
    let path: string;
    try {
      path = normalizeRelativePath(target);
    } catch {
      throw leaves(entry.path, target);
    }
    const source = this.entries.get(this.#fold(path));
    if (source === undefined || (source.kind !== 'file' && source.kind !== 'hardlink')) {
      throw new InvalidArchiveError(
        `The archive entry "${entry.path}" is a hard link to "${truncateName(target)}", which is no earlier file of the archive.`,
      );
    }
    entry.target = source.path;
    entry.size = source.size;
    entry.executable = source.executable;
  }

  /** Walks a link part by part as the kernel would, following other links, and refuses the first step above the root. */
  #resolve(link: ArchiveEntry): void {
    const at = listParentPaths(link.path).at(-1)?.split('/') ?? [];
    const rest = (link.target ?? '').split('/');
    let steps = 0;
    while (rest.length > 0) {
      const part = rest.shift();
      if (part === undefined || part === '' || part === '.') continue;
      if (part === '..') {
        if (at.length === 0) throw leaves(link.path, link.target ?? '');
        at.pop();
        continue;
      }
      at.push(part);
      this.#steps += 1;
      if (at.length > ARCHIVE_LIMITS.levels || this.#steps > STEPS_MAX)
        throw new InvalidArchiveError(`The archive entry "${link.path}" is a link whose way is too long.`);
      const here = this.entries.get(this.#fold(at.join('/')));
      if (here?.kind === 'symlink') {
        steps += 1;
        if (steps > MAX_LINK_STEPS) {
          throw new InvalidArchiveError(`The archive entry "${link.path}" is a link that never ends.`);
        }
        at.pop();
        rest.unshift(...(here.target ?? '').split('/'));
      }
    }
  }
}

/** The path without `.` and empty parts. Throws ArchiveRefused for one that is absolute, has `..`, or is too long. */
export function normalizeRelativePath(name: string): string {
  if (name.startsWith('/'))
    throw new InvalidArchiveError(`The archive entry "${truncateName(name)}" has an absolute path.`);
  if (name.includes('\0'))
    throw new InvalidArchiveError(`The archive entry "${truncateName(name)}" has a zero byte in its name.`);
  if (Buffer.byteLength(name) > ARCHIVE_LIMITS.pathBytes)
    throw new InvalidArchiveError(
      `The archive entry "${truncateName(name)}" has a path of more than ${ARCHIVE_LIMITS.pathBytes} bytes.`,
    );
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) {
    throw new InvalidArchiveError(
      `The archive entry "${truncateName(name)}" has ".." in its path; entries must stay below the root.`,
    );
  }
  if (parts.length > ARCHIVE_LIMITS.levels)
    throw new InvalidArchiveError(
      `The archive entry "${truncateName(name)}" lies more than ${ARCHIVE_LIMITS.levels} levels deep.`,
    );
  if (parts.some((part) => Buffer.byteLength(part) > ARCHIVE_LIMITS.nameBytes))
    throw new InvalidArchiveError(
      `The archive entry "${truncateName(name)}" has a name of more than ${ARCHIVE_LIMITS.nameBytes} bytes.`,
    );
  return parts.join('/');
}

/** A name as a sentence shows it. */
export function truncateName(name: string): string {
  return name.length > SHOWN_CHARS_MAX ? `${name.slice(0, SHOWN_CHARS_MAX).toWellFormed()}…` : name;
}

const SHOWN_CHARS_MAX = 200;

/** "a/b/c" → ["a", "a/b"]. */
export function listParentPaths(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function kindOf(header: TarHeader): EntryKind {
  const type = header.type === undefined ? 'file' : header.type;
  if (type === 'file' || type === 'contiguous-file') return header.name.endsWith('/') ? 'directory' : 'file';
  if (type === 'directory') return 'directory';
  if (type === 'symlink') return 'symlink';
  if (type === 'link') return 'hardlink';
  if (type !== null && DEVICES.has(type))
    throw new InvalidArchiveError(
      `The archive entry "${truncateName(header.name)}" is a device or pipe (${type}).`,
    );
  throw new InvalidArchiveError(
    `The archive entry "${truncateName(header.name)}" has a type that is neither file, folder nor link.`,
  );
}

function leaves(path: string, target: string): InvalidArchiveError {
  return new InvalidArchiveError(
    `The archive entry "${path}" is a link to "${truncateName(target)}", which leads out of the archive.`,
  );
}
