import { expect, test } from 'vitest';
import { readLogParts } from './read-log-parts.ts';

/** Returns a body that arrives in chunks of so many bytes. */
function createBody(text: string, chunkBytes: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += chunkBytes)
        controller.enqueue(bytes.subarray(at, at + chunkBytes));
      controller.close();
    },
  });
}

const lines = (line: string, count: number): string => `${line}\n`.repeat(count);

test.each([
  ['an empty log', '', 1],
  ['short lines', 'a\nb', 1],
  ['many lines', lines('iteration: best cost 1034.5', 50_000), 3],
  ['backslashes and escapes', lines('C:\\new\\\\names "quoted" \u0001 ünïcödé 😀 \\', 5_000), 2],
  ['a long line before others', `${'x'.repeat(1_500_000)}\n${lines('y', 100)}`, 1],
  ['backslashes without a line break', '\\n'.repeat(100_000), 1],
])('reads %s in parts of whole lines', async (_, log, countMin) => {
  const parts = await Array.fromAsync(readLogParts(createBody(`${JSON.stringify({ log })}\n`, 65_537)));
  expect(parts.join('') === log).toBe(true);
  expect(parts.slice(0, -1).filter((part) => !part.endsWith('\n'))).toEqual([]);
  expect(parts.length).toBeGreaterThanOrEqual(countMin);
});

test('reads JSON with spaces, and refuses a response that breaks off', async () => {
  const read = (text: string) => Array.fromAsync(readLogParts(createBody(text, 7)));
  expect(await read('{ "log" : "a\\nb" }')).toEqual(['a\nb']);
  await expect(read('{"log":"a\\nb')).rejects.toThrow(SyntaxError);
});
