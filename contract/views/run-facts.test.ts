import { expect, test } from 'vitest';
import type { RunInformation } from '../runs/run-schemas.ts';
import { EXECUTION_FACTS } from './run-facts.ts';

const metadata = {
  execution_class: '6c9500mb870s',
  execution_duration: 10_000,
} as RunInformation['metadata'];

/** Returns the core time of a run of 10 s in a class of 6 cores. */
function findCoreTime(cores?: number): string | undefined {
  const limits = cores && { cores, memory_bytes: 8_000_000_000, duration_ms: 870_000 };
  const fact = EXECUTION_FACTS.find(({ label }) => label === 'Core time') ?? expect.fail();
  return fact.format({ runtime: '', metadata: { ...metadata, ...(limits && { limits }) } });
}

test('a run in a class of 6 cores on a host of 2 has the core time of 2', () => {
  expect(findCoreTime(2)).toBe('20\u00a0s');
  expect(findCoreTime(6)).toBe('1\u00a0min');
  expect(findCoreTime()).toBeUndefined();
});
