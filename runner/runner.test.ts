/** Runs apps as real processes in every confinement that this host supports. */
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRunner } from './runner.ts';
import { listLineBuffering } from './sandbox/line-buffering.ts';
import {
  CONFINEMENT_NAMES,
  createScratchFolder,
  createShellApp,
  createUniqueSeconds,
  expectEnded,
  listProcessesWithArgument,
  MIB,
  removeFolder,
  runApp,
  startApp,
  startRunnerConfinedBy,
} from './testing/runner-harness.ts';
import type { Runner } from './types.ts';

/** Allocates memory in steps and keeps it; argument: MiB to allocate. */
const ALLOCATOR = `const kept = [];
for (let i = 0; i < Number(process.argv[2]); i += 8) kept.push(Buffer.alloc(8 * 1024 * 1024, 1));
setTimeout(() => console.log(JSON.stringify({ kept: kept.length })), Number(process.argv[3] ?? 0));
`;
const ALLOCATOR_WITH_CHILDREN = `import { spawn } from 'node:child_process';
for (let i = 0; i < 3; i += 1) spawn(process.execPath, [new URL('hog.mjs', import.meta.url).pathname, '96', '60000'], { stdio: 'ignore' });
setTimeout(() => undefined, 60000);
`;

// Only Linux reports the available memory of the host.
test.runIf(process.platform === 'linux')(
  "A6: an app that is ended for the host's memory, within its own limit, is a host fault",
  async () => {
    const folder = createScratchFolder();
    const runner = await startRunner({ folder, randomBytes, reservedMemoryBytes: 2 * totalmem() });
    const { outcome } = await runApp(runner, {
      type: 'node',
      files: { 'main.mjs': ALLOCATOR },
      arguments: ['192', '60000'],
      limits: { memoryBytes: 2048 * MIB },
    });
    expect(outcome).toMatchObject({ reason: 'memory', hostFault: true });
    expect(outcome.error).toMatch(/^The host had .* left, and this app held the most/);
    await runner.close();
    removeFolder(folder);
  },
);

// macOS, and a Linux without coreutils, have no such library.
test.runIf('LD_PRELOAD' in listLineBuffering())(
  'S1: a program that buffers its output writes each line at once, and its bytes stay the same',
  async () => {
    const folder = createScratchFolder();
    const runner = await startRunner({ folder, randomBytes });
    const { lines, stdout } = await runApp(runner, {
      files: createShellApp('(echo first; sleep 1; printf second) | cut -c1- | tee /dev/stderr'),
    });
    expect(stdout).toBe('first\nsecond\n');
    expect(lines.map(({ text }) => text)).toEqual(['first', 'second']);
    // Without line buffers, cut writes both at its end.
    expect((lines[1]?.at ?? 0) - (lines[0]?.at ?? 0)).toBeGreaterThan(500);
    await runner.close();
    removeFolder(folder);
  },
);

/** The strongest confinement of each level runs every test, the others those that depend on the confinement. */
const levelsSeen = new Set<string>();

for (const way of CONFINEMENT_NAMES) {
  const folder = createScratchFolder();
  const runner: Runner | undefined = await startRunnerConfinedBy(way, folder);
  if (runner === undefined)
    console.warn(`\n!!! SKIPPED: this host does not support the confinement "${way}".\n`);

  const level = runner?.host.containment ?? '';
  const whole: (name: string, run: () => Promise<void>) => void = levelsSeen.has(level)
    ? () => undefined
    : test;
  levelsSeen.add(level);

  describe.skipIf(runner === undefined)(`confined by ${way}`, () => {
    let host: Runner;
    beforeAll(() => {
      if (runner === undefined) throw new Error('unreachable');
      host = runner;
    });
    afterAll(async () => {
      await runner?.close();
      removeFolder(folder);
    });

    test('the app reads the output of an earlier run, and finds no variable without one', async () => {
      const files = createShellApp('echo "${SWITCHYARD_PREVIOUS-none}"; cat "$SWITCHYARD_PREVIOUS"');
      const read = async (spec: object) => (await runApp(host, { files, ...spec })).stdout;
      const previous = { format: 'json', open: async () => Readable.from(['{"a": 1.50}']) };
      expect(await read({ previous })).toMatch(/\/previous\/output\.json\n\{"a": 1\.50\}$/);
      expect(await read({})).toBe('none\n');
    });

    test('an app receives its input and returns output and log', async () => {
      const { outcome, stdout, lines, app } = await runApp(host, {
        files: createShellApp(
          'echo to the log >&2; read line; echo "{\\"got\\": $line, \\"args\\": \\"$*\\", \\"v\\": \\"$V\\"}"',
        ),
        stdin: '{"a":"ü"}\n',
        arguments: ['-solve.duration', "it's 10 s"],
        environment: { V: 'a $b `c`', 'with.dot': '1' },
      });
      expect(outcome).toMatchObject({
        succeeded: true,
        reason: 'exit',
        error: '',
        exitCode: 0,
        signal: null,
        isLogTruncated: false,
      });
      expect(JSON.parse(stdout)).toEqual({
        got: { a: 'ü' },
        args: "-solve.duration it's 10 s",
        v: 'a $b `c`',
      });
      expect(outcome.stdout.bytes).toBe(Buffer.byteLength(stdout));
      expect(lines.map((line) => [line.stream, line.text])).toEqual([['stderr', 'to the log']]);
      expect(outcome.executionMs).toBeGreaterThan(0);
      expect(outcome.endedAt).toBeGreaterThanOrEqual(outcome.startedAt);
      await app.dispose();
      expect(statSync(outcome.stdout.path, { throwIfNoEntry: false })).toBeUndefined();
    });

    whole('the outcome names an exit code', async () => {
      const { outcome } = await runApp(host, { files: createShellApp('exit 3') });
      expect(outcome).toMatchObject({ succeeded: false, reason: 'exit', exitCode: 3, signal: null });
      expect(outcome.error).toBe('The app ended with exit code 3.');
    });

    test('the outcome names the signal of a crash, and the log stays unchanged', async () => {
      const { outcome, lines } = await runApp(host, { files: createShellApp('kill -SEGV $$') });
      expect(outcome).toMatchObject({
        succeeded: false,
        reason: 'signal',
        signal: 'SIGSEGV',
        exitCode: null,
      });
      expect(outcome.error).toContain('SIGSEGV');
      expect(lines).toEqual([]);
    });

    test('an app that hangs is stopped at its duration, even when it ignores SIGTERM', async () => {
      const seconds = createUniqueSeconds();
      const { outcome, stdout } = await runApp(host, {
        files: createShellApp(`trap '' TERM; echo '{}'; while :; do sleep ${seconds}; done`),
        limits: { durationMs: 900 },
      });
      expect(outcome).toMatchObject({ succeeded: false, reason: 'duration' });
      expect(outcome.error).toContain('900\u00a0ms');
      expect(stdout).toBe('{}\n');
      expect(listProcessesWithArgument(seconds)).toEqual([]);
    });

    test('a cancellation reaches the app itself, and its last output is kept', async () => {
      const { app, pids } = await startApp(host, {
        files: createShellApp(
          `trap 'echo "{\\"best\\": 1}"; exit 0' TERM; echo ready >&2; while :; do sleep 0.05; done`,
        ),
        onLine: (_line, running) => running.cancel(),
      });
      const outcome = expectEnded(await app.done);
      expect(outcome).toMatchObject({ succeeded: false, reason: 'canceled', error: 'The run was canceled.' });
      expect(readFileSync(outcome.stdout.path, 'utf8')).toBe('{"best": 1}\n');
      expect(pids).toHaveLength(1);
    });

    test('a cancellation before the start leaves no process', async () => {
      const seconds = createUniqueSeconds();
      const { app } = await startApp(host, { files: createShellApp(`sleep ${seconds}`) });
      app.cancel();
      expect(expectEnded(await app.done)).toMatchObject({ succeeded: false, reason: 'canceled' });
      expect(listProcessesWithArgument(seconds)).toEqual([]);
    });

    test('daemons and children in sessions of their own die with the run', async () => {
      const seconds = createUniqueSeconds();
      const { outcome } = await runApp(host, {
        files: createShellApp(
          `setsid sh -c '(setsid env -i sleep ${seconds} &) & sleep ${seconds}' & (sleep ${seconds} &) ; sleep 0.2; exit 0`,
        ),
      });
      expect(outcome.succeeded).toBe(true);
      expect(listProcessesWithArgument(seconds)).toEqual([]);
    });

    test('memory beyond the limit ends the app, with both figures', async () => {
      const { outcome } = await runApp(host, {
        type: 'node',
        files: { 'main.mjs': ALLOCATOR },
        arguments: ['2048', '60000'],
        limits: { memoryBytes: 256 * MIB },
      });
      expect(outcome).toMatchObject({ succeeded: false, reason: 'memory' });
      // Two figures that would read alike have more digits.
      expect(outcome.error).toMatch(/its limit is 268(\.4\d*)?\u00a0MB/);
      expect(outcome.hostFault).toBeUndefined();
      expect(outcome.peakMemoryBytes).toBeGreaterThan(256 * MIB);
    });

    whole('the memory limit applies to the sum of all processes', async () => {
      const { outcome } = await runApp(host, {
        type: 'node',
        files: { 'main.mjs': ALLOCATOR_WITH_CHILDREN, 'hog.mjs': ALLOCATOR },
        limits: { memoryBytes: 320 * MIB },
      });
      expect(outcome).toMatchObject({ succeeded: false, reason: 'memory' });
    });

    whole('an app within its memory limit succeeds', async () => {
      const { outcome } = await runApp(host, {
        type: 'node',
        files: { 'main.mjs': ALLOCATOR },
        arguments: ['64'],
        limits: { memoryBytes: 512 * MIB },
      });
      expect(outcome).toMatchObject({ succeeded: true });
    });

    test('processes are bounded', async () => {
      const seconds = createUniqueSeconds();
      const counted = host.host.enforcement.processes.includes('NPROC');
      // Without a kernel limit the watchdog counts, a little later, so the app runs without end.
      const more = counted ? '$i -lt 400' : '1 -eq 1';
      const { outcome, stdout } = await runApp(host, {
        files: createShellApp(
          `i=0; while [ ${more} ]; do i=$((i+1)); sleep ${seconds} & echo $i; done; sleep ${seconds}`,
        ),
        limits: { processes: 30, durationMs: 60_000 },
      });
      expect(outcome.succeeded).toBe(false);
      if (counted) expect(stdout.split('\n').length).toBeLessThan(32);
      else expect(outcome).toMatchObject({ reason: 'processes' });
      expect(listProcessesWithArgument(seconds)).toEqual([]);
    });

    test('stdout beyond its limit ends the app', async () => {
      const { outcome } = await runApp(host, {
        files: createShellApp('head -c 10000000 /dev/zero; sleep 60'),
        limits: { outputBytes: MIB },
      });
      expect(outcome).toMatchObject({ succeeded: false, reason: 'output' });
      expect(outcome.error).toContain('its limit is 1\u00a0MiB');
    });

    whole('a log beyond its limit is truncated, and the app continues', async () => {
      const { outcome, lines } = await runApp(host, {
        files: createShellApp(
          `i=0; while [ $i -lt 12 ]; do i=$((i+1)); head -c 65535 /dev/zero | tr '\\0' x >&2; echo >&2; sleep 0.01; done; echo '{}'`,
        ),
        limits: { logBytes: 300_000 },
      });
      expect(outcome).toMatchObject({ succeeded: true, isLogTruncated: true });
      expect(outcome.stderr.bytes).toBe(300_000);
      expect(lines.filter((line) => line.text.includes('The log was cut here'))).toHaveLength(1);
      expect(lines.at(-1)?.text).toContain('293\u00a0KiB');
    });

    whole('disk space is bounded', async () => {
      const { outcome } = await runApp(host, {
        files: createShellApp(
          'i=0; while [ $i -lt 100 ]; do i=$((i+1)); head -c 4000000 /dev/zero > f$i; done; sleep 60',
        ),
        limits: { fileBytes: 16 * MIB },
      });
      expect(outcome).toMatchObject({ succeeded: false, reason: 'disk' });
    });

    whole('open files are bounded', async () => {
      const { stdout } = await runApp(host, {
        files: createShellApp('ulimit -n; ulimit -c'),
        limits: { openFiles: 77 },
      });
      expect(stdout).toBe('77\n0\n');
    });

    whole('cores are bounded', async () => {
      const { stdout } = await runApp(host, { files: createShellApp('nproc'), limits: { cores: 1 } });
      expect(stdout).toBe('1\n');
    });
  });
}
