/**
 * The pages as their reader: every example of every page, in order, in bash, against a server after its first start. The
 * sample apps are pushed and run the way `npm start` does it.
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import {
  type ExampleStep,
  extractExamples,
  listExamplePages,
  listTabChoices,
} from '@switchyard/site/examples.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FirstRunResult, pushAndRunSample } from './first-run/push-and-run-sample.ts';
import { startCommandServer } from './testing/command-server.ts';
import { startCurlServer } from './testing/curl-server.ts';
import { startPythonServer } from './testing/python-server.ts';
import type { ShellServer } from './testing/shell-server.ts';
import { startSleepServer } from './testing/sleep-server.ts';

const apps = join(import.meta.dirname, '..', 'sample-apps');
let server: TestServer;
/** Serves the pages on HTTPS. */
let secureServer: TestServer;
let sleepServer: ShellServer;
let commandServer: ShellServer;
let curlServer: ShellServer;
/** Undefined on a machine without the published Python client. */
let pythonServer: ShellServer | undefined;
let first: FirstRunResult;
const output: string[] = [];

beforeAll(async () => {
  server = await startTestServer();
  secureServer = await startTestServer({ env: { SWITCHYARD_TLS: 'self-signed' } });
  sleepServer = await startSleepServer(server.runningServer.database);
  commandServer = await startCommandServer();
  curlServer = await startCurlServer();
  pythonServer = await startPythonServer();
  first = await pushAndRunSample(server.client, apps, (line) => output.push(line));
});
afterAll(async () => {
  sleepServer.close();
  commandServer.close();
  curlServer.close();
  pythonServer?.close();
  await server.close();
  await secureServer.close();
});

/** Each page is the first one of its reader, so experiments of other pages are no earlier looks at its questions. */
const deleteLooks = () =>
  server.runningServer.database.transact((tx) => tx.deleteFrom('question_looks').execute());

describe('the first start', () => {
  test('pushes every sample app and plans the routing app’s sample input', () => {
    expect(first.error).toBe('');
    expect(first.status).toBe('succeeded');
    expect(first.value).toBeGreaterThan(0);
    expect(output).toContain('pushed vehicle-routing');
  });

  test('pushes nothing twice', async () => {
    const again = await pushAndRunSample(server.client, apps, () => {});
    expect(again.pushedApplications).toEqual([]);
    const { body } = await server.client.call('getInput', {
      params: { application_id: 'vehicle-routing', input_id: 'sample' },
    });
    expect(body.run_id).toBe(first.runId);
  });
});

/**
 * Ends a page that hangs. One that leads experiments to decisions takes 200 s beside other tests, and 400 s on a machine
 * that is half as fast.
 */
const PAGE_MS = 1_200_000;

/**
 * Pages that run, with the tab of curl, the programs `sleep` and `curl`. On the others the test process does the work of these,
 * which saves a third of the processor time.
 */
const RUNS_AS_PRINTED = /^\/docs\/get-started\/(quickstarts\/overview|concepts\/)/;

/** The name comes first, because the titles of `%s` are whole: those of `$name` end after 40 characters. */
const stories = listExamplePages().flatMap((route) =>
  listTabChoices(route).map(
    (choice) => [[route, ...Object.values(choice)].join(' '), route, choice] as const,
  ),
);

describe('the examples of', () => {
  test.each(stories)(
    '%s',
    async (_name, route, choice) => {
      const all = extractExamples(route, choice, pythonServer ? [] : ['Python']);
      const missing = listMissing(all.flatMap((step) => (step.kind === 'shell' ? (step.needs ?? []) : [])));
      if (missing.length > 0)
        console.warn(`SKIPPING steps of ${route}: this host has no ${missing.join(', ')}.`);
      const isPossible = (step: ExampleStep): boolean =>
        step.kind === 'file' || !step.needs?.some((need) => missing.includes(need));
      const steps = all.filter(isPossible);
      if (!pythonServer && steps.some(({ text }) => text.includes('from nextmv')))
        return console.warn(`SKIPPING ${route} in Python: the client is not installed.`);
      await deleteLooks();
      const folder = mkdtempSync(join(tmpdir(), 'switchyard-page-'));
      try {
        writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: COMMANDS }));
        const isSecure = steps.some((step) => step.text.includes('https://127.0.0.1:8080'));
        symlinkSync((isSecure ? secureServer : server).dataFolder, join(folder, 'data'));
        expect(steps.length).toBeGreaterThan(0);
        const isAsPrinted = RUNS_AS_PRINTED.test(route) && (choice.client ?? 'curl') === 'curl';
        const script = [
          'set -euo pipefail',
          commandServer.definition,
          pythonServer?.definition ?? '',
          ...(isAsPrinted ? [] : [sleepServer.definition, curlServer.definition]),
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
            .replaceAll('http://127.0.0.1:8080', server.url)
            .replaceAll('https://127.0.0.1:8080', secureServer.url);
          script.push(`{\n${commands}\n} > step-${index}.out`);
        }
        if (scope !== undefined) script.push(')');
        const ran = await bash(folder, script.join('\n'));
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
    },
    PAGE_MS + 10_000,
  );
});

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
  }).map(([name, path]) => {
    const file = join(import.meta.dirname, '..', path);
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

function bash(folder: string, script: string): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    const environment = {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      // The locale of a reader, whose terminal shows the signs and lines of the pages.
      LANG: 'C.UTF-8',
      SWITCHYARD_DATABASE: server.databaseUrl,
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
