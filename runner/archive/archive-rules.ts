/**
 * Rules for the entries of an archive. Pure: it sees names, types and sizes and never the disk, so that the inspection of
 * a push and the unpacking for a run reject exactly the same archives.
 *
 * Invariant: an accepted archive can be written below a folder, and no write or read leaves that folder. No entry has
 * a link as its parent, links are created after all files, and the target of every link is resolved over the whole set of links.
 */

export const ARCHIVE_LIMITS = {
  /** Folders without an entry of their own, which exist as parents, have a second limit of the same size. */
  entries: 20_000,
  unpackedBytes: 2 * 1024 ** 3,
  manifestBytes: 1024 ** 2,
  /** Limit on a path and on the target of a link: every system accepts it, and resolution is quadratic in the length. */
  pathBytes: 1024,
  /** Limit on one part of a path: that of common file systems. */
  nameBytes: 255,
  levels: 64,
} as const;

/** The archive is rejected; the message names the entry. */
export class InvalidArchiveError extends Error {
  override name = 'InvalidArchiveError';
}

type EntryKind = 'file' | 'directory' | 'symlink' | 'hardlink';

/** One entry of an accepted archive. */
export interface ArchiveEntry {
  /** Normalised: no leading `./`, no empty parts. */
  path: string;
  kind: EntryKind;
  size: number;
  executable: boolean;
  /** symlink: its target as written; hardlink: the normalised path of an earlier file. */
  target?: string;
}

/** The fields of a tar-stream header that the rules use. */
interface TarHeader {
  name: string;
  type?: string | null;
  size?: number;
  mode?: number;
  linkname?: string | null;
}

const MAX_LINK_STEPS = 40;
/** Limit over all links: without it, nested links take minutes to resolve. */
const MAX_TOTAL_LINK_STEPS = 200_000;
const DEVICES = new Set(['character-device', 'block-device', 'fifo']);

/** Validates the entries of one archive: call accept for every header in order, then finish once. */
export class ArchiveValidator {
  readonly entries = new Map<string, ArchiveEntry>();
  /** Folders that exist as parents of an entry. */
  readonly #folders = new Set<string>();
  #entryCount = 0;
  #unpackedBytes = 0;
  #linkSteps = 0;
  readonly #normalizeName: (path: string) => string;

  /** @param foldCase whether the file system treats `A` and `a`, composed and decomposed, as one name (macOS). */
  constructor(foldCase = process.platform === 'darwin') {
    this.#normalizeName = foldCase ? (path) => path.normalize('NFC').toLowerCase() : (path) => path;
  }

  /** Number of accepted headers, the root included. */
  get count(): number {
    return this.#entryCount;
  }

  get unpackedBytes(): number {
    return this.#unpackedBytes;
  }

  /** Returns the entry to unpack; undefined for the root itself. Throws InvalidArchiveError. */
  accept(header: TarHeader): ArchiveEntry | undefined {
    this.#entryCount += 1;
    if (this.#entryCount > ARCHIVE_LIMITS.entries) {
      throw new InvalidArchiveError(`The archive has more than ${ARCHIVE_LIMITS.entries} entries.`);
    }
    const path = normalizeRelativePath(header.name);
    const kind = toEntryKind(header);
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
    this.#checkPath(entry);
    if (kind === 'symlink') entry.target = this.#validateLinkTarget(entry, header.linkname ?? '');
    if (kind === 'hardlink') this.#resolveHardLink(entry, header.linkname ?? '');
    this.#unpackedBytes += entry.size;
    if (this.#unpackedBytes > ARCHIVE_LIMITS.unpackedBytes) {
      throw new InvalidArchiveError(
        `The archive unpacks to more than ${ARCHIVE_LIMITS.unpackedBytes} bytes; "${path}" is the entry that exceeds the limit.`,
      );
    }
    this.entries.set(this.#normalizeName(path), entry);
    return entry;
  }

  /** Checks the targets of all links. Throws InvalidArchiveError. */
  finish(): void {
    for (const entry of this.entries.values()) {
      if (entry.kind === 'symlink') this.#checkLink(entry);
    }
  }

  #checkPath(entry: ArchiveEntry): void {
    const key = this.#normalizeName(entry.path);
    if (entry.kind !== 'directory' && this.#folders.has(key)) {
      throw new InvalidArchiveError(`The archive has "${entry.path}" as a folder and as something else.`);
    }
    for (const parent of listParentPaths(entry.path)) {
      const above = this.entries.get(this.#normalizeName(parent));
      if (above !== undefined && above.kind !== 'directory') {
        const what = above.kind === 'symlink' ? 'a link' : 'a file';
        throw new InvalidArchiveError(
          `The archive entry "${entry.path}" has the parent "${parent}", which is ${what}.`,
        );
      }
      this.#folders.add(this.#normalizeName(parent));
    }
    if (this.#folders.size > ARCHIVE_LIMITS.entries)
      throw new InvalidArchiveError(`The archive has more than ${ARCHIVE_LIMITS.entries} folders.`);
    const previous = this.entries.get(key);
    if (previous === undefined) return;
    const kinds = new Set([previous.kind, entry.kind]);
    if (kinds.has('symlink') || kinds.has('hardlink')) {
      throw new InvalidArchiveError(`The archive has "${entry.path}" twice, and one of the two is a link.`);
    }
    if (previous.kind !== entry.kind) {
      throw new InvalidArchiveError(`The archive has "${entry.path}" as a folder and as something else.`);
    }
  }

  #validateLinkTarget(entry: ArchiveEntry, target: string): string {
    if (target === '' || target.startsWith('/')) throw createLeavingLinkError(entry.path, target);
    if (target.includes('\0') || Buffer.byteLength(target) > ARCHIVE_LIMITS.pathBytes)
      throw new InvalidArchiveError(
        `The archive entry "${entry.path}" is a link to "${truncateName(target)}", which is too long or contains a zero byte.`,
      );
    return target;
  }

  #resolveHardLink(entry: ArchiveEntry, target: string): void {
    let path: string;
    try {
      path = normalizeRelativePath(target);
    } catch {
      throw createLeavingLinkError(entry.path, target);
    }
    const source = this.entries.get(this.#normalizeName(path));
    if (source === undefined || (source.kind !== 'file' && source.kind !== 'hardlink')) {
      throw new InvalidArchiveError(
        `The archive entry "${entry.path}" is a hard link to "${truncateName(target)}", which is no earlier file of the archive.`,
      );
    }
    entry.target = source.path;
    entry.size = source.size;
    entry.executable = source.executable;
  }

  /** Walks a link part by part as the kernel does, through other links. Throws at the first step above the root. */
  #checkLink(link: ArchiveEntry): void {
    const at = listParentPaths(link.path).at(-1)?.split('/') ?? [];
    const remaining = (link.target ?? '').split('/');
    let followedLinks = 0;
    while (remaining.length > 0) {
      const part = remaining.shift();
      if (part === undefined || part === '' || part === '.') continue;
      if (part === '..') {
        if (at.length === 0) throw createLeavingLinkError(link.path, link.target ?? '');
        at.pop();
        continue;
      }
      at.push(part);
      this.#linkSteps += 1;
      if (at.length > ARCHIVE_LIMITS.levels || this.#linkSteps > MAX_TOTAL_LINK_STEPS)
        throw new InvalidArchiveError(
          `The archive entry "${link.path}" is a link with too many steps to its target.`,
        );
      const here = this.entries.get(this.#normalizeName(at.join('/')));
      if (here?.kind === 'symlink') {
        followedLinks += 1;
        if (followedLinks > MAX_LINK_STEPS) {
          throw new InvalidArchiveError(`The archive entry "${link.path}" is a link that never ends.`);
        }
        at.pop();
        remaining.unshift(...(here.target ?? '').split('/'));
      }
    }
  }
}

/** Returns the path without `.` and empty parts. Throws InvalidArchiveError when it is absolute, too long or has `..`. */
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
      `The archive entry "${truncateName(name)}" is more than ${ARCHIVE_LIMITS.levels} levels deep.`,
    );
  if (parts.some((part) => Buffer.byteLength(part) > ARCHIVE_LIMITS.nameBytes))
    throw new InvalidArchiveError(
      `The archive entry "${truncateName(name)}" has a name of more than ${ARCHIVE_LIMITS.nameBytes} bytes.`,
    );
  return parts.join('/');
}

/** Truncates a name for an error message. */
export function truncateName(name: string): string {
  return name.length > MAX_QUOTED_CHARACTERS
    ? `${name.slice(0, MAX_QUOTED_CHARACTERS).toWellFormed()}…`
    : name;
}

const MAX_QUOTED_CHARACTERS = 200;

/** Returns the parents of a path, the outermost first: "a/b/c" → ["a", "a/b"]. */
export function listParentPaths(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function toEntryKind(header: TarHeader): EntryKind {
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

function createLeavingLinkError(path: string, target: string): InvalidArchiveError {
  return new InvalidArchiveError(
    `The archive entry "${path}" is a link to "${truncateName(target)}", which leads out of the archive.`,
  );
}
