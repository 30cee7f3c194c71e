/** Computes the limits of a run from its execution class and the capacity of the host. */
import type { Host, Limits } from '../types.ts';

/** Size of an execution class such as "6c9500mb870s": cores, bytes of memory and milliseconds of wall time. */
export interface ExecutionClassSize {
  cores: number;
  memoryBytes: number;
  durationMs: number;
}

const MIB = 1024 * 1024;

/** Limits that no execution class sets. */
export const DEFAULT_LIMITS = {
  outputBytes: 100 * MIB,
  logBytes: 16 * MIB,
  fileBytes: 2048 * MIB,
  files: 100_000,
  processes: 512,
  openFiles: 4096,
} as const;

/**
 * Returns the limits of a run: cores and memory of the class, capped to those of the host, and its duration. The rest comes
 * from DEFAULT_LIMITS. `overrides` replaces any of them before the cap.
 */
export function computeEffectiveLimits(
  size: ExecutionClassSize,
  host: Pick<Host, 'cores' | 'memoryBytes'>,
  overrides: Partial<Limits> = {},
): Limits {
  const requested: Limits = { ...DEFAULT_LIMITS, ...size, ...overrides };
  return {
    ...requested,
    cores: Math.min(requested.cores, host.cores),
    memoryBytes: Math.min(requested.memoryBytes, host.memoryBytes),
  };
}
