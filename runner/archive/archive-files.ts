/** Reads the files of an archive by their content, without unpacking it. Buffers at most one file of limited size. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { readArchive } from './archive.ts';

/** A file or link of an archive. */
export interface ArchiveFile {
  path: string;
  kind: 'file' | 'link';
  /** Bytes of the content; 0 for a link. */
  size: number;
  isExecutable: boolean;
  /** SHA-256 of the content in hex; null for a link. */
  sha256: string | null;
  /** Target of a link; null for a file. */
  target: string | null;
}

/** Returns the files and links of the archive by path, sorted; folders are omitted. Throws InvalidArchiveError. */
export async function listArchiveFiles(stream: Readable): Promise<ArchiveFile[]> {
  const files = new Map<string, ArchiveFile>();
  await readArchive(stream, async ({ path, kind, size, executable, target }, body) => {
    if (kind === 'directory') return;
    const isFile = kind === 'file';
    const sha = createHash('sha256');
    for await (const chunk of body) sha.update(chunk);
    files.set(path, {
      path,
      kind: isFile ? 'file' : 'link',
      size: isFile ? size : 0,
      isExecutable: isFile && executable,
      sha256: isFile ? sha.digest('hex') : null,
      target: target ?? null,
    });
  });
  return [...files.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** Returns the SHA-256 of each file by its path; links and folders are omitted. Throws InvalidArchiveError. */
export async function hashArchiveFiles(stream: Readable): Promise<Map<string, string>> {
  const files = await listArchiveFiles(stream);
  return new Map(files.flatMap(({ path, sha256 }) => (sha256 === null ? [] : [[path, sha256] as const])));
}

/** A file that was found by its hash. */
export interface FoundFile {
  /** Every path that has this content, in the order of the archive. */
  paths: string[];
  size: number;
  /** null for a file that is larger than the limit. */
  content: Buffer | null;
}

/**
 * Returns the file with the hash; undefined when no file has it. Throws InvalidArchiveError. Finds it by hash and not by
 * path, because two entries of an archive may have the same path.
 */
export async function findArchiveFile(
  stream: Readable,
  sha256: string,
  bytesMax: number,
): Promise<FoundFile | undefined> {
  let found: FoundFile | undefined;
  await readArchive(stream, async ({ path, kind, size }, body) => {
    if (kind !== 'file') return;
    const sha = createHash('sha256');
    const isBuffered = !found && size <= bytesMax;
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) {
      sha.update(chunk);
      if (isBuffered) chunks.push(chunk);
    }
    if (sha.digest('hex') !== sha256) return;
    if (found) found.paths.push(path);
    else found = { paths: [path], size, content: isBuffered ? Buffer.concat(chunks) : null };
  });
  return found;
}
