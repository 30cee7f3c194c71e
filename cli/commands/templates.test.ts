/** Each template: written by `init`, run by `dev`, then pushed and run by a server, with the same result. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTerminal } from '@switchyard/contract/states.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { listTemplates } from '../development/templates.ts';
import { runProgram } from '../packing/run-program.ts';
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
  { template: 'python-highs', value: 9346.837989, hasPackages: true },
  { template: 'python-ortools', value: 14, hasPackages: true },
  { template: 'python-pyomo', value: 1495, hasPackages: true },
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

async function runOnServer(application_id: string, app: string, options: Record<string, string>) {
  const isText = existsSync(join(app, 'input.txt'));
  const text = readFileSync(join(app, isText ? 'input.txt' : 'input.json'), 'utf8');
  const params = { application_id };
  const created = await server.client.call('createRun', {
    params,
    body: { input: isText ? text : JSON.parse(text), options },
  });
  const { run_id } = created.body;
  return await server.waitUntil('runs-ended', async () => {
    const { body } = await server.client.call('getRunMetadata', { params: { ...params, run_id } });
    return isTerminal(body.status_v2) && body;
  });
}

describe.each(CASES)('the template $template', ({ template, value, options = {}, tool, hasPackages }) => {
  test('describes itself, its files and its options', async () => {
    expect((await run(['init', `valid/${template}`, '--template', template])).code).toBe(0);
    const manifest = parse(readFileSync(join(folder, 'valid', template, 'app.yaml'), 'utf8'));
    expect(manifest.description).toMatch(/^[A-Z].+\.$/);
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
    const indicators = (list: { name: string; value: unknown }[]) =>
      Object.fromEntries(
        list.filter(({ name }) => !name.endsWith('duration')).map((one) => [one.name, one.value]),
      );
    expect(indicators(result.statistics.indicators)).toMatchObject({ 'result.value': value });
    expect(result.series[0].points.length).toBeGreaterThan(0);
    expect(result.output).toHaveProperty('solution');

    expect(await run(['push', template, '--quiet'])).toMatchObject({ code: 0, stdout: `${template}\n` });
    const remote = await runOnServer(template, join(folder, template), options);
    expect(remote).toMatchObject({ status_v2: 'succeeded' });
    expect(indicators(remote.statistics.indicators)).toEqual(indicators(result.statistics.indicators));
  });
});
