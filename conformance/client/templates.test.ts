/**
 * Every template of the published Python package, unchanged: `npm run push` pushes it as its user does, and the
 * package's client runs it with options. The templates load their packages from the indexes of Python and Java;
 * `.cache` stores the downloads.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createRunAndWait } from '@switchyard/server/testing/fixtures/apps.ts';
import { locateTestProgram } from '@switchyard/server/testing/servers/test-programs.ts';
import { startTestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { describe, expect, test, vi } from 'vitest';
import { openPublishedClient } from './published-client.ts';

// Eight apps unpack packages of 100 to 360 MB; the first run downloads them too.
vi.setConfig({ testTimeout: 900_000 });

interface Template {
  folder: string;
  app: string;
  options: Record<string, string>;
  /** The metric that an acceptance test compares, and its value for the sample input. */
  metric?: [name: string, value: number];
  workflow?: boolean;
  /** The defect in this version of the package. */
  defect?: { status: string; log?: string; metrics?: unknown };
}

const hello = (kind: string, format: string): Template => ({
  folder: `${kind}_${format}_hello-world`,
  app: `${kind}-${format}-hello-world`,
  options: { details: 'false' },
  metric: ['value', 1.23],
});
/** Each of the 25 students of the sample input gets a class. */
const classes = (format: string): Template => ({
  folder: `python_${format}_class-assign`,
  app: `${format}-class-assign`,
  options: { duration: '20', extended_day_bonus: '3.0' },
  metric: ['assigned_students', 25],
});

const TEMPLATES: Template[] = [
  ...['json', 'multi-file'].flatMap((format) => [
    hello('go', format),
    hello('java', format),
    hello('python', format),
    classes(format),
  ]),
  {
    folder: 'python_json_demand-alloc/allocation',
    // The workflows refer to the allocating application by this id.
    app: 'inventory-allocation',
    options: { time_limit: '20', penalty_unmet_demand: '50' },
    metric: ['fill_rate', 1],
  },
  {
    folder: 'python_multi-file_demand-alloc/allocation',
    app: 'multi-file-allocation',
    options: { time_limit: '20' },
    // It passes one argument too many to a function of its own.
    defect: { status: 'failed', log: 'TypeError: extract_solution() takes 8 positional arguments but 9' },
  },
  {
    folder: 'python_multi-file_demand-alloc/workflow',
    app: 'multi-file-workflow',
    options: { random_seed: '7', time_limit: '20' },
    workflow: true,
    metric: ['fill_rate', 1],
  },
  {
    folder: 'python_json_demand-alloc/workflow',
    app: 'json-workflow',
    options: { random_seed: '7', time_limit: '20' },
    workflow: true,
    // It reads `statistics` of the allocation, which reports only `metrics`.
    defect: { status: 'succeeded', metrics: {} },
  },
];

const isComplete = process.env.TEMPLATES === 'all';

/** All of them need four minutes of a core: six apps have packages of 200 to 360 MB. The tests run the other six. */
const chosen = isComplete ? TEMPLATES : TEMPLATES.filter(({ folder }) => folder.endsWith('hello-world'));

/**
 * An acceptance test compares stored metrics, whatever wrote them, so one language in both formats suffices. The second
 * run of a Python template compiles packages of 170 MB, which takes ten seconds of a core.
 */
const isCompared = ({ folder }: Template): boolean => isComplete || folder.startsWith('go_');

/** Maven runs for a few seconds: the optimising compiler takes more than half of its processor time. */
const MAVEN_OPTIONS = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

const client = await openPublishedClient();
const clientMissing = typeof client === 'string';

// client.test.ts reports a missing client once.
describe.skipIf(clientMissing)('the templates of the published package', () => {
  test('run unchanged with options, and acceptance tests compare their metrics', async () => {
    if (typeof client === 'string') throw new Error(client);
    const templates = mkdtempSync(join(tmpdir(), 'switchyard-templates-'));
    // Slots for two compared runs of a workflow, and for those of their steps.
    await using server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '4' } });
    try {
      const { interpreterPath: python, commandPath: command } = client.installed;
      // Without the import of the package, which takes half a second.
      const locate =
        'from importlib.util import find_spec; print(*find_spec("nextmv").submodule_search_locations, end="")';
      const { stdout } = await promisify(execFile)(python, ['-c', locate]);
      cpSync(join(stdout, 'templates'), templates, { recursive: true });
      const push = async ({ folder, app }: Template): Promise<string> => {
        const env = {
          ...process.env,
          // uv is a dependency of the client.
          MAVEN_OPTS: MAVEN_OPTIONS,
          PATH: `${dirname(command('uv'))}${delimiter}${process.env.PATH}`,
          SWITCHYARD_URL: server.url,
          SWITCHYARD_TOKEN: server.token,
        };
        const args = [locateTestProgram('cli/main.ts'), 'push', join(templates, folder), app];
        return await promisify(execFile)(process.execPath, args, { env }).then(
          () => '',
          (error: { stderr: string }) => error.stderr,
        );
      };
      const pushed: Template[] = [];
      const queue = [...chosen];
      const pushAll = async (): Promise<void> => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          const problem = await push(next);
          if (isMissing(problem)) {
            process.stderr.write(`\nSKIPPED: the template ${next.folder} did not run. ${problem}\n`);
            continue;
          }
          expect(problem, next.folder).toBe('');
          pushed.push(next);
        }
      };
      await Promise.all([pushAll(), pushAll()]);
      const allocates = pushed.some(({ app }) => app === 'inventory-allocation');
      const tried = pushed.filter(({ workflow }) => !workflow || allocates);
      const requests = tried.map(({ metric, ...template }) => ({
        ...template,
        folder: join(templates, template.folder),
        ...(metric && isCompared(template) ? { metric: metric[0] } : {}),
      }));
      const driver = join(import.meta.dirname, 'templates-driver.py');
      await using session = client.startSession(server);
      const seen = (await session.runDriver(driver, JSON.stringify(requests))) as Record<string, unknown>;
      expect(seen).toEqual(Object.fromEntries(tried.map((one) => [one.app, expectedResult(one)])));
    } finally {
      rmSync(templates, { recursive: true, force: true });
    }
  });
});

describe.skipIf(clientMissing)('packages that the published command packs', () => {
  test('B8: packages for another processor are refused with the corrected line, which then works', async (context) => {
    if (typeof client === 'string') throw new Error(client);
    if (process.platform !== 'linux') return context.skip('The command packs for Linux only.');
    await using server = await startTestServer();
    await using session = client.startSession(server);
    const { body } = await server.client.call('getReadiness');
    const version = /^\d+\.\d+/.exec(body.runtimes.python?.version ?? '')?.[0] ?? '';
    const own = process.arch === 'x64' ? 'amd64' : process.arch;
    await server.client.call('createApplication', { body: { id: 'escaping', name: 'Escaping' } });
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-escaping-'));
    try {
      writeFileSync(
        join(folder, 'main.py'),
        'import json\nfrom markupsafe import _speedups, escape\nprint(json.dumps({"escaped": str(escape("<"))}))\n',
      );
      const push = (arch: string) => {
        writeFileSync(
          join(folder, 'app.yaml'),
          `type: python\nruntime: ghcr.io/nextmv-io/runtime/python:3.11\nfiles: [main.py]\npython:\n  pip-requirements: [markupsafe==3.0.4]\n  arch: ${arch}\n  version: "${version}"\n`,
        );
        const args = ['cloud', 'app', 'push', '--app-id', 'escaping', '--app-dir', folder, '--version-no'];
        return session.runCommand(args);
      };
      const wrong = await push(own === 'amd64' ? 'arm64' : 'amd64');
      if (isMissing(wrong.stderr)) return context.skip(`The package index is unavailable: ${wrong.stderr}`);
      expect(wrong.exitCode).not.toBe(0);
      expect(wrong.stderr.replaceAll(/\s+/g, ' ')).toContain(`Set python.arch: ${own} in app.yaml`);
      expect(await push(own)).toMatchObject({ exitCode: 0 });
      expect((await createRunAndWait(server, 'escaping', { input: {} })).output).toEqual({ escaped: '&lt;' });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

function expectedResult(template: Template): unknown {
  const { options, metric, defect, folder } = template;
  const status = defect?.status ?? 'succeeded';
  const [name = '', value = 0] = metric ?? [];
  return {
    status,
    options,
    metrics: metric ? expect.objectContaining({ [name]: value }) : (defect?.metrics ?? null),
    log: expectedLog(folder, defect),
    ...(metric && isCompared(template)
      ? { acceptance: { passed: true, means: [value, value], counts: [1, 1] } }
      : {}),
  };
}

/**
 * `details` turns one line of the greeting off. Like the package's own executor, the runner passes `-details false`. Go
 * parses that as a switch that is on, and the Java template expects two dashes.
 */
function expectedLog(folder: string, defect: Template['defect']): unknown {
  if (!folder.endsWith('hello-world')) return expect.stringContaining(defect?.log ?? '');
  const line = 'million km';
  return folder.startsWith('python') ? expect.not.stringContaining(line) : expect.stringContaining(line);
}

/** Returns true if a push failed without a compiler, or without access to a package index. */
function isMissing(problem: string): boolean {
  return /spawn (go|mvn) ENOENT|(go|mvn): (command )?not found|Failed to fetch|Could not connect|dns error|error sending request|Could not transfer artifact|Unknown host/i.test(
    problem,
  );
}
