/** The index files of an unpacked executable, which this package writes. */
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import type { ArchiveEntry } from './archive-rules.ts';

/** Content of `index.json`. */
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
  /** Name of Node's cache folder in `compiled/node/`, without the user id that Node appends. */
  nodeVersion?: string;
}

/** Content of `compiled/index.json`, which launcher/executable-compiler.ts writes. */
export interface CompiledIndex extends CompiledPlan {
  /** Name, version and path of the runtime that the files were compiled for. */
  runtime: string;
  bytes: number;
}

/**
 * Parses `index.json`. It checks no entry: the index of an executable with tens of thousands of files takes longer to parse than
 * an app to start.
 */
export function parseExecutableIndex(json: string): ExecutableIndex {
  const index: unknown = JSON.parse(json);
  if (!isExecutableIndex(index)) throw new TypeError('index.json of an executable is damaged.');
  return index;
}

function isExecutableIndex(value: unknown): value is ExecutableIndex {
  return (
    isRecord(value) &&
    Array.isArray(value.entries) &&
    Array.isArray(value.shared) &&
    typeof value.unpackedBytes === 'number'
  );
}
