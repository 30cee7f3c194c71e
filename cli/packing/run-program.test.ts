import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { runProgram } from './run-program.ts';

const countTimers = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

test.each([
  ['that does not exist', ['no-such-program'], 1],
  ['that ends', ['true'], 0],
])(
  'a program %s leaves no timer, which would keep a push alive until its limit',
  async (_, command, code) => {
    const before = countTimers();
    expect((await runProgram(command, { cwd: tmpdir(), timeoutMs: 60_000 })).code).toBe(code);
    expect(countTimers()).toBeLessThanOrEqual(before);
  },
);

test('a program that exceeds its limit is ended, and the output says so', async () => {
  const { code, output } = await runProgram(['sleep', '60'], { cwd: tmpdir(), timeoutMs: 50 });
  expect({ code, output }).toEqual({
    code: 1,
    output: expect.stringContaining('SIGTERM; its limit is 50\u00a0ms'),
  });
});
