/** The command line as a whole: sign-in, forms of output, exit codes and wrong arguments. */
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../testing/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-cli-'));
const config = join(folder, 'config');
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.client.call('createApplication', { body: { id: 'routing', name: 'Routing' } });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: string[], env: Record<string, string> = {}, input = '') =>
  runCommand(args, { cwd: folder, input, env: { SWITCHYARD_CONFIG: config, ...env } });

describe('profiles', () => {
  test('a token from standard input is stored for its owner alone, and used by later commands', async () => {
    const signedIn = await run(['login', '--url', server.url, '--token-stdin'], {}, `${server.token}\n`);
    expect(signedIn).toMatchObject({ code: 0, stderr: '' });
    expect(signedIn.stdout).not.toContain(server.token);
    expect(statSync(join(config, 'profiles.json')).mode & 0o777).toBe(0o600);
    const { code, stdout } = await run(['whoami', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ url: server.url, source: 'default', key: { role: 'root' } });
  });

  test('a token that the server refuses is not stored', async () => {
    const refused = await run(['login', '--url', server.url, '--token-stdin', '--profile', 'x'], {}, 'wrong');
    expect(refused.code).toBe(3);
    expect((await run(['profiles', '--quiet'])).stdout).toBe('default\n');
  });

  test('a profile that others may read is refused', async () => {
    const open = join(folder, 'open');
    await run(['login', '--url', server.url, '--token-stdin'], { SWITCHYARD_CONFIG: open }, server.token);
    chmodSync(join(open, 'profiles.json'), 0o644);
    const { code, stderr } = await run(['whoami'], { SWITCHYARD_CONFIG: open });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('chmod 600') });
  });

  test('the token of a profile is never sent to another server', async () => {
    const { code, stderr } = await run(['whoami'], { SWITCHYARD_URL: 'http://127.0.0.1:1' });
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('No server is known') });
  });

  test('a signed-out profile is gone', async () => {
    const env = { SWITCHYARD_CONFIG: join(folder, 'other') };
    await run(['login', '--url', server.url, '--token-stdin'], env, server.token);
    expect((await run(['logout'], env)).code).toBe(0);
    expect((await run(['whoami'], env)).code).toBe(3);
  });
});

describe('the exit code', () => {
  const wrongToken = () => ({ SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: 'wrong' });
  interface WrongUse {
    title: string;
    args: string[];
    code: number;
    words: string;
    env?: Record<string, string>;
  }
  const cases: WrongUse[] = [
    { title: 'an unknown command', args: ['rnus'], code: 2, words: 'Did you mean runs?' },
    { title: 'an unknown command of runs', args: ['runs', 'gte'], code: 2, words: 'runs has delete, flow' },
    { title: 'an unknown option', args: ['runs', '--stauts', 'x'], code: 2, words: 'Did you mean --status?' },
    { title: 'a wrong value', args: ['runs', '--limit', '0'], code: 2, words: 'from 1 to' },
    { title: 'an unknown status', args: ['runs', '--status', 'done'], code: 2, words: 'succeeded' },
    { title: 'two forms', args: ['runs', '--json', '--quiet'], code: 2, words: 'exclude each other' },
    {
      title: 'a selection beside ids',
      args: ['runs', '--select', 'runs', '-q'],
      code: 2,
      words: 'exclude each other',
    },
    {
      title: 'a wrong selection',
      args: ['runs', '--select', 'runs['],
      code: 2,
      words: '--select is "runs["; it must be a JMESPath expression',
    },
    { title: 'no application', args: ['runs'], code: 2, words: '--app' },
    { title: 'an unknown application', args: ['runs', '--app', 'nothing'], code: 4, words: 'nothing' },
    {
      title: 'a server that cannot be reached',
      args: ['whoami'],
      code: 6,
      words: 'cannot be reached',
      env: { SWITCHYARD_URL: 'http://127.0.0.1:1', SWITCHYARD_TOKEN: 'x' },
    },
    {
      title: 'an unknown command of a group with a default',
      args: ['versions', 'compare', 'v1', 'v2', '--app', 'routing'],
      code: 2,
      words: "unknown command 'compare'; versions has create, delete, diff",
    },
    {
      title: 'an argument that a default command does not have',
      args: ['versions', 'list', 'routing', 'v1'],
      code: 2,
      words: "too many arguments for 'list'. Expected 1 but got 2.",
    },
    {
      title: 'two applications',
      args: ['versions', 'list', 'v1', '--app', 'routing'],
      code: 2,
      words: 'The application is "v1" as the last argument and "routing" with --app',
    },
    {
      title: 'a group with a misspelt command where an application could be',
      args: ['versions', 'crate'],
      code: 2,
      words: "unknown command 'crate'; versions has create, delete, diff",
    },
    { title: 'help of an unknown command', args: ['help', 'rnus'], code: 2, words: 'Did you mean runs?' },
    {
      title: 'an unknown operation',
      args: ['api', 'getQueu'],
      code: 2,
      words: 'did you mean "getQueue"?',
    },
    {
      title: 'an address without a scheme',
      args: ['whoami'],
      code: 2,
      words: 'SWITCHYARD_URL is "127.0.0.1:8080"; it must begin with',
      env: { SWITCHYARD_URL: '127.0.0.1:8080', SWITCHYARD_TOKEN: 'x' },
    },
    {
      title: 'the address of a page',
      args: ['whoami'],
      code: 2,
      words: 'give the address of the server alone: http://127.0.0.1:8080\n',
      env: { SWITCHYARD_URL: 'http://127.0.0.1:8080/docs', SWITCHYARD_TOKEN: 'x' },
    },
    {
      title: 'a token that no header can carry',
      args: ['whoami'],
      code: 2,
      words: 'SWITCHYARD_TOKEN has a space or a character that no token has',
      env: { SWITCHYARD_URL: 'http://127.0.0.1:8080', SWITCHYARD_TOKEN: '配送' },
    },
    {
      title: 'a folder without an app',
      args: ['push', 'no-folder'],
      code: 2,
      words: 'has no app.yaml',
    },
    {
      title: 'an output in a folder that does not exist, before the run is created',
      args: ['run', '--app', 'routing', '--input', 'input.json', '--output', 'no/folder/out.json'],
      code: 2,
      words: '--output is "no/folder/out.json"; the folder',
    },
  ];
  test.each(cases)('of $title is $code', async ({ args, code, words, env }) => {
    expect(await run(args, env)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) });
  });

  test('of a refused token is 3; with --json the error is an object', async () => {
    const { code, stderr } = await run(['whoami', '--json'], wrongToken());
    expect(code).toBe(3);
    expect(JSON.parse(stderr)).toEqual({
      error: { message: expect.stringContaining('switchyard login'), exit_code: 3, status: 401 },
    });
  });
});

test.each([
  [['runz', '--json'], "unknown command 'runz'\n(Did you mean one of run, runs?)"],
  [['runs', '--limit', '0', '--json'], expect.stringContaining('from 1 to')],
  [['apps', 'get', '--json', '--stauts'], expect.stringContaining("unknown option '--stauts'")],
  [['--json'], 'A command is missing. Print the commands with: switchyard --help'],
])('wrong arguments with --json are an object: %j', async (args, message) => {
  const { code, stdout, stderr } = await run(args);
  expect({ code, stdout, error: JSON.parse(stderr) }).toEqual({
    code: 2,
    stdout: '',
    error: { error: { message, exit_code: 2 } },
  });
});

test('an https address of a server without TLS gets a sentence, not the text of OpenSSL', async () => {
  const { code, stderr } = await run(['whoami'], {
    SWITCHYARD_URL: server.url.replace('http:', 'https:'),
    SWITCHYARD_TOKEN: 'x',
  });
  expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringContaining('Use http://') });
});

test('help of a command below another prints its help, and never runs it', async () => {
  expect((await run(['help', 'runs', 'get'])).stdout).toMatch(/^Usage: switchyard runs get/);
  expect((await run(['help', 'cancel', 'run-1'])).stdout).toMatch(/^Usage: switchyard cancel/);
});

test('the help of a group has an example of each of its commands', async () => {
  const { stdout } = await run(['keys', '--help']);
  expect(stdout).toContain('Examples of its commands:\n  switchyard keys list\n');
});

test('a wrong argument of a group points at the help of the group', async () => {
  expect((await run(['experiments', 'nope'])).stderr).toContain('switchyard experiments --help');
});

test('the folder of an app names the application; a list without runs says so', async () => {
  writeFileSync(join(folder, '.switchyard.json'), '{"application": "routing"}');
  expect(await run(['runs'])).toMatchObject({ code: 0, stdout: 'Application routing has no such runs.\n' });
  expect(JSON.parse((await run(['runs', '--json'])).stdout)).toEqual({ runs: [] });
  rmSync(join(folder, '.switchyard.json'));
});

test.each([
  ['runs'],
  ['runs', 'get', 'run-1'],
  ['versions'],
  ['versions', 'list'],
  ['instances', 'get', 'main'],
])('the application is the last argument: %s %s %s', async (...words) => {
  const env = { SWITCHYARD_APP: 'elsewhere' };
  const [last, option] = [await run([...words, 'routing'], env), await run([...words, '--app', 'routing'])];
  expect(last).toEqual(option);
  expect(`${last.stdout}${last.stderr}`).not.toContain('elsewhere');
});

test('--select prints what it selects from the response', async () => {
  const selected = async (expression: string): Promise<string> =>
    (await run(['api', 'getAccount', '--select', expression])).stdout;
  const { id, name } = (await server.client.call('getAccount')).body;
  expect(await selected('id')).toBe(`${id}\n`);
  expect(await selected('[name, id]')).toBe(`${name}\n${id}\n`);
  expect(await selected('[[name, id]]')).toBe(`${name}\t${id}\n`);
  const json = await run(['api', 'getAccount', '--json', '--select', '[[name, id], id]']);
  expect(json.stdout).toBe(`${JSON.stringify([name, id])}\n${id}\n`);
  expect(await selected('{me: id}')).toBe(`{\n  "me": "${id}"\n}\n`);
  expect(await selected('unknown')).toBe('');
});

test('text of other people cannot control the terminal', async () => {
  const params = { application_id: 'hostile' };
  await server.client.call('createApplication', { body: { id: 'hostile', name: 'Hostile' } });
  const description = 'ok\u001b]0;title\u0007\u001b[2J\u202egnirts';
  await server.client.call('updateApplication', { params, body: { description } });
  const { stdout } = await run(['apps', 'get', 'hostile']);
  expect(stdout).toContain('gnirts');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must be absent.
  expect(stdout).not.toMatch(/[\u001b\u0007\u202e]/);
});
