/** Compiles an executable once for its later runs, read-only and without executing it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { computeSha256, createTarOfFiles } from '../testing/archives.ts';
import {
  type AppSpec,
  createScratchFolder,
  removeFolder,
  runApp,
  startRunnerConfinedBy,
} from '../testing/runner-harness.ts';
import type { Diagnostic, Runner } from '../types.ts';

const DEPENDENCIES = '.nextmv/python/deps';

/** Prints whether Python finds bytecode, and whether a run can write some. */
const PYTHON = {
  type: 'python',
  files: await createTarOfFiles({
    'main.py': `import json, os, tool.plan
try:
    open(os.path.join(os.path.dirname(tool.plan.__file__), "left"), "w")
    left = True
except OSError:
    left = False
print(json.dumps({"plan": tool.plan.PLAN, "compiled": os.path.getsize(tool.plan.__spec__.cached) > 5, "left": left}))
`,
    [`${DEPENDENCIES}/tool/__init__.py`]: '',
    // A file with a syntax error, and one that ends its process when executed.
    [`${DEPENDENCIES}/tool/broken.py`]: 'def (:\n',
    [`${DEPENDENCIES}/tool/hostile.py`]: 'import os\nos.kill(os.getpid(), 9)\n',
    [`${DEPENDENCIES}/tool/plan.py`]: 'PLAN = [1, 2]\n',
    [`${DEPENDENCIES}/tool/tests/test_plan.py`]: 'from tool.plan import PLAN\nassert PLAN\n',
    // Outdated bytecode in the archive.
    ...Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [
        `${DEPENDENCIES}/tool/__pycache__/plan.cpython-3${at}.pyc`,
        'stale',
      ]),
    ),
  }),
} satisfies AppSpec;

const NODE = {
  type: 'node',
  files: await createTarOfFiles({
    'main.ts': `import { readdirSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { plan } from './plan.ts';
const folder: string | undefined = getCompileCacheDir();
let left = false;
try {
  writeFileSync((folder ?? '/compiled') + '/left', '');
  left = true;
} catch {}
const compiled = folder !== undefined && readdirSync(folder).length >= 2;
console.log(JSON.stringify({ plan, compiled, left }));
`,
    'plan.ts': `import { commonPlan } from './common.cjs';
if (process.execArgv.includes('-e')) process.kill(process.pid, 'SIGKILL');
export const plan: number[] = commonPlan;
`,
    'common.cjs': `if (process.execArgv.includes('-e')) process.kill(process.pid, 'SIGKILL');
exports.commonPlan = [1, 2];
`,
  }),
} satisfies AppSpec;

/** A runner whose diagnostics a test can await. */
async function start(way: string, folder: string) {
  const diagnostics: Diagnostic[] = [];
  let wake = (): void => undefined;
  const runner = await startRunnerConfinedBy(way, folder, {
    onDiagnostic: (diagnostic) => {
      diagnostics.push(diagnostic);
      wake();
    },
  });
  const compiled = async (times: number): Promise<void> => {
    const listReports = () => diagnostics.filter(({ event }) => event.startsWith('executable-'));
    while (listReports().length < times) await new Promise<void>((resolve) => (wake = resolve));
    expect(listReports().map(({ event }) => event)).toEqual(Array(times).fill('executable-compiled'));
  };
  return { runner, heard: diagnostics, compiled };
}

async function run(runner: Runner, app: AppSpec): Promise<unknown> {
  const { outcome, stdout } = await runApp(runner, app);
  expect(outcome.error).toBe('');
  return JSON.parse(stdout);
}

const plain = { plan: [1, 2], compiled: false, left: false };

for (const way of ['bubblewrap as root', 'bubblewrap']) {
  const folder = createScratchFolder();
  const first = await start(way, folder);
  if (!first.runner) console.warn(`\n!!! SKIPPED: this host cannot hold apps by ${way}.\n`);
  // Only sandboxes use compiled code, and some hosts have none.
  describe.skipIf(!first.runner)(`confined by ${way}`, () => {
    let { runner, compiled } = first;
    afterAll(async () => {
      await runner?.close();
      removeFolder(folder);
    });

    test('the second run starts the compilation, and later runs use its result', async () => {
      if (!runner) throw new Error('unreachable');
      for (const [place, app] of [PYTHON, NODE].entries()) {
        expect(await run(runner, app)).toEqual(plain);
        expect(await run(runner, app)).toEqual(plain);
        await compiled(place + 1);
        expect(await run(runner, app)).toEqual({ ...plain, compiled: true });
      }
    });

    test('compiled code survives the runner and is replaced for another runtime', async () => {
      await runner?.close();
      const index = join(folder, 'executables', computeSha256(PYTHON.files), 'compiled', 'index.json');
      const text = readFileSync(index, 'utf8');
      const bytecode = readdirSync(dirname(index), { recursive: true, encoding: 'utf8' }).map((path) =>
        basename(path),
      );
      expect(bytecode).toContainEqual(expect.stringMatching(/^plan\..*pyc$/));
      expect(bytecode).not.toContainEqual(expect.stringMatching(/^test_plan\..*pyc$/));
      const shipped = join(
        folder,
        'executables',
        computeSha256(PYTHON.files),
        'root',
        DEPENDENCIES,
        'tool/__pycache__',
      );
      for (const name of readdirSync(shipped))
        expect(readFileSync(join(shipped, name), 'utf8')).toBe('stale');
      ({ runner, compiled } = await start(way, folder));
      if (!runner) throw new Error('The runner did not start again.');
      expect(await run(runner, PYTHON)).toEqual({ ...plain, compiled: true });
      await runner.close();
      writeFileSync(index, text.replace('"runtime":"python ', '"runtime":"python 0'));
      ({ runner, compiled } = await start(way, folder));
      if (!runner) throw new Error('The runner did not start again.');
      expect(await run(runner, PYTHON)).toEqual(plain);
      expect(await run(runner, PYTHON)).toEqual(plain);
      await compiled(1);
      expect(readFileSync(index, 'utf8')).toBe(text);
      expect(await run(runner, PYTHON)).toEqual({ ...plain, compiled: true });
    });

    test('an app without code to compile and a closed runner compile nothing', async () => {
      if (!runner) throw new Error('unreachable');
      const small: AppSpec = {
        type: 'node',
        files: await createTarOfFiles({ 'main.mjs': 'console.log("{}");' }),
      };
      for (let time = 0; time < 3; time += 1) expect(await run(runner, small)).toEqual({});
      const slow: AppSpec = {
        type: 'python',
        files: {
          'main.py': 'print("{}")',
          ...Object.fromEntries(
            Array.from({ length: 500 }, (_, at) => [
              `${DEPENDENCIES}/many/m${at}.py`,
              `A = ${at}\n`.repeat(2_000),
            ]),
          ),
        },
      };
      for (let time = 0; time < 2; time += 1) expect(await run(runner, slow)).toEqual({});
      await runner.close();
      await compiled(1);
    });
  });
}
