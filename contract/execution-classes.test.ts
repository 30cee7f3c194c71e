import { describe, expect, test } from 'vitest';
import { CLASS_LIMITS, EXECUTION_CLASS_DEFAULT, EXECUTION_CLASSES } from './execution-classes.ts';

const UNITS: Record<string, number> = { mb: 1e6, gb: 1e9, s: 1_000, m: 60_000, h: 3_600_000 };

/** Reads the limits from the name of a class: `8c16gb12h` has 8 cores, 16 GB and 12 hours. */
function read(name: string) {
  const [, cores, memory, memoryUnit = '', time, timeUnit = ''] =
    /^(\d+)c(\d+)(mb|gb)(\d+)(s|m|h)$/.exec(name) ?? [];
  return {
    cores: Number(cores),
    memory_bytes: Number(memory) * (UNITS[memoryUnit] ?? Number.NaN),
    duration_ms: Number(time) * (UNITS[timeUnit] ?? Number.NaN),
  };
}

describe('execution classes', () => {
  test.each(EXECUTION_CLASSES)('the limits of %s equal those in its name', (name) => {
    expect(CLASS_LIMITS[name]).toEqual(read(name));
  });

  test('the classes are those of the specification, and the first is the default', () => {
    expect(EXECUTION_CLASSES).toEqual(['6c9500mb870s', '8c16gb12h', '16c60gb12h']);
    expect(EXECUTION_CLASS_DEFAULT).toBe('6c9500mb870s');
  });
});
