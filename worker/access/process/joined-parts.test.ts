/** Bodies in very small parts. */
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { SLICE_BYTES_MAX } from './bounds.ts';
import { JoinedParts } from './joined-parts.ts';

test('A7: small parts of a body go on together, and few of them wait for a reader', async () => {
  const joined = new JoinedParts();
  const count = 200_000;
  let accepted = 0;
  for (let n = 0; n < count; n += 1)
    joined.write('x', () => {
      accepted += 1;
    });
  joined.end();
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  expect(accepted).toBe(1);
  let parts = 0;
  joined.on('data', () => {
    parts += 1;
  });
  expect(await buffer(joined)).toHaveLength(count);
  expect(parts).toBe(2);
});

test('A7: a source waits while nobody reads', async () => {
  const joined = new JoinedParts();
  let bytes = 0;
  const part = Buffer.alloc(1024);
  for (let turn = 0; turn < 100; turn += 1) {
    while (joined.write(part)) bytes += part.length;
    await new Promise(setImmediate);
  }
  expect(bytes).toBeLessThan(4 * SLICE_BYTES_MAX);
});
