import type { ExecutableFile } from './executables.ts';

/** A path whose file differs between two executables. */
export interface FileChange {
  path: string;
  kind: 'added' | 'removed' | 'changed';
  /** The file before; absent for an added one. */
  before?: ExecutableFile;
  /** The file after; absent for a removed one. */
  after?: ExecutableFile;
}

/** Returns the paths that differ in content, link target or executable bit, in the order of paths. */
export function listFileChanges(
  before: readonly ExecutableFile[],
  after: readonly ExecutableFile[],
): FileChange[] {
  const old = new Map(before.map((file) => [file.path, file]));
  const current = new Map(after.map((file) => [file.path, file]));
  const paths = [...new Set([...old.keys(), ...current.keys()])].sort();
  return paths.flatMap((path): FileChange[] => {
    const from = old.get(path);
    const to = current.get(path);
    if (!from) return to ? [{ path, kind: 'added', after: to }] : [];
    if (!to) return [{ path, kind: 'removed', before: from }];
    return isEqual(from, to) ? [] : [{ path, kind: 'changed', before: from, after: to }];
  });
}

function isEqual(one: ExecutableFile, other: ExecutableFile): boolean {
  return (
    one.kind === other.kind &&
    one.sha256 === other.sha256 &&
    one.target === other.target &&
    one.executable === other.executable
  );
}
