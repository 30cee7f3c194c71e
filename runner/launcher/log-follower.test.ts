/** The limits of a log, and its pace, on files without an app. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createScratchFolder, MIB, removeFolder } from '../testing/runner-harness.ts';
import { waitUntil } from '../testing/wait-until.ts';
import { LogFollower } from './log-follower.ts';

const folder = createScratchFolder();
afterAll(() => removeFolder(folder));

function writeLog(name: string, text: string) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return [{ path, stream: 'stderr' as const }];
}

test('A7: a log of very many lines is cut, and the kept beginning has as many', async () => {
  const files = writeLog('lines', '\n'.repeat(10_000));
  const texts: string[] = [];
  const follower = new LogFollower(
    files,
    MIB,
    (lines) => void texts.push(...lines.map(({ text }) => text)),
    4500,
  );
  await follower.finish(false);
  const message = '[The log was cut here: it went beyond its limit of 4,500 lines.]';
  expect([texts.length, texts.at(-1)]).toEqual([4501, message]);
  const { path, isTruncated } = follower.resolveLogFile(files[0]?.path ?? '');
  expect([isTruncated, readFileSync(path, 'utf8')]).toEqual([true, '\n'.repeat(4500)]);
});

test('A7: a log of as many lines as the limit is whole', async () => {
  const files = writeLog('whole', 'line\n'.repeat(4500));
  let count = 0;
  const follower = new LogFollower(
    files,
    MIB,
    (lines) => {
      count += lines.length;
    },
    4500,
  );
  await follower.finish(false);
  expect([count, follower.resolveLogFile(files[0]?.path ?? '').isTruncated]).toEqual([4500, false]);
});

test('A7: the next lines wait until the receiver is ready for them', async () => {
  const parts: { count: number; resolve(): void }[] = [];
  const follower = new LogFollower(writeLog('slow', 'line\n'.repeat(5000)), MIB, (lines) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    parts.push({ count: lines.length, resolve });
    return promise;
  });
  const finished = follower.finish(false);
  for (let index = 0; index < 3; index += 1) {
    await waitUntil('the part', () => parts.length > index);
    await new Promise(setImmediate);
    expect(parts).toHaveLength(index + 1);
    parts[index]?.resolve();
  }
  await finished;
  expect(parts.map(({ count }) => count)).toEqual([2000, 2000, 1000]);
});
