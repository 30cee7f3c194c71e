/** How what a run left is read when it is large. */
import { expect, test } from 'vitest';
import { NO_MASK } from '../../secrets/mask.ts';
import { readJsonOfAnySize } from './read-results.ts';

test('of many large contents that wait to be read, none is in memory before its turn', async () => {
  const content = Buffer.from(JSON.stringify({ metrics: { cost: 7 }, fill: 'x'.repeat(1024 * 1024) }));
  let held = 0;
  let most = 0;
  const reading = Array.from({ length: 8 }, () => {
    const load = async () => {
      held += 1;
      most = Math.max(most, held);
      return Buffer.from(content);
    };
    return readJsonOfAnySize(
      { bytes: content.length, load },
      { kind: 'output', subject: null },
      NO_MASK,
    ).finally(() => {
      held -= 1;
    });
  });
  for (const read of await Promise.all(reading))
    expect(read).toMatchObject({ metrics: { block: '{"cost":7}' } });
  // The next is brought while the one before is let go.
  expect(most).toBeLessThanOrEqual(2);
});

const spread = (bytes: number): string => `{"schema":"v1",${' '.repeat(bytes)}"result":{"value":1}}`;
const read = (kind: 'output' | 'statistics' | 'metrics', text: string) => {
  const content = Buffer.from(text);
  const file = { bytes: content.length, load: async () => Buffer.from(content) };
  return readJsonOfAnySize(file, { kind, subject: null }, NO_MASK);
};
const MIB = 1024 * 1024;

test.each(['output', 'statistics'] as const)(
  'large statistics of a file of %s are not parsed to be refused',
  async (kind) => {
    const fill = `"fill":"${'x'.repeat(MIB)}"`;
    const taken = await read(kind, `{${fill},"statistics":${spread(1000)}}`);
    expect(taken.statistics).toMatchObject({ status: 'success', indicators: [{ value: 1 }] });
    const long = spread(MIB);
    const refused = await read(kind, `{"statistics":${long}}`);
    expect(refused).toMatchObject({
      error: '',
      isPresent: true,
      statistics: { status: 'error', block: null },
    });
    expect(refused.statistics.error).toContain(`${long.length} bytes`);
  },
);

test('metrics are kept of a large file with and without the key, as long as they are not large themselves', async () => {
  const space = ' '.repeat(2 * MIB);
  expect(await read('metrics', `{${space}"cost":7}`)).toMatchObject({ metrics: { block: '{"cost":7}' } });
  expect(await read('metrics', `{"metrics":{"cost":7}${space.repeat(5)}}`)).toMatchObject({
    metrics: { block: '{"cost":7}' },
  });
  expect(await read('metrics', `{"cost":"${'x'.repeat(9 * MIB)}"}`)).toMatchObject({
    error: '',
    metrics: { block: null },
  });
  expect((await read('metrics', `{"cost":"${'x'.repeat(9 * MIB)}"`)).error).toContain('not JSON');
});
