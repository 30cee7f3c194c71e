/** Each template: written by `init`, run by `dev`, then pushed and run by a server, with the same result. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { listTemplates } from '../development/templates.ts';
import { runProgram } from '../packing/run-program.ts';
import { HARD_INPUTS } from '../testing/hard-inputs.ts';
import { runCommand } from '../testing/run-command.ts';

interface Case {
  template: string;
  /** The objective value of the sample input, by arithmetic or a proof of the solver. */
  value: number;
  options?: Record<string, string>;
  /** A program that the push needs. */
  tool?: string[];
  /** The packages are several hundred megabytes. */
  hasPackages?: boolean;
  /** The name of the solver, whose log the server reads. */
  solver?: string;
}

const CASES: readonly Case[] = [
  // The least sum over all 720 assignments.
  { template: 'binary', value: 185, tool: ['cc', '--version'] },
  // Dynamic programming over the costs gives the same value.
  { template: 'go', value: 831, tool: ['go', 'version'], options: { order: 'value' } },
  // The sizes add up to twelve full boxes.
  { template: 'node', value: 12, options: { duration: '60' } },
  {
    template: 'python',
    value: 327.099455,
    tool: ['python3', '--version'],
    options: { duration: '60', iterations: '50000' },
  },
  // Dynamic programming over the hours and the 16 states of the plants gives the same value.
  { template: 'cpp', value: 31330, tool: ['cmake', '--version'], hasPackages: true, solver: 'HiGHS' },
  // The least cost of all 1,944 assignments, of those that fit.
  { template: 'java', value: 36, tool: ['mvn', '--version'], hasPackages: true, solver: 'CP-SAT' },
  { template: 'python-highs', value: 9346.837989, hasPackages: true, solver: 'HiGHS' },
  { template: 'python-ortools', value: 14, hasPackages: true, solver: 'CP-SAT' },
  { template: 'python-pyomo', value: 1495, hasPackages: true, solver: 'HiGHS' },
  // Dynamic programming over all sets of customers gives the same value.
  {
    template: 'python-pyvrp',
    value: 428,
    options: { duration: '60', iterations: '5000' },
    hasPackages: true,
    solver: 'PyVRP',
  },
];

const folder = mkdtempSync(join(tmpdir(), 'switchyard-templates-'));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: string[]) =>
  runCommand(args, {
    cwd: folder,
    env: {
      SWITCHYARD_URL: server.url,
      SWITCHYARD_TOKEN: server.token,
      SWITCHYARD_CONFIG: join(folder, 'config'),
    },
  });

test('the table has every template', () => {
  expect(listTemplates().map(({ name }) => name)).toEqual(CASES.map(({ template }) => template).sort());
});

interface ServerRun {
  input: string | object;
  options?: Record<string, string>;
  previous_run_id?: RunId;
}

/** Returns the ended run with its indicators by name, its log and the solves in the log. */
async function runOnServer(application_id: string, body: ServerRun) {
  const created = await server.client.call('createRun', { params: { application_id }, body });
  const params = { application_id, run_id: created.body.run_id };
  const run = await server.waitUntil('runs-ended', async () => {
    const { body } = await server.client.call('getRunMetadata', { params });
    return isTerminal(body.status_v2) && body;
  });
  const [log, series] = await Promise.all([
    server.client.call('getRunLogs', { params }),
    server.client.call('getRunSeries', { params }),
  ]);
  expect(run, log.body.log).toMatchObject({ status_v2: 'succeeded' });
  const indicators = toRecord(run.statistics.indicators);
  return { id: run.id, indicators, log: log.body.log, solves: series.body.solves };
}

/** Returns the values by name, without those that differ from run to run. */
const toRecord = (list: { name: string; value: unknown }[]): Record<string, unknown> =>
  Object.fromEntries(
    list.filter(({ name }) => !name.endsWith('duration')).map((one) => [one.name, one.value]),
  );

const readJson = (path: string): object => JSON.parse(readFileSync(path, 'utf8'));

describe.each(CASES)(
  'the template $template',
  ({ template, value, options = {}, tool, hasPackages, solver }) => {
    test('describes itself, its files and its options', async () => {
      expect((await run(['init', `valid/${template}`, '--template', template])).code).toBe(0);
      expect(existsSync(join(folder, 'valid', template, 'AGENTS.md'))).toBe(true);
      const manifest = parse(readFileSync(join(folder, 'valid', template, 'app.yaml'), 'utf8'));
      expect(manifest.description).toMatch(/^[A-Z].+\.$/);
      expect(manifest.objective).toMatchObject({ name: 'result.value' });
      const items: { name: string; option_type: string; description: string }[] =
        manifest.configuration.options.items;
      for (const { option_type, description } of items) {
        expect(['float', 'int', 'bool', 'string']).toContain(option_type);
        expect(description).toMatch(/\.$/);
      }
      const readme = readFileSync(join(folder, 'valid', template, 'README.md'), 'utf8');
      for (const file of manifest.files.filter((name: string) => name.includes('.')))
        expect(readme).toContain(file);
    });

    test('runs here and on a server with the same result', async (context) => {
      if (hasPackages && process.env.TEMPLATES !== 'all')
        return context.skip(
          `SKIPPING the template ${template}: it installs packages. Set TEMPLATES=all to run it.`,
        );
      if (tool && (await runProgram(tool, { cwd: folder, timeoutMs: 60_000 })).code !== 0)
        return context.skip(`SKIPPING the template ${template}: this machine has no ${tool[0]}.`);
      expect((await run(['init', template, '--template', template])).stdout).toContain(
        `switchyard dev ${template}`,
      );
      const passed = Object.entries(options).map(([name, text]) => `${name}=${text}`);
      const local = await run(['dev', template, '--json', ...passed.flatMap((one) => ['--option', one])]);
      const result = JSON.parse(local.stdout);
      expect(result).toMatchObject({ status_v2: 'succeeded', error: '' });
      expect(toRecord(result.statistics.indicators)).toMatchObject({ 'result.value': value });
      expect(result.series[0].points.length).toBeGreaterThan(0);
      expect(result.output).toHaveProperty('solution');

      expect(await run(['push', template, '--quiet'])).toMatchObject({ code: 0, stdout: `${template}\n` });
      const app = join(folder, template);
      const isText = existsSync(join(app, 'input.txt'));
      const input = isText ? readFileSync(join(app, 'input.txt'), 'utf8') : readJson(join(app, 'input.json'));
      const first = await runOnServer(template, { input, options });
      expect(first.indicators).toEqual(toRecord(result.statistics.indicators));
      if (!solver) return;

      const infeasible = await runOnServer(template, { input: readJson(join(app, 'infeasible.json')) });
      expect(infeasible.indicators).toMatchObject({ 'result.custom.status': 'infeasible' });
      expect(infeasible.indicators).not.toHaveProperty(['result.value']);

      const second = await runOnServer(template, { input, options, previous_run_id: first.id });
      expect(second).toMatchObject({
        indicators: { 'result.value': value },
        log: expect.stringMatching(/^Starting from /m),
      });
      const third = await runOnServer(template, { input, options, previous_run_id: infeasible.id });
      expect(third).toMatchObject({
        indicators: { 'result.value': value },
        log: expect.stringMatching(/^Ignoring the previous run/m),
      });

      const hard = HARD_INPUTS[template] ?? {};
      const limited = await runOnServer(template, { input: hard, options: { duration: '4' } });
      const status = solver === 'PyVRP' ? 'feasible' : 'time_limit';
      expect(limited).toMatchObject({
        indicators: { 'result.custom.status': status, 'result.value': expect.any(Number) },
        solves: [
          { solver, status, objective: expect.closeTo(Number(limited.indicators['result.value']), 3) },
        ],
      });
    });
  },
);
