/** The execution classes. The name is the contract: `6c9500mb870s` is at most 6 cores, 9500 MB and 870 seconds. */
export const EXECUTION_CLASSES = ['6c9500mb870s', '8c16gb12h', '16c60gb12h'] as const;
export type ExecutionClass = (typeof EXECUTION_CLASSES)[number];
export const EXECUTION_CLASS_DEFAULT: ExecutionClass = '6c9500mb870s';

/** Upper limits of an execution class. */
export interface ClassLimits {
  cores: number;
  memory_bytes: number;
  duration_ms: number;
}

const MB = 1_000_000;
const HOUR_MS = 60 * 60 * 1000;

export const CLASS_LIMITS: Record<ExecutionClass, ClassLimits> = {
  '6c9500mb870s': { cores: 6, memory_bytes: 9500 * MB, duration_ms: 870_000 },
  '8c16gb12h': { cores: 8, memory_bytes: 16_000 * MB, duration_ms: 12 * HOUR_MS },
  '16c60gb12h': { cores: 16, memory_bytes: 60_000 * MB, duration_ms: 12 * HOUR_MS },
};

/** Returns the time after which a run is ended, in milliseconds: that of its class, or a shorter one in seconds. */
export function computeDurationLimit({
  execution_class,
  max_duration,
}: {
  execution_class: ExecutionClass;
  max_duration: number | null;
}): number {
  const ofClass = CLASS_LIMITS[execution_class].duration_ms;
  return max_duration === null ? ofClass : Math.min(ofClass, max_duration * 1000);
}
