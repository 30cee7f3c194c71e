/**
 * Pages as their reader: every example of a page, in order, in bash, against a server after its first start. The sample
 * apps are pushed and run the way `npm start` does it.
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { locateTestProgram } from '@switchyard/server/testing/servers/test-programs.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import {
  type ExampleStep,
  extractExamples,
  listExamplePages,
  listTabChoices,
  type TabChoice,
} from '@switchyard/site/examples.ts';
import { expect } from 'vitest';
import { type FirstRunResult, pushAndRunSample } from '../first-run/push-and-run-sample.ts';
import { startCommandServer } from './command-server.ts';
import { startCurlServer } from './curl-server.ts';
import { startPythonServer } from './python-server.ts';
import type { ShellServer } from './shell-server.ts';
import { startSleepServer } from './sleep-server.ts';

const apps = join(import.meta.dirname, '..', '..', 'sample-apps');

/**
 * Ends a page that hangs. One that leads experiments to decisions takes 200 s beside other tests, and 400 s on a machine
 * that is half as fast.
 */
export const PAGE_MS = 1_200_000;

/**
 * Pages that run, with the tab of curl, the programs `sleep` and `curl`. On the others the test process does the work of these,
 * which saves a third of the processor time.
 */
const RUNS_AS_PRINTED = /^\/docs\/get-started\/(quickstarts\/overview|concepts\/)/;

/**
 * Lists the stories of the pages below the route, or of all others: name, route and tabs. The pages run in two files
 * of tests, which run side by side.
 */
export function listStories(below: string, isBelow: boolean): (readonly [string, string, TabChoice])[] {
  return listExamplePages()
    .filter((route) => route.startsWith(below) === isBelow)
    .flatMap((route) =>
      listTabChoices(route).map(
        (choice) => [[route, ...Object.values(choice)].join(' '), route, choice] as const,
      ),
    );
}

/** What takes over the work of commands in the shell. */
interface ShellServers {
  sleep: ShellServer;
  command: ShellServer;
  curl: ShellServer;
  /** Undefined on a machine without the published Python client. */
  python: ShellServer | undefined;
}

/** The servers of the stories, after the first start of the product. */
export class StoryTeller {
  /** The first start, and what it printed. */
  readonly first: FirstRunResult;
  readonly output: readonly string[];
  readonly server: TestServer;
  /** Serves the pages on HTTPS. */
  readonly #secureServer: TestServer;
  readonly #shellServers: ShellServers;

  private constructor(
    servers: { server: TestServer; secureServer: TestServer },
    shellServers: ShellServers,
    firstStart: { first: FirstRunResult; output: readonly string[] },
  ) {
    this.server = servers.server;
    this.#secureServer = servers.secureServer;
    this.#shellServers = shellServers;
    this.first = firstStart.first;
    this.output = firstStart.output;
  }

  /** Starts the servers, and pushes and runs the samples. */
  static async start(): Promise<StoryTeller> {
    const server = await startTestServer();
    const secureServer = await startTestServer({ env: { SWITCHYARD_TLS: 'self-signed' } });
    const shellServers = {
      sleep: await startSleepServer(server.runningServer.database),
      command: await startCommandServer(),
      curl: await startCurlServer(),
      python: await startPythonServer(),
    };
    const output: string[] = [];
    const first = await pushAndRunSample(server.client, apps, (line) => output.push(line));
    return new StoryTeller({ server, secureServer }, shellServers, { first, output });
  }

  async close(): Promise<void> {
    for (const shellServer of Object.values(this.#shellServers)) shellServer?.close();
    await this.server.close();
    await this.#secureServer.close();
  }

  /** Runs the examples of a page with the tabs, and compares what they print. */
  async tell(route: string, choice: TabChoice): Promise<void> {
    const steps = this.#listSteps(route, choice);
    if (steps.length === 0) return;
    await this.#deleteLooks();
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-page-'));
    try {
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: COMMANDS }));
      const isSecure = steps.some((step) => step.text.includes('https://127.0.0.1:8080'));
      symlinkSync((isSecure ? this.#secureServer : this.server).dataFolder, join(folder, 'data'));
      const isAsPrinted = RUNS_AS_PRINTED.test(route) && (choice.client ?? 'curl') === 'curl';
      const ran = await runBash(
        folder,
        this.#writeScript(folder, steps, isAsPrinted),
        this.server.databaseUrl,
      );
      expect(ran.code, ran.stderr).toBe(0);
      for (const [index, step] of steps.entries()) {
        if (step.kind !== 'shell' || step.expect === undefined) continue;
        // A no-break space before a sign of percent looks like a space on the page.
        const output = readFileSync(join(folder, `step-${index}.out`), 'utf8').replaceAll('\u00a0', ' ');
        if (step.expect instanceof RegExp) expect(output).toMatch(step.expect);
        else expect(output).toContain(step.expect);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Lists the steps that this host can take; none, with a warning, for a page whose client it lacks. */
  #listSteps(route: string, choice: TabChoice): ExampleStep[] {
    const hasPython = this.#shellServers.python !== undefined;
    const all = extractExamples(route, choice, hasPython ? [] : ['Python']);
    const missing = listMissing(all.flatMap((step) => (step.kind === 'shell' ? (step.needs ?? []) : [])));
    if (missing.length > 0)
      console.warn(`SKIPPING steps of ${route}: this host has no ${missing.join(', ')}.`);
    const isPossible = (step: ExampleStep): boolean =>
      step.kind === 'file' || !step.needs?.some((need) => missing.includes(need));
    const steps = all.filter(isPossible);
    if (!hasPython && steps.some(({ text }) => text.includes('from nextmv'))) {
      console.warn(`SKIPPING ${route} in Python: the client is not installed.`);
      return [];
    }
    expect(steps.length).toBeGreaterThan(0);
    return steps;
  }

  /** Writes the files of the steps, and returns the script of their commands. */
  #writeScript(folder: string, steps: readonly ExampleStep[], isAsPrinted: boolean): string {
    const { command, python, sleep, curl } = this.#shellServers;
    const script = [
      'set -euo pipefail',
      command.definition,
      python?.definition ?? '',
      ...(isAsPrinted ? [] : [sleep.definition, curl.definition]),
    ];
    let scope: string | undefined;
    for (const [index, step] of steps.entries()) {
      if (step.kind === 'file') {
        mkdirSync(dirname(join(folder, step.path)), { recursive: true });
        writeFileSync(join(folder, step.path), step.text);
        continue;
      }
      if (scope !== step.scope)
        script.push(scope === undefined ? '' : ')', step.scope === undefined ? '' : '(');
      scope = step.scope;
      // All blocks of a page run in one shell, as they do for a reader; the output of each goes to a separate file.
      const commands = step.text
        .replaceAll('http://127.0.0.1:8080', this.server.url)
        .replaceAll('https://127.0.0.1:8080', this.#secureServer.url);
      script.push(`{\n${commands}\n} > step-${index}.out`);
    }
    if (scope !== undefined) script.push(')');
    return script.join('\n');
  }

  /** Each page is the first one of its reader, so experiments of other pages are no earlier looks at its questions. */
  async #deleteLooks(): Promise<void> {
    await this.server.runningServer.database.transact((tx) => tx.deleteFrom('question_looks').execute());
  }
}

/**
 * Commands that pages give in the folder of the repository, without the installation that goes before them. They use its
 * compile cache, as they do for a reader.
 */
const COMMANDS = Object.fromEntries(
  Object.entries({
    backup: 'server/ops/backup/backup-command.ts',
    restore: 'server/ops/backup/restore-command.ts',
    verify: 'server/ops/backup/verify-command.ts',
    worker: 'worker/process.ts',
  } as const).map(([name, path]) => {
    const file = locateTestProgram(path);
    const cache = process.env.NODE_COMPILE_CACHE ?? '';
    return [name, `NODE_COMPILE_CACHE='${cache}' exec '${process.execPath}' '${file}'`];
  }),
);

/** Packages of several hundred megabytes are installed where EXAMPLES is `all`. */
function listMissing(needs: readonly string[]): string[] {
  return [...new Set(needs)].filter((need) =>
    need === 'packages'
      ? process.env.EXAMPLES !== 'all'
      : spawnSync('bash', ['-c', 'command -v "$0"', need]).status !== 0,
  );
}

function runBash(
  folder: string,
  script: string,
  databaseUrl: string,
): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    const environment = {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      // The locale of a reader, whose terminal shows the signs and lines of the pages.
      LANG: 'C.UTF-8',
      SWITCHYARD_DATABASE: databaseUrl,
    };
    execFile(
      'bash',
      ['-c', script],
      { cwd: folder, env: environment, timeout: PAGE_MS },
      (error, _stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stderr });
      },
    );
  });
}
