/** `init` and `dev` without a server: what they refuse, what an app receives, and repeated runs. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type CommandSettings, runCommand } from '../testing/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-dev-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (args: string[], settings: Partial<CommandSettings> = {}) =>
  runCommand(args, { cwd: folder, ...settings });

const OPTIONS = `
configuration:
  options:
    strict: true
    validation: { enforce: all }
    items:
      - { name: depth, option_type: int, default: 3, additional_attributes: { min: 1, max: 9 } }
`;

/** Writes an app that is a shell script. */
function writeApp(name: string, script: string, manifest = ''): void {
  mkdirSync(join(folder, name), { recursive: true });
  const files = 'type: binary\nruntime: ghcr.io/nextmv-io/runtime/default:latest\nfiles: [main]\n';
  writeFileSync(join(folder, name, 'app.yaml'), `${files}${manifest}`);
  writeFileSync(join(folder, name, 'main'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  writeFileSync(join(folder, name, 'input.json'), '{"n": 1}');
}

describe('init', () => {
  test.each([
    ['an unknown template', ['init', 'x', '--template', 'cobol'], 'python-ortools'],
    ['no template', ['init', 'x'], '--template'],
    ['a template and an example', ['init', 'x', '-t', 'node', '-e', 'routing-days'], '--example'],
  ])('refuses %s', async (_, args, words) => {
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  });

  test('replaces no file', async () => {
    expect((await run(['init', 'taken', '-t', 'node'])).code).toBe(0);
    const again = await run(['init', 'taken', '-t', 'node']);
    expect(again).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has AGENTS.md, README.md, app.yaml'),
    });
  });

  test('D10: writes the inputs of an example, and replaces no file', async () => {
    const { stdout } = await run(['init', 'days', '--example', 'routing-days', '--json']);
    const { files } = JSON.parse(stdout);
    expect(files).toHaveLength(30);
    const day = JSON.parse(readFileSync(join(folder, 'days', files[0]), 'utf8'));
    expect(Object.keys(day)).toEqual(['defaults', 'vehicles', 'shipments', 'stops']);
    expect(await run(['init', 'days', '--example', 'routing-days'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has day-01.json already'),
    });
  });

  test('names the application after a folder whose name is no id, and quotes the next command', async () => {
    const { stdout } = await run(['init', 'Größe Ærø', '-t', 'node', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ application_id: 'grosse-aero', template: 'node' });
    expect((await run(['init', "Bob's App", '-t', 'node'])).stdout).toContain("dev 'Bob'\\''s App'\n");
  });

  test('notes an application that the name of the folder does not suggest', async () => {
    await run(['init', 'named', '-t', 'node', '--app', 'routing']);
    expect(JSON.parse(readFileSync(join(folder, 'named', '.switchyard.json'), 'utf8'))).toEqual({
      application: 'routing',
    });
  });
});

describe('dev', () => {
  test('W7: accepts nulls as a server does, and names a field that has no effect', async () => {
    const nulls = 'python: null\nexecution: { entrypoint: null }\nconfiguration: { options: null }\n';
    writeApp('nulls', 'cat', `${nulls}excution: {}\n`);
    const { code, stderr } = await run(['dev', 'nulls']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/app\.yaml: excution is not a field .*did you mean execution\?/),
    });
  });

  test('gives the app its options and input, prints the log, and writes the output', async () => {
    writeApp('echo', 'echo "options $*" >&2; cat', OPTIONS);
    const { code, stderr } = await run(['dev', 'echo', '--option', 'depth=5', '--output', 'out.json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('options -depth 5') });
    expect(readFileSync(join(folder, 'out.json'), 'utf8')).toBe('{"n": 1}');
    const piped = await run(['dev', 'echo', '--json', '--input', '-'], { input: '{"n": 2}' });
    expect(JSON.parse(piped.stdout)).toMatchObject({ status_v2: 'succeeded', output: { n: 2 } });
  });

  test('draws the objective of the log as a chart below the indicators', async () => {
    const points = [9, 7, 4].map((y) => `echo '{"series": {"objective": ${y}}}' >&2`).join('\n');
    writeApp('chart', `${points}\necho '{"statistics": {"schema": "v1", "result": {"value": 4}}}'`);
    const { stdout } = await run(['dev', 'chart']);
    expect(stdout).toMatch(/Run succeeded after/);
    expect(stdout).toMatch(/result\.value\s+4\n/);
    expect(stdout).toMatch(/objective\n +9 \|/);
    expect((await run(['dev', 'chart', '--quiet'])).stdout).toBe('4\n');
  });

  test('hides secrets in the log and passes them to the app', async () => {
    writeApp('secret', 'echo "key $API_KEY" >&2; echo "{\\"length\\": $(printf %s "$API_KEY" | wc -c)}"');
    writeFileSync(join(folder, 'env'), 'API_KEY=hunter2secret\n');
    const { stderr } = await run(['dev', 'secret', '--env-file', 'env', '--output', 'secret.json']);
    expect(stderr).toContain('key ***');
    expect(readFileSync(join(folder, 'secret.json'), 'utf8')).toBe('{"length": 13}\n');
  });

  const refused: [string, string[], number, string][] = [
    ['an option that breaks its rule', ['--option', 'depth=99'], 2, 'it must be at most 9'],
    ['an option that the app does not have', ['--option', 'width=1'], 2, 'is not an option of this app'],
    ['an option without a value', ['--option', 'depth'], 2, 'such as duration=30'],
    ['a missing input', ['--input', 'none.json'], 2, 'does not exist'],
    ['text as the input of an app that reads JSON', ['--input', 'refused/main'], 2, 'is not JSON'],
    ['standard input with --watch', ['--input', '-', '--watch'], 2, 'give a file'],
  ];
  test.each(refused)('refuses %s', async (_, args, code, words) => {
    writeApp('refused', 'cat', OPTIONS);
    expect(await run(['dev', 'refused', ...args])).toMatchObject({
      code,
      stderr: expect.stringContaining(words),
    });
  });

  const failing: [string, string, string][] = [
    ['fails', 'exit 3', 'exit code 3'],
    ['prints text instead of JSON', 'echo hello', 'stdout must be one JSON object'],
    ['reports statistics in a wrong form', `echo '{"statistics": {"schema": "v9"}}'`, 'it must be "v1"'],
  ];
  test.each(failing)('says why an app %s', async (_, script, words) => {
    writeApp('failing', script);
    const { code, stdout } = await run(['dev', 'failing']);
    expect(stdout).toContain(words);
    expect(code).toBe(words.includes('v1') ? 0 : 1);
  });

  test('a signal cancels the run, and the exit code is that of an interrupted command', async () => {
    writeApp('endless', 'echo started >&2; exec sleep 60');
    const stop = new AbortController();
    const { code } = await run(['dev', 'endless'], {
      signal: stop.signal,
      onError: (text) => text.includes('started') && stop.abort(),
    });
    expect(code).toBe(130);
  });

  test('with --watch runs again when a file changes, and ends at a signal', async () => {
    writeApp('watched', 'echo "{\\"first\\": true}"');
    const stop = new AbortController();
    let runs = 0;
    const { code, stderr } = await run(['dev', 'watched', '--watch'], {
      signal: stop.signal,
      onOutput: (text) => {
        if (!text.includes('Run succeeded')) return;
        runs += 1;
        const next = '#!/bin/sh\necho second >&2; echo "{}"\n';
        if (runs === 1) writeFileSync(join(folder, 'watched', 'main'), next);
        else stop.abort();
      },
    });
    expect({ code, runs }).toEqual({ code: 130, runs: 2 });
    expect(stderr).toContain('main has changed.');
    expect(stderr).toContain('second');
  });
});
