/** `plan` and `apply`, against one server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createVersion } from '@switchyard/server/testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildFileSchema } from '../../applying/file-schema.ts';
import { parseFile } from '../../applying/read-file.ts';
import { runCommandLine } from '../../program/create-program.ts';
import { runCommand } from '../../testing/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-cli-'));
let server: TestServer;
let application: string;
beforeAll(async () => {
  writeFileSync(join(folder, 'license.txt'), 'text-of-the-license');
  server = await startTestServer({ env: { SWITCHYARD_WEBHOOK_NETWORKS: 'loopback' } });
  application = await createVersion(server);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: string[], env: Record<string, string> = {}) =>
  runCommand(args, {
    cwd: folder,
    env: {
      SWITCHYARD_URL: server.url,
      SWITCHYARD_TOKEN: server.token,
      LICENSE_KEY: 'key-of-the-solver',
      ...env,
    },
  });

const describeFile = (options = '{duration: 10, solver: highs}', more = '') => `
quotas: {concurrent_runs: 8, core_hours_per_month: 500}
applications:
  ${application}:
    name: Vehicle routing
    default_instance: production
    retention: {keep_days: 90}
    quotas: {concurrent_runs: 2, core_hours_per_month: null}
    secrets:
      licence:
        secrets:
          - {type: env, location: SOLVER_LICENSE, from: {env: LICENSE_KEY}}
          - {type: file, location: license.txt, from: {file: license.txt}}
    instances:
      production:
        version_id: v1
        configuration:
          options: ${options}
          secrets_collection_id: licence
          queuing: {priority: 3}
          requirements: {labels: [gpu, big]}
        gates:
          - {type: shadow, termination_events: {maximum_runs: 20}}${more}
webhooks:
  desk: {endpoint_url: 'http://127.0.0.1:9/hook', event_types: [run.status, experiment.status]}
`;
const write = (text: string): void => writeFileSync(join(folder, 'switchyard.yaml'), text);
const readPlan = async (...args: string[]) => JSON.parse((await run(['plan', '--json', ...args])).stdout);
const listActions = (plan: { changes: { action: string; kind: string; id: string }[] }) =>
  plan.changes.map(({ action, kind, id }) => `${action} ${kind} ${id}`);

test('A12: a file is planned with the places of its secrets, applied in the order of its dependencies, and a second apply changes nothing', async () => {
  write(describeFile());
  const { stdout, code } = await run(['plan', '--check']);
  expect(code).toBe(1);
  expect(stdout).toContain('    configuration.options.duration: "10"');
  expect(stdout).toContain(`    name: "Application ${application}" -> "Vehicle routing"`);
  expect(stdout).toContain('    secrets.env SOLVER_LICENSE: (secret) from the variable LICENSE_KEY\n');
  expect(stdout).toContain(
    `    secrets.file license.txt: (secret) from the file ${join(folder, 'license.txt')}\n`,
  );
  expect(stdout).not.toContain('key-of-the-solver');
  const plan = await readPlan();
  expect(listActions(plan)).toEqual([
    'update quotas account',
    `update application ${application}`,
    `update retention ${application}`,
    `update quotas ${application}`,
    'create secrets collection licence',
    'create instance production',
    `update default instances ${application}`,
    'create webhook desk',
  ]);
  expect(JSON.stringify(plan)).not.toContain('key-of-the-solver');

  expect(await readPlan()).toEqual(JSON.parse((await run(['apply', '--plan', '--json'])).stdout));
  expect(await run(['apply'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  const applied = await run(['apply', '--yes', '--plan', plan.id]);
  expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining('Made 8 changes.') });
  const again = await run(['apply', '--yes']);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
  expect((await run(['plan', '--check'])).code).toBe(0);
});

test('a changed option, a removed option and a changed secret are field changes', async () => {
  write(describeFile('{duration: 20}'));
  const env = { LICENSE_KEY: 'another-key-of-the-solver' };
  const { stdout } = await run(['plan'], env);
  expect(stdout).toContain('    configuration.options.duration: "10" -> "20"');
  expect(stdout).toContain('    configuration.options.solver: "highs" -> removed');
  expect(stdout).toContain('    secrets.env SOLVER_LICENSE: (secret) -> (secret)');
  expect(stdout).toContain('0 to create, 2 to update, 0 to delete.');
  expect(await run(['plan'], { LICENSE_KEY: '' })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('LICENSE_KEY, which is not set'),
  });
  expect((await run(['apply', '--yes'], env)).code).toBe(0);
  // Without the right to read secrets, the values cannot be compared and stay.
  const { token } = await server.createKey('viewer');
  const viewed = await run(['plan'], { ...env, SWITCHYARD_TOKEN: token, LICENSE_KEY: 'a-third-key' });
  expect(viewed).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
  expect((await run(['apply', '--yes'])).code).toBe(0);
});

test('a plan is refused once the server has changed', async () => {
  write(describeFile('{duration: 30}'));
  const { id } = await readPlan();
  await server.client.call('updateInstance', {
    params: { application_id: application, instance_id: 'production' },
    body: { name: 'Renamed' },
  });
  const { code, stderr } = await run(['apply', '--yes', '--plan', id]);
  expect({ code, stderr }).toEqual({ code: 5, stderr: expect.stringContaining('has changed') });
});

test.each([
  { reply: 'yes', code: 0 },
  { reply: 'y', code: 2 },
])('at a terminal the changes need a typed yes: $reply', async ({ reply, code }) => {
  write(describeFile(`{duration: 20, solver: ${reply}}`));
  let output = '';
  const stream = { write: (text: string | Uint8Array) => (output += text), isTTY: true };
  const terminal = {
    in: Object.assign(Readable.from([`${reply}\n`]), { isTTY: true }),
    ...{ out: stream, err: stream, cwd: folder, signal: new AbortController().signal },
    env: { SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: server.token, LICENSE_KEY: 'key-of-the-solver' },
  };
  expect(await runCommandLine(['apply'], terminal)).toBe(code);
  expect(output).toContain(code === 0 ? 'Made 1 change.' : 'Nothing was changed: the answer was not yes.');
});

test('only marked and pruned resources are deleted, and no candidate of a promotion', async () => {
  const params = { application_id: application };
  const candidate = 'Promotion of production from v1 to v2.';
  for (const [id, description] of [['old'], ['forgotten'], ['promote-production-v2', candidate]] as const)
    await server.client.call('createInstance', {
      params,
      body: { id, version_id: 'v1', ...(description && { description }) },
    });
  write(describeFile('{duration: 20, solver: yes}', '\n      old: {delete: true}'));
  expect(listActions(await readPlan())).toEqual(['delete instance old']);
  expect(listActions(await readPlan('--prune'))).toEqual([
    'delete instance old',
    'delete instance forgotten',
  ]);
  expect((await run(['apply', '--yes', '--prune'])).code).toBe(0);
  expect(listActions(await readPlan('--prune'))).toEqual([]);
});

describe('a mistake in the file', () => {
  const cases = [
    {
      title: 'an unknown field',
      text: 'applications:\n  routing:\n    nmae: Routing\n',
      message: 'f.yaml:3: applications.routing has the unknown field "nmae"; its fields are delete, name,',
    },
    {
      title: 'a wrong type',
      text: 'applications:\n  routing:\n    instances:\n      production:\n        version_id: 3\n',
      message: 'f.yaml:5: applications.routing.instances.production.version_id must be string.',
    },
    {
      title: 'a secret value',
      text: 'applications:\n  a:\n    secrets:\n      s:\n        secrets:\n          - type: env\n            location: A\n            value: b\n',
      message: 'f.yaml:8: applications.a.secrets.s.secrets.0 has the unknown field "value"',
    },
    {
      title: 'an unknown gate',
      text: 'applications:\n  a:\n    instances:\n      p:\n        gates:\n          - type: canary\n',
      message:
        'f.yaml:6: applications.a.instances.p.gates.0 has the type "canary"; it must be one of acceptance',
    },
    {
      title: 'a field of another gate',
      text: 'applications:\n  a:\n    instances:\n      p:\n        gates:\n          - type: shadow\n            metrics: []\n',
      message: 'f.yaml:7: applications.a.instances.p.gates.0 has the unknown field "metrics"',
    },
    { title: 'broken YAML', text: 'applications: {a: [}\n', message: 'f.yaml:1: ' },
    {
      title: 'an id with capitals',
      text: 'applications:\n  Routing: {}\n',
      message: 'f.yaml:2: applications',
    },
  ];
  test.each(cases)('is named with its line: $title', ({ text, message }) => {
    expect(() => parseFile(text, 'f.yaml')).toThrow(message);
  });
});

test('the published schema is that of the code', async () => {
  await expect(`${JSON.stringify(buildFileSchema(), null, 2)}\n`).toMatchFileSnapshot(
    '../../applying/switchyard.schema.json',
  );
});
