/** Turns what an execution class promises into what this host can give. */
import type { Host, Limits } from '../types.ts';

/** "6c9500mb870s" as numbers: at most so many cores, bytes of memory and milliseconds of wall time. */
export interface ExecutionClassSize {
  cores: number;
  memoryBytes: number;
  durationMs: number;
}

const MIB = 1024 * 1024;

/** What an app gets beyond the numbers of its execution class. */
export const DEFAULT_LIMITS = {
  outputBytes: 100 * MIB,
  logBytes: 16 * MIB,
  fileBytes: 2048 * MIB,
  files: 100_000,
  processes: 512,
  openFiles: 4096,
} as const;

/**
 * The limits of a run: the class's numbers with cores and memory capped to the host's, the rest from DEFAULT_LIMITS
 * unless overridden. Durations are never capped.
 */
export function computeEffectiveLimits(
  size: ExecutionClassSize,
  host: Pick<Host, 'cores' | 'memoryBytes'>,
  overrides: Partial<Limits> = {},
): Limits {
  const wanted: Limits = { ...DEFAULT_LIMITS, ...size, ...overrides };
  return {
    ...wanted,
    cores: Math.min(wanted.cores, host.cores),
    memoryBytes: Math.min(wanted.memoryBytes, host.memoryBytes),
  };
}
