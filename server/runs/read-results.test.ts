/** How what a run left is read when it is large. */
import { expect, test } from 'vitest';
import { NO_MASK } from '../secrets/mask.ts';
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
  for (const read of await Promise.all(reading)) expect(read).toMatchObject({ metrics: '{"cost":7}' });
  // The next is brought while the one before is let go.
  expect(most).toBeLessThanOrEqual(2);
});
