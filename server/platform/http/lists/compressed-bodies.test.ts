/** The bounds of the memory for compressed responses. */
import { expect, test } from 'vitest';
import { CACHED_BODY_BYTES_MAX, createCompressedBodies } from './compressed-bodies.ts';

test('compressed responses take 16 MB of memory at most, and one that is too large evicts no other', () => {
  const bodies = createCompressedBodies();
  for (let index = 0; index < 40; index += 1)
    bodies.set(`body ${index}`, Buffer.alloc(CACHED_BODY_BYTES_MAX));
  expect(bodies.calculatedSize).toBe(16 * 1024 * 1024);
  bodies.set('too large', Buffer.alloc(CACHED_BODY_BYTES_MAX + 1));
  expect(bodies.has('too large')).toBe(false);
  expect(bodies.has('body 39')).toBe(true);
});
