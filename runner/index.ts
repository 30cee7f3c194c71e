/** The runner's public face. */
export { type ArchiveContents, inspectArchive } from './archive.ts';
export { ARCHIVE_LIMITS, ArchiveRefused } from './archive-rules.ts';
export { SHELL_NAMES } from './confine.ts';
export { foreignProgram } from './foreign-programs.ts';
export { isHostFault } from './host-faults.ts';
export { DEFAULT_LIMITS, type ExecutionClassSize, effectiveLimits } from './limits.ts';
export { hasRoom } from './room.ts';
export { startRunner } from './runner.ts';
export { runtimeVersion, runtimeWarning } from './runtime-version.ts';
export type * from './types.ts';
