/** The runner's public face. */
export { inspectArchive, MANIFEST } from './archive/archive.ts';
export { findArchiveFile, hashArchiveFiles, listArchiveFiles } from './archive/archive-files.ts';
export { ArchiveValidator, InvalidArchiveError } from './archive/archive-rules.ts';
export { describeStartProblem } from './archive/entry-point.ts';
export { describeForeignProgram } from './archive/foreign-programs.ts';
export { hasDiskSpace } from './filesystem/disk-space.ts';
export {
  type Allocation,
  BINARY_UNITS,
  readAllocation,
  readGroupLimits,
  readMachine,
} from './host/allocation.ts';
export { describeMissingPrograms } from './host/image-programs.ts';
export { computeEffectiveLimits } from './host/limits.ts';
export { describeRuntimeMismatch, findRuntimeVersion } from './host/runtime-version.ts';
export { isHostFault } from './process/host-faults.ts';
export { startRunner } from './runner.ts';
export { quoteShell, RESERVED_SHELL_VARIABLES } from './sandbox/command-chain.ts';
export type * from './types.ts';
