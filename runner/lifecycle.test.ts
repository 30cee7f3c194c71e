/** No app outlives its run when the launcher, the owner of the runner, or both die. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { listChildren, readProcFile } from './process/processes.ts';
import { startRunner } from './runner.ts';
import {
  CONFINEMENT_NAMES,
  createScratchFolder,
  createShellApp,
  createUniqueSeconds,
  listProcessesWithArgument,
  removeFolder,
  runApp,
  startApp,
  startRunnerConfinedBy,
} from './testing/runner-harness.ts';
import { waitUntil } from './testing/wait-until.ts';
import type { Diagnostic, Outcome, Runner } from './types.ts';

const folders: string[] = [];

function scratch(): string {
  const folder = createScratchFolder();
  folders.push(folder);
  return folder;
}

afterEach(() => {
  for (const folder of folders.splice(0)) removeFolder(folder);
});

/** An app with a child in a session of its own; it prints a line once both run. */
function appWithDaemon(seconds: string): string {
  return `setsid sleep ${seconds} & sleep 0.1; echo up >&2; exec sleep ${seconds}`;
}

function findLauncher(pid: number): number {
  const found = listChildren(pid).find((child) =>
    (readProcFile(`/proc/${child}/cmdline`) ?? '').includes('launcher.ts'),
  );
  if (found === undefined) throw new Error(`Process ${pid} has no launcher.`);
  return found;
}

interface Owner {
  child: ChildProcess;
  pid: number;
  next(): Promise<{ host?: { containment: string }; line?: string; outcome?: Outcome }>;
}

function owner(folder: string, way: string, script: string, user?: number): Owner {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'testing/runner-owner.ts'), folder, way, script],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      ...(user === undefined ? {} : { uid: user, gid: user }),
    },
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    pid: child.pid ?? 0,
    next: async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error('The owner ended without a word.');
      return JSON.parse(value);
    },
  };
}

const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;

for (const way of CONFINEMENT_NAMES) {
  const folder = createScratchFolder();
  const runner = await startRunnerConfinedBy(way, folder);
  if (runner === undefined) console.warn(`\n!!! SKIPPED: this host cannot hold apps by ${way}.\n`);

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

    test('kill -9 of the launcher: its runs are lost, none of their processes lives, and the next run works', async () => {
      const seconds = createUniqueSeconds();
      const { app } = await startApp(host, {
        files: createShellApp(appWithDaemon(seconds)),
        onLine: () => process.kill(findLauncher(process.pid), 'SIGKILL'),
      });
      const outcome = await app.done;
      expect(outcome.kind).toBe('lost');
      expect(listProcessesWithArgument(seconds)).toEqual([]);
      await app.dispose();
      const { outcome: next } = await runApp(host, { files: createShellApp('exit 0') });
      expect(next.succeeded).toBe(true);
    });

    test('kill -9 of the owner: the launcher kills every app and exits', async () => {
      const seconds = createUniqueSeconds();
      const { child, pid, next } = owner(scratch(), way, appWithDaemon(seconds));
      await next();
      expect(await next()).toEqual({ line: 'up' });
      const launcher = findLauncher(pid);
      child.kill('SIGKILL');
      await waitUntil('the launcher and its apps are gone', () => {
        return (
          readProcFile(`/proc/${launcher}/stat`) === undefined &&
          listProcessesWithArgument(seconds).length === 0
        );
      });
    });

    test('kill -9 of owner and launcher: the next start kills leftover apps and clears the folder', async () => {
      const folder = scratch();
      const seconds = createUniqueSeconds();
      const { child, pid, next } = owner(folder, way, appWithDaemon(seconds));
      await next();
      expect(await next()).toEqual({ line: 'up' });
      const launcher = findLauncher(pid);
      // Stopped first, so that it cannot react to the end of its owner.
      process.kill(launcher, 'SIGSTOP');
      child.kill('SIGKILL');
      process.kill(launcher, 'SIGKILL');
      await waitUntil('both are gone', () => readProcFile(`/proc/${launcher}/stat`) === undefined);
      expect(readdirSync(join(folder, 'runs'))).toHaveLength(1);
      const seen: Diagnostic[] = [];
      const runner = await startRunner({ folder, randomBytes, onDiagnostic: (event) => seen.push(event) });
      expect(listProcessesWithArgument(seconds)).toEqual([]);
      expect(readdirSync(join(folder, 'runs'))).toEqual([]);
      expect(seen.map((event) => event.event)).toContain('leftovers-killed');
      await runner.close();
    });

    test('closing cancels running apps and leaves no process', async () => {
      const seconds = createUniqueSeconds();
      const { app } = await startApp(host, {
        files: createShellApp(`trap '' TERM; echo up >&2; while :; do sleep ${seconds}; done`),
        onLine: () => void host.close(20),
      });
      expect(await app.done).toMatchObject({ kind: 'ended', reason: 'canceled' });
      expect(listProcessesWithArgument(seconds)).toEqual([]);
    });
  });
}

describe.skipIf(!isRoot)('for an ordinary user', () => {
  const ways = ['bubblewrap', 'a pid namespace', 'process groups'];
  test.each(ways)('confined by %s: an app runs, and its processes are bounded', async (way) => {
    const folder = scratch();
    chownSync(folder, NOBODY, NOBODY);
    const seconds = createUniqueSeconds();
    const script = `i=0; while [ $i -lt 300 ]; do i=$((i+1)); sleep ${seconds} & echo $i; done; echo all >&2; sleep 60`;
    const { next } = owner(folder, way, script, NOBODY);
    const { host } = await next();
    expect(host?.containment).toBe(way === 'bubblewrap' ? 'sandbox' : 'limits');
    let outcome: Outcome | undefined;
    while (outcome === undefined) ({ outcome } = await next());
    expect(outcome).toMatchObject({ kind: 'ended', succeeded: false });
    expect(listProcessesWithArgument(seconds)).toEqual([]);
  });
});

test('two runners on two folders do not affect each other', async () => {
  const one = await startRunner({ folder: scratch(), randomBytes, graceMs: 300 });
  const seconds = createUniqueSeconds();
  const up = Promise.withResolvers<void>();
  const { app } = await startApp(one, {
    files: createShellApp(`echo up >&2; exec sleep ${seconds}`),
    onLine: () => up.resolve(),
  });
  await up.promise;
  const other = await startRunner({ folder: scratch(), randomBytes });
  expect(listProcessesWithArgument(seconds)).not.toEqual([]);
  await other.close();
  expect(listProcessesWithArgument(seconds)).not.toEqual([]);
  app.cancel();
  expect(await app.done).toMatchObject({ kind: 'ended', reason: 'canceled' });
  await one.close();
});

test('the start removes leftover run folders and partly unpacked executables', async () => {
  const folder = scratch();
  mkdirSync(join(folder, 'runs', 'old'), { recursive: true });
  writeFileSync(join(folder, 'runs', 'old', 'stdout'), '{}');
  mkdirSync(join(folder, 'executables', 'draft-x'), { recursive: true });
  const runner = await startRunner({ folder, randomBytes });
  expect(readdirSync(join(folder, 'runs'))).toEqual([]);
  expect(readdirSync(join(folder, 'executables'))).toEqual(['boot']);
  await runner.close();
  expect(readFileSync(join(folder, 'executables', 'boot'), 'utf8')).not.toBe('');
});
